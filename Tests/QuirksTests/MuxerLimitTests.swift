import GStreamer
import MediaTime
import Quirks
import TestSupport
import Testing

@Suite("Limits of muxers") struct MuxerLimitTests {
  private static let audio = "audiotestsrc num-buffers=50 ! audio/x-raw,rate=48000,channels=1"

  private func takes(_ muxer: String, _ caps: String) throws -> Bool {
    Registry.factory(muxer, takes: try #require(Caps(caps)))
  }

  @Test("avimux gives all frames the same duration")
  func aviFrameTimes() throws {
    try expect(.avimuxFrameTimes) {
      let folder = try TemporaryFolder()
      let path = folder.path("a.avi")
      let pipeline = try Pipeline(
        """
        appsrc name=in format=time caps=video/x-raw,format=GRAY8,width=16,height=16,framerate=10/1 ! jpegenc ! avimux !
        filesink location=\(path)
        """)
      try pipeline.feed("in", [0, 100, 900], end: 1000) { _ in Array(repeating: 0, count: 256) }
      let times = try packets(of: "filesrc location=\(path) ! avidemux").compactMap(\.buffer.pts)
      return times == [.milliseconds(0), .milliseconds(100), .milliseconds(200)]
    }
  }

  @Test(
    "muxers accept no video smaller than 16x16",
    arguments: [
      ("qtmux", "video/x-h264,stream-format=avc,alignment=au"), ("avimux", "image/jpeg"), ("webmmux", "video/x-vp9"),
    ])
  func smallVideo(_ muxer: (name: String, caps: String)) throws {
    try #require(try takes(muxer.name, "\(muxer.caps),width=16,height=16"))
    try expect(.qtmuxSmallVideo) { try !takes(muxer.name, "\(muxer.caps),width=14,height=16") }
  }

  @Test("avimux accepts no video wider than 4096")
  func largeVideo() throws {
    try #require(try takes("avimux", "image/jpeg,width=4096,height=16"))
    try expect(.avimuxLargeVideo) { try !takes("avimux", "image/jpeg,width=4098,height=16") }
  }

  @Test("matroskamux does not write the priming of AAC")
  func priming() throws {
    try expect(.matroskamuxPriming) {
      try !MuxedFile("\(Self.audio) ! avenc_aac ! matroskamux").contains([0x56, 0xAA])
    }
  }

  @Test("mpegtsmux accepts no text subtitles")
  func transportText() throws {
    try expect(.mpegtsmuxText) { try !takes("mpegtsmux", "text/x-raw,format={utf8,pango-markup}") }
  }

  @Test("qtmux accepts no subtitles with markup")
  func textMarks() throws {
    try #require(try takes("qtmux", "text/x-raw,format=utf8"))
    try expect(.qtmuxTextMarks) { try !takes("qtmux", "text/x-raw,format=pango-markup") }
  }

  @Test("mp4mux accepts no E-AC-3")
  func eac3() throws {
    try expect(.mp4muxEAC3) {
      fails("\(Self.audio) ! avenc_eac3 ! ac3parse ! mp4mux")
    }
  }
}
