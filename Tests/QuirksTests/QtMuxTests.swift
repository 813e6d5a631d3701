import Foundation
import GStreamer
import MediaTime
import Quirks
import TestSupport
import Testing

@Suite("Quirks of qtmux") struct QtMuxTests {
  private static let video = "videotestsrc num-buffers=2 ! video/x-raw,format=I420,width=64,height=64"
  private static let audio = "audiotestsrc num-buffers=10 ! audio/x-raw,rate=48000,channels=1"
  private static let rotated = "image-orientation=rotate-90"

  @Test("the Opus header has the wrong byte order")
  func opusByteOrder() throws {
    try expect(.qtmuxOpusByteOrder) {
      let file = try MuxedFile("\(Self.audio) ! opusenc ! mp4mux")
      // The rate, 48,000, follows the fields for version, channels and pre-skip.
      return try file.numbers(in: "dOps").dropFirst(4).prefix(4) == [0x80, 0xBB, 0, 0]
    }
  }

  @Test("the priming of Opus is played, and the first packet is too short")
  func opusPriming() throws {
    try expect(.qtmuxOpusPriming) {
      let file = try MuxedFile("\(Self.audio) ! opusenc ! mp4mux")
      let (edit, times) = (try file.words(in: "elst"), try file.words(in: "stts"))
      // Tests the edit's start in the media, and the durations of the first and the second packet.
      return edit[3] == 0 && times[3] + 312 == times[5]
    }
  }

  @Test("the priming of AAC is played")
  func audioPriming() throws {
    try expect(.qtmuxAudioPriming) {
      try MuxedFile("\(Self.audio) ! avenc_aac ! mp4mux").words(in: "elst")[3] == 0
    }
  }

  @Test("the first view of stereoscopic video is described as the right one")
  func viewOrder() throws {
    try expect(.qtmuxViewOrder) {
      let file = try MuxedFile(
        "\(Self.video) ! x264enc ! h264parse ! "
          + "capssetter caps=video/x-h264,multiview-mode=(string)side-by-side ! mp4mux")
      // `is_left_first` follows version, flags and the layout (ISO/IEC 23000-11).
      return try file.numbers(in: "svmi")[5] == 0
    }
  }

  @Test("variable-rate video with B-frames ends too early")
  func videoDuration() throws {
    try expect(.qtmuxVideoDuration) {
      // The last frame is shown for two seconds.
      let starts = [0, 40, 80, 120, 160, 2160]
      let folder = try TemporaryFolder()
      let pipeline = try Pipeline(
        "appsrc name=in format=time caps=video/x-raw,format=I420,width=64,height=64,framerate=0/1 ! "
          + "x264enc bframes=2 b-adapt=false ! mp4mux ! filesink location=\(folder.path("a.mp4"))")
      try pipeline.feed("in", starts, end: 4160) { _ in [UInt8](repeating: 128, count: 64 * 64 * 3 / 2) }
      let file = try MuxedFile(reading: folder.path("a.mp4"))
      let (edit, movie) = (try file.words(in: "elst"), try file.words(in: "mvhd"))
      return edit[2] * 1000 < 4160 * movie[3] - movie[3]
    }
  }

  @Test("rotation is not written")
  func orientation() throws {
    try expect(.qtmuxOrientation) {
      try MuxedFile("\(Self.video) ! x264enc ! taginject tags=\(Self.rotated) ! mp4mux").isUpright
    }
  }

