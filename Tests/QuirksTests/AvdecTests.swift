import Foundation
import GStreamer
import Quirks
import TestSupport
import Testing

@Suite("Quirks of gst-libav's decoders") struct AvdecTests {
  @Test("video narrower than its coded size sometimes crashes the decoder")
  func narrowerThanCoded() throws {
    try expect(.avdecNarrowerThanCoded) {
      let folder = try TemporaryFolder()
      let path = folder.path("narrow.mkv")
      _ = try FFmpeg.bytes([
        "-f", "lavfi", "-i", "testsrc=s=426x240:r=30:d=0.4", "-pix_fmt", "yuv420p", "-c:v", "libx264", path,
      ])
      let branch =
        "filesrc location=\(path) ! matroskademux ! h264parse ! avdec_h264 max-threads=4 ! "
        + "videoflip method=horizontal-flip ! fakesink async=false"
      let branches = (0..<16).flatMap { _ in branch.split(separator: " ").map(String.init) }
      // Logging of buffer pools makes the race more likely: eight of ten runs crash, fewer on a
      // busy machine.
      let debug = ["GST_DEBUG": "bufferpool:6,videopool:6", "GST_DEBUG_FILE": "/dev/null"]
      for _ in 0..<(Quirk.avdecNarrowerThanCoded.isExpected ? 40 : 2) {
        let ending = try launch(["-f"] + branches, environment: debug)
        if ending.isCrash { return ending.errors.contains("video meta uses") }
      }
      return false
    }
  }

  @Test("hidden columns are left at the left edge", arguments: ["264", "265"])
  func leftCrop(codec: String) throws {
    let folder = try TemporaryFolder()
    let (parameters, filter) = codec == "264" ? ("-x264-params", "h264") : ("-x265-params", "hevc")
    let path = try ffmpeg(
      folder, "a.mkv", tenFrames,
      "-pix_fmt yuv420p -c:v libx\(codec) \(parameters) log-level=none -bsf:v \(filter)_metadata=crop_left=8")
    try expect(.avdecLeftCrop) {
      try caps(of: "filesrc location=\(path) ! matroskademux ! h\(codec)parse ! avdec_h\(codec)").int("width") == 64
    }
  }

  @Test("the last frame of WMA is lost")
  func endOfWMA() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.wma")
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "sine=d=1:r=48000", "-c:a", "wmav2", path])
    let packets = try FFmpeg.lines(["-i", path, "-c", "copy", "-f", "framecrc", "-"]).count { !$0.hasPrefix("#") }
    try expect(.avdecWMAEnd) {
      let frames = try samples(
        of: "filesrc location=\(path) ! asfdemux ! avdec_wmav2 ! audioconvert ! audio/x-raw,format=S16LE")
      // A packet contains 2,048 samples. The decoder also outputs its own delay, so complete output
      // would have more than 2,048 samples times the number of packets.
      return frames.reduce(0) { $0 + $1.buffer.size / 2 } <= packets * 2048
    }
  }

  @Test("4:1:1 JPEG written by libjpeg crashes avdec_mjpeg")
  func fullRange411() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.jpg")
    _ = try bytes(
      of: "videotestsrc num-buffers=1 ! video/x-raw,format=Y41B,width=96,height=64 ! jpegenc ! tee name=t ! queue ! "
        + "filesink location=\(path) async=false t. ! queue")
    try expect(.avdecMJPEGFullRange411) {
      let ending = try launch([
        "-f", "filesrc", "location=\(path)", "!", "jpegparse", "!", "avdec_mjpeg", "!", "fakesink",
      ])
      return ending.status != 0 || ending.errors.contains("CRITICAL")
    }
  }

  @Test("24-bit LPCM of Blu-ray discs is decoded to noise")
  func lpcm() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.m2ts")
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "aevalsrc=0.2:s=48000:d=0.2:c=stereo", "-c:a", "pcm_bluray", "-sample_fmt", "s32", path])
    try expect(.dvdlpcmdecDepth) {
      let samples = try bytes(
        of: "filesrc location=\(path) ! tsdemux ! dvdlpcmdec ! audioconvert dithering=none ! audio/x-raw,format=S16LE")
      let values = samples.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
      return values.contains { abs(Int($0) - 6553) > 100 }
    }
  }

  @Test("a pixel format unknown to GStreamer causes a critical warning")
  func unnamedFormat() throws {
    try expect(.avdecUnnamedFormat) {
      let folder = try TemporaryFolder()
      let path = folder.path("rgb48.mkv")
      _ = try FFmpeg.bytes([
        "-f", "lavfi", "-i", "testsrc=s=64x48:d=0.2", "-pix_fmt", "rgb48le", "-c:v", "ffv1", "-level", "3", path,
      ])
      // Without G_DEBUG=fatal-criticals, the process may crash, fail or hang.
      let ending = try launch(
        ["-f", "filesrc", "location=\(path)", "!", "matroskademux", "!", "avdec_ffv1", "!", "fakesink"],
        environment: ["G_DEBUG": "fatal-criticals"])
      return ending.isCrash && ending.errors.contains("GST_VIDEO_FORMAT_UNKNOWN")
    }
  }

  @Test("frames after a keyframe that is not an IDR picture are lost")
  func gapFrames() throws {
    let folder = try TemporaryFolder()
    var file = try FileBytes(
      ffmpeg(
        folder, "open.h264", "-f lavfi -i testsrc=size=192x128:rate=25:duration=3.2 -pix_fmt yuv420p -c:v libx264",
        "-x264-params open-gop=1:keyint=20:bframes=2:b-adapt=0:scenecut=0:ref=4"))
    // The file now starts at the parameter sets before the second keyframe.
    let starts = file.bytes.ranges(of: [0, 0, 0, 1, 0x67])
    try #require(starts.count >= 3)
    file.bytes.removeFirst(starts[1].lowerBound)
    try file.write()
    let source = "filesrc location=\(file.path) ! h264parse"
    try expect(.avdecGapFrames) {
      try packets(of: "\(source) ! avdec_h264 max-threads=1").count < packets(of: source).count
    }
  }

  @Test("all frames of a GIF have the timestamp 0")
  func gifTimestamps() throws {
    try expect(.avdecGIFTimestamps) {
      let folder = try TemporaryFolder()
      let path = folder.path("a.gif")
      _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "testsrc=s=64x48:r=10:d=0.5", path])
      // `identity` ends the stream after four frames, because on some releases avdemux_gif never
      // ends it (`Quirk.avdemuxEnd`).
      let pipeline = try Pipeline(
        "filesrc location=\(path) ! avdemux_gif ! identity eos-after=4 ! avdec_gif ! appsink name=sink sync=false")
      defer { pipeline.set(.null) }
      let times = try samples(of: pipeline).map(\.buffer.pts)
      #expect(times.count >= 2)
      return times.allSatisfy { $0 == .zero }
    }
  }
}
