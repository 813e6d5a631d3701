import GStreamer
import Quirks
import TestSupport
import Testing

@Suite("Limits of decoders and encoders") struct CodecLimitTests {
  @Test("avdec_h265 has no format for 10-bit grey frames")
  func grey10() throws {
    try expect(.avdecGrey10) {
      let format = try #require(Caps("video/x-raw,format=GRAY10_LE16"))
      guard try #require(Registry.sourceCaps(of: "avdec_h265")).intersects(format) else { return true }
      // Decode only if the decoder's caps list the format; otherwise the decoder may crash.
      let folder = try TemporaryFolder()
      let path = try ffmpeg(folder, "a.mkv", tenFrames, "-pix_fmt gray10le -c:v libx265 -x265-params log-level=none")
      return try caps(of: "filesrc location=\(path) ! matroskademux ! h265parse ! avdec_h265").string("format")
        != "GRAY10_LE16"
    }
  }

  @Test("avenc_mpeg2video fails, and muxing the packets of avenc_mpeg4 fails")
  func timeBase() throws {
    let frames = "videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=64,height=48,framerate=25/1"
    try expect(.avencTimeBase) { fails("\(frames) ! avenc_mpeg2video") }
    try expect(.avencTimeBase) { fails("\(frames) ! avenc_mpeg4 ! mpeg4videoparse ! mp4mux") }
  }

  @Test("openjpegdec decodes deep RGB differently from FFmpeg")
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

  @Test("avdec_prores decodes 4444 with 10 bits instead of 12")
  func proResDepth() throws {
    try expect(.avdecProResDepth) {
      let folder = try TemporaryFolder()
      let path = try ffmpeg(folder, "a.mov", tenFrames, "-pix_fmt yuv444p10le -c:v prores_ks -profile:v 4")
      return try caps(of: "filesrc location=\(path) ! qtdemux ! avdec_prores").string("format") == "Y444_10LE"
    }
  }

  @Test("audioconvert ends the process if audio has 64 channels")
  func manyChannels() throws {
    try expect(.audioconvertChannels) {
      let pipeline = [
        "audiotestsrc", "num-buffers=1", "!", "audio/x-raw,format=S16LE,channels=64,channel-mask=(bitmask)0", "!",
        "audioconvert", "!", "audio/x-raw,format=F32LE", "!", "fakesink",
      ]
      return try Program.run("/usr/bin/gst-launch-1.0", ["--no-fault"] + pipeline).status != 0
    }
  }

  private static let frame = "videotestsrc num-buffers=1 ! video/x-raw,width=64,height=64,colorimetry=bt709"

  @Test("av1enc does not write colorimetry")
  func av1Colours() throws {
    // Replaces the caps, so that av1parse reads the colorimetry from the packets.
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

  @Test("avenc_prores_ks does not write colorimetry")
  func proResColours() throws {
    try expect(.avencProResColours) {
      let packet = try bytes(of: "\(Self.frame),format=I422_10LE ! avenc_prores_ks")
      try #require(packet[4..<8].elementsEqual("icpf".utf8))
      // color_primaries, transfer_characteristic and matrix_coefficients (SMPTE RDD 36, 5.1.1).
      return packet[22..<25].elementsEqual([2, 2, 2])
    }
  }

  @Test("VP8 and VP9 encoders accept no alpha channel", arguments: ["vp8enc", "vp9enc"])
  func transparency(_ encoder: String) throws {
    let frames = try #require(Caps("video/x-raw,format={A420,AYUV,RGBA,BGRA,ARGB,ABGR,A444}"))
    try expect(.vp9encTransparency) { !Registry.factory(encoder, takes: frames) }
  }

  @Test("theoraenc writes no tags")
  func theoraTags() throws {
    try expect(.theoraencTags) {
      let tagged = "\(Self.frame),format=I420 ! taginject tags=\"title=(string)Ada\" ! theoraenc ! oggmux"
      return try !MuxedFile(tagged).contains(Array("Ada".utf8))
    }
  }

  @Test("y4menc accepts only 8-bit formats")
  func y4mDepth() throws {
    let frames = try #require(Caps("video/x-raw,format={I420_10LE,I422_10LE,Y444_10LE}"))
    try expect(.y4mencDepth) { !Registry.factory("y4menc", takes: frames) }
  }
}