  @Test("a global orientation tag rotates a track without an orientation tag")
  func globalOrientation() throws {
    try expect(.qtmuxGlobalOrientation) {
      let folder = try TemporaryFolder()
      let pipeline = try Pipeline(
        "\(Self.video) ! x264enc ! mp4mux ! filesink location=\(folder.path("a.mp4"))")
      pipeline.setTags(try #require(TagList("taglist,\(Self.rotated)")))
      try pipeline.runToEnd()
      return try !MuxedFile(reading: folder.path("a.mp4")).isUpright
    }
  }

  @Test("all tracks are enabled")
  func trackFlags() throws {
    try expect(.qtmuxTrackFlags) {
      let file = try MuxedFile(
        "\(Self.audio) ! avenc_aac ! mp4mux name=mux", "\(Self.audio) ! avenc_aac ! mux.")
      let flags = file.places(of: "tkhd").map { file.bytes[$0 + 3] & 1 }
      try #require(flags.count == 2)
      return flags == [1, 1]
    }
  }

  @Test("mp4mux accepts no chapters")
  func chapters() throws {
    try expect(.qtmuxChapters) {
      let chapter = TableOfContents.Entry(
        start: .zero, end: ClockTime(seconds: 1), title: "One", children: [])
      return try !Pipeline("fakesrc ! mp4mux ! fakesink").setTableOfContents(TableOfContents(entries: [chapter]))
    }
  }

  @Test("season and episode numbers are written as text")
  func showNumbers() throws {
    try expect(.qtmuxShowNumbers) {
      let file = try MuxedFile(
        "\(Self.audio) ! taginject tags=show-season-number=(uint)3 ! avenc_aac ! mp4mux name=mux")
      let place = try #require(file.bytes.firstRange(of: Array("tvsn".utf8)))
      // The `data` box: size, type, locale and value.
      return Array(file.bytes[place.upperBound..<place.upperBound + 18]).suffix(10) == [0, 0, 0, 1, 0, 0, 0, 0, 0, 3]
    }
  }

  @Test("overlapping subtitles have a negative gap between them")
  func overlappingText() throws {
    try expect(.qtmuxOverlappingText) {
      let folder = try TemporaryFolder()
      let pipeline = try Pipeline(
        "appsrc name=in format=time ! text/x-raw,format=utf8 ! mp4mux ! "
          + "filesink location=\(folder.path("a.mp4"))")
      pipeline.element("in")?.staticPad("src")?.onBuffer { buffer in
        // Each subtitle lasts twice as long as the interval to the next one.
        buffer.retimed(pts: buffer.pts ?? .zero, dts: nil, duration: .milliseconds(2000))
      }
      try pipeline.feed("in", [0, 1000], end: 2000) { Array("text \($0)".utf8) }
      let times = try MuxedFile(reading: folder.path("a.mp4")).words(in: "stts")
      // Each entry of stts is a count and a duration.
      return stride(from: 3, to: 2 + 2 * times[1], by: 2).contains { times[$0] > Int32.max }
    }
  }

  @Test("VP9 without a chroma site crashes mp4mux")
  func chromaSite() throws {
    try expect(.qtmuxChromaSite) {
      let caps =
        "video/x-vp9,profile=(string)0,chroma-format=(string)4:2:0,width=64,height=64,framerate=30/1,"
        + "bit-depth-luma=(uint)8,bit-depth-chroma=(uint)8,alignment=frame"
      return try launch(
        ["-f"]
          + "\(Self.video) ! vp9enc ! vp9parse ! capssetter replace=true join=false caps=\(caps) ! mp4mux ! fakesink"
          .split(separator: " ").map(String.init)
      ).isCrash
    }
  }

  @Test("the level of VP9 is always the lowest")
  func vp9Level() throws {
    try expect(.qtmuxVP9Level) {
      let file = try MuxedFile(
        "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=640,height=480 ! vp9enc deadline=1 cpu-used=8 ! "
          + "vp9parse ! capssetter caps=video/x-vp9,chroma-site=mpeg2 ! mp4mux")
      // The level, times ten, follows the version, the flags and the profile.
      return try file.numbers(in: "vpcC")[5] == 10
    }
  }
}

extension MuxedFile {
  /// True if the matrix of the first track does not rotate.
  fileprivate var isUpright: Bool {
    get throws { try Array(words(in: "tkhd")[10..<15]) == [1 << 16, 0, 0, 0, 1 << 16] }
  }
}
