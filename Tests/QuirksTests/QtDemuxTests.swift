import Foundation
import GStreamer
import MediaTime
import Quirks
import TestSupport
import Testing

@Suite("Quirks of qtdemux") struct QtDemuxTests {
  @Test("the last packet of audio with priming is lost")
  func primingEnd() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.m4a", tone, "-c:a aac")
    try expect(.qtdemuxPrimingEnd) {
      let last = try #require(packets(of: "filesrc location=\(path) ! qtdemux").last)
      let (start, duration) = (try #require(last.buffer.pts), try #require(last.buffer.duration))
      return try start + duration < #require(last.segment.stop)
    }
  }

  @Test("a frame is lost if it is shown within an edit but decoded after the edit")
  func editEnd() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(
      folder, "a.mp4", tenFrames, "-c:v mpeg4 -bf 2 -g 20 -sc_threshold 1000000000 -movflags negative_cts_offsets")
    var file = try FileBytes(path)
    // Shortens the edit to nine of ten frames.
    let edits = try file.end(of: "elst") + 8
    file.set(file.integer(at: edits) * 9 / 10, at: edits)
    try file.write()
    try expect(.qtdemuxEditEnd) { try packets(of: "filesrc location=\(path) ! qtdemux").count(where: \.isShown) < 9 }
  }

  @Test("the last frame is lost if it ends after the track's duration")
  func trackEnd() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.mp4", tenFrames, "-c:v mpeg4 -use_editlist 0")
    var file = try FileBytes(path)
    let duration = try file.end(of: "mdhd") + 16
    file.set(file.integer(at: duration) * 9 / 10, at: duration)
    try file.write()
    try expect(.qtdemuxTrackEnd) { try packets(of: "filesrc location=\(path) ! qtdemux").count < 10 }
  }

  @Test("a track shorter than a fifth of the movie is left out")
  func shortTracks() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.mp4", tenFrames + " -f lavfi -i sine=d=6", "-c:v mpeg4 -c:a aac")
    // The first track is the video, so audio caps mean that the video was left out.
    try expect(.qtdemuxShortTracks) {
      try caps(of: "filesrc location=\(path) ! qtdemux").mediaType.hasPrefix("audio/")
    }
  }

  @Test("the last frames of fragments are lost if the header declares the duration of the first part only")
  func fragmentEnd() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(
      folder, "a.mp4", tenFrames,
      "-c:v mpeg4 -bf 2 -g 3 -sc_threshold 1000000000 -movflags frag_keyframe+skip_trailer")
    try expect(.qtdemuxFragmentEnd) { try packets(of: "filesrc location=\(path) ! qtdemux").count < 10 }
  }

  @Test("if the lowest composition offsets of two fragments differ, two frames get the same time")
  func fragmentOffsets() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(
      folder, "a.mp4", tenFrames,
      "-frames:v 8 -c:v mpeg4 -bf 2 -g 7 -sc_threshold 1000000000 -movflags cmaf+frag_keyframe")
    try expect(.qtdemuxFragmentOffsets) {
      let times = try packets(of: "filesrc location=\(path) ! qtdemux").compactMap(\.buffer.pts).sorted()
      return zip(times, times.dropFirst()).contains { $0 == $1 }
    }
  }

  @Test("the channel layout of PCM is not read")
  func loudspeakers() throws {
    let folder = try TemporaryFolder()
    func areLost(_ name: String, _ codec: String, _ reader: String) throws -> Bool {
      let path = try ffmpeg(folder, name, "-f lavfi -i sine=d=0.2 -af aformat=channel_layouts=4.0 -c:a \(codec)")
      return try caps(of: "filesrc location=\(path) ! \(reader)").channelMask != 0x107
    }
    try expect(.qtdemuxLoudspeakers) { try areLost("a.mov", "pcm_s16le", "qtdemux") }
    try expect(.aiffparseLoudspeakers) { try areLost("a.aiff", "pcm_s16be", "aiffparse") }
    try expect(.sfdecLoudspeakers) { try areLost("a.w64", "pcm_s16le", "sfdec") }
  }

  @Test("little-endian PCM of 32 and 64 bits is read as big-endian")
  func byteOrder() throws {
    let folder = try TemporaryFolder()
    for codec in ["pcm_s32le", "pcm_f32le", "pcm_f64le"] {
      let path = try ffmpeg(folder, "\(codec).mov", "-f lavfi -i sine=d=0.2:r=44100 -c:a \(codec)")
      try expect(.qtdemuxByteOrder) {
        try caps(of: "filesrc location=\(path) ! qtdemux").string("format")?.hasSuffix("BE") ?? false
      }
    }
  }

  @Test("raw 4:4:4 or 16-bit video is read in a wrong format")
  func rawFormats() throws {
    let folder = try TemporaryFolder()
    // FFmpeg 8 has no encoder for v308, but raw video in vyu444 has the same bytes.
    let hasEncoder = try FFmpeg.lines(["-encoders"]).contains { $0.contains(" v308 ") }
    let packed = hasEncoder ? "-c:v v308" : "-c:v rawvideo -pix_fmt vyu444"
    for options in [packed, "-c:v rawvideo -pix_fmt rgb555be"] {
      let path = try ffmpeg(folder, "\(options.count).mov", "-f lavfi -i color=red:s=16x16:d=0.2", options)
      try expect(.qtdemuxRawFormats) {
        let pixels = try bytes(of: "filesrc location=\(path) ! qtdemux ! videoconvert ! video/x-raw,format=RGBx")
        return pixels[0] < 240 || pixels[1] > 20 || pixels[2] > 20
      }
    }
  }

  @Test("the field order of raw video is not read")
  func fieldOrder() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.mov", tenFrames, "-c:v rawvideo -pix_fmt uyvy422 -field_order tt")
    try expect(.qtdemuxFieldOrder) {
      try caps(of: "filesrc location=\(path) ! qtdemux").string("interlace-mode") != "interleaved"
    }
  }

  @Test("the pixel aspect ratio of raw video is not read")
  func pixelAspect() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.mov", tenFrames, "-vf setsar=2/1 -c:v rawvideo -pix_fmt uyvy422")
    try expect(.qtdemuxPixelAspect) {
      try atFirstBuffer(of: "filesrc location=\(path) ! qtdemux") { pad, _, _ in
        pad.caps?.fraction("pixel-aspect-ratio")?.numerator == 1
      }
    }
  }

  @Test("a rotated and scaled track gets no orientation, or a wrong one")
  func matrix() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.mp4", tenFrames, "-c:v mpeg4")
    var file = try FileBytes(path)
    let matrix = try file.end(of: "tkhd") + 40
    for (number, value) in [0, 0x0002_0000, 0, 0xFFFE_0000, 0, 0, 0, 0, 0x4000_0000].enumerated() {
      file.set(value, at: matrix + 4 * number)
    }
    try file.write()
    try expect(.qtdemuxMatrix) {
      try atFirstBuffer(of: "filesrc location=\(path) ! qtdemux") { pad, _, _ in
        pad.tags(global: false)?.string("image-orientation") != "rotate-90"
      }
    }
  }

  @Test("chapters are not reported")
  func chapters() throws {
    let folder = try TemporaryFolder()
    let options = "-map 0:v -map_chapters 1 -c:v mpeg4"
    let path = try ffmpeg(folder, "a.mp4", tenFrames, twoChapters(folder), options)
    let other = try ffmpeg(folder, "a.mkv", tenFrames, twoChapters(folder), options)
    try atFirstBuffer(of: "filesrc location=\(other) ! matroskademux") { pad, _, _ in
      #expect(pad.tableOfContents != nil, "other demuxers tell them")
    }
    try expect(.qtdemuxChapters) {
      try atFirstBuffer(of: "filesrc location=\(path) ! qtdemux name=d d.video_0") { pad, _, _ in
        pad.tableOfContents == nil
      }
    }
  }

  @Test("priming declared by an edit list and iTunes' tag is trimmed twice")
  func gaplessTwice() throws {
    let folder = try TemporaryFolder()
    // The tag list is at the end of the file.
    var file = try FileBytes(ffmpeg(folder, "a.m4a", tone, "-c:a aac -metadata title=name"))
    func times() throws -> [ClockTime?] { try packets(of: "filesrc location=\(file.path) ! qtdemux").map(\.buffer.pts) }
    let plain = try times()
    try addGaplessTag(to: &file)
    try expect(.qtdemuxGaplessTwice) { try times() != plain }
  }

  @Test("the rest of the file is read after all linked streams have ended")
  func unwantedStreams() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(
      folder, "a.mp4", "-f lavfi -i testsrc=size=64x48:rate=30:duration=10 -f lavfi -i sine=duration=10",
      "-c:v mjpeg -c:a aac -movflags faststart")
    let size = try FileBytes(path).bytes.count
    try expect(.qtdemuxUnwantedStreams) {
      let pipeline = try Pipeline(
        "filesrc name=source location=\(path) ! qtdemux name=d d.video_0 ! identity eos-after=5 ! fakesink async=false")
      let isRead = DispatchSemaphore(value: 0)
      pipeline.element("source")?.staticPad("src")?.onPull { offset, _ in if offset > size * 3 / 4 { isRead.signal() } }
      pipeline.set(.playing)
      defer { pipeline.set(.null) }
      return isRead.wait(timeout: .now() + .seconds(1)) == .success
    }
  }
}

/// Adds iTunes' gapless tag: 1,024 samples of priming, 128 of padding and 48,000 between them.
/// - Parameter file: an MP4 with its tag list at the end.
func addGaplessTag(to file: inout FileBytes) throws {
  func box(_ type: String, _ body: [UInt8]) -> [UInt8] {
    withUnsafeBytes(of: UInt32(body.count + 8).bigEndian, Array.init) + Array(type.utf8) + body
  }
  let numbers = " 00000000 00000400 00000080 000000000000BB80" + String(repeating: " 00000000", count: 8)
  let tag = box(
    "----",
    box("mean", [0, 0, 0, 0] + Array("com.apple.iTunes".utf8)) + box("name", [0, 0, 0, 0] + Array("iTunSMPB".utf8))
      + box("data", [0, 0, 0, 1, 0, 0, 0, 0] + Array(numbers.utf8)))
  for type in ["moov", "udta", "meta", "ilst"] {
    let size = try file.end(of: type) - 8
    file.set(file.integer(at: size) + tag.count, at: size)
  }
  file.bytes += tag
  try file.write()
}
