import GStreamer
import Quirks
import TestSupport
import Testing

@Suite("Limits of decoders and encoders") struct CodecLimitTests {
  @Test("grey frames of 10 bits have no format in avdec_h265")
  func grey10() throws {
    try expect(.avdecGrey10) {
      let format = try #require(Caps("video/x-raw,format=GRAY10_LE16"))
      guard try #require(Registry.sourceCaps(of: "avdec_h265")).intersects(format) else { return true }
      // Decoded only then: without a name it may crash.
      let folder = try TemporaryFolder()
      let path = try ffmpeg(folder, "a.mkv", tenFrames, "-pix_fmt gray10le -c:v libx265 -x265-params log-level=none")
      return try caps(of: "filesrc location=\(path) ! matroskademux ! h265parse ! avdec_h265").string("format")
        != "GRAY10_LE16"
    }
  }

  @Test("avenc_mpeg2video refuses all frame rates, and packets of avenc_mpeg4 have no time")
  func timeBase() throws {
    let frames = "videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=64,height=48,framerate=25/1"
    try expect(.avencTimeBase) { fails("\(frames) ! avenc_mpeg2video") }
    try expect(.avencTimeBase) { fails("\(frames) ! avenc_mpeg4 ! mpeg4videoparse ! mp4mux") }
  }

  @Test("openjpegdec gives other values of deep RGB than FFmpeg")
  func deepRGB() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.mov", tenFrames, "-frames:v 1 -pix_fmt rgb48le -c:v jpeg2000")
    try expect(.openjpegdecDeepRGB) {
      let found = try bytes(
        of: "filesrc location=\(path) ! qtdemux ! jpeg2000parse ! openjpegdec ! video/x-raw,format=ARGB64")
      let wanted = try FFmpeg.bytes(["-i", path, "-pix_fmt", "rgb48le", "-f", "rawvideo", "-"])
      try #require(found.count / 8 == wanted.count / 6)
      return (0..<wanted.count / 6).contains { pixel in
        !found[pixel * 8 + 2..<pixel * 8 + 8].elementsEqual(wanted[pixel * 6..<pixel * 6 + 6])
      }
    }
  }

  private static let frame = "videotestsrc num-buffers=1 ! video/x-raw,width=64,height=64,colorimetry=bt709"

  @Test("AV1 does not say its colours")
  func av1Colours() throws {
    // Colours that av1parse reads from the packets themselves.
    let parse = """
      capssetter replace=true join=false
      caps=video/x-av1,width=64,height=64,framerate=10/1,alignment=tu,stream-format=obu-stream ! av1parse
      """
    let folder = try TemporaryFolder()
    let path = try ffmpeg(
      folder, "a.mkv", "-f lavfi -i testsrc=size=64x64:rate=10:duration=0.1",
      "-pix_fmt yuv420p -c:v libaom-av1 -cpu-used 8 -colorspace bt709 -color_primaries bt709 -color_trc bt709")
    #expect(
      try caps(of: "filesrc location=\(path) ! matroskademux ! \(parse)").has("colorimetry"), "libaom says them")
    try expect(.av1encColours) {
      try !caps(of: "\(Self.frame),format=I420 ! av1enc cpu-used=8 ! \(parse)").has("colorimetry")
    }
  }

  @Test("ProRes does not say its colours")
  func proResColours() throws {
    try expect(.avencProResColours) {
      let packet = try bytes(of: "\(Self.frame),format=I422_10LE ! avenc_prores_ks")
      try #require(packet[4..<8].elementsEqual("icpf".utf8))
      // color_primaries, transfer_characteristic and matrix_coefficients (SMPTE RDD 36, 5.1.1).
      return packet[22..<25].elementsEqual([2, 2, 2])
    }
  }

  @Test("encoders of VP8 and VP9 take no transparency", arguments: ["vp8enc", "vp9enc"])
  func transparency(_ encoder: String) throws {
    let frames = try #require(Caps("video/x-raw,format={A420,AYUV,RGBA,BGRA,ARGB,ABGR,A444}"))
    try expect(.vp9encTransparency) { !Registry.factory(encoder, takes: frames) }
  }

  @Test("Theora gets no tags")
  func theoraTags() throws {
    try expect(.theoraencTags) {
      let tagged = "\(Self.frame),format=I420 ! taginject tags=\"title=(string)Ada\" ! theoraenc ! oggmux"
      return try !MuxedFile(tagged).contains(Array("Ada".utf8))
    }
  }

  @Test("Y4M has eight bits a sample")
  func y4mDepth() throws {
    let frames = try #require(Caps("video/x-raw,format={I420_10LE,I422_10LE,Y444_10LE}"))
    try expect(.y4mencDepth) { !Registry.factory("y4menc", takes: frames) }
  }
}
