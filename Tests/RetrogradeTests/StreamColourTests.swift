import GStreamer
import Retrograde
import TestSupport
import Testing

/// Colours that the container or the video stream declares.
@Suite struct StreamColourTests {
  @Test(
    "colours that the video stream declares take precedence over those of the container",
    arguments: [("h264", "libx264"), ("h265", "libx265 -x265-params log-level=none")], [true, false])
  func stated(codec: (name: String, encoder: String), byStream: Bool) async throws {
    let folder = try TemporaryFolder()
    let (bare, source, mirror) = (folder.path("bare.mkv"), folder.path("a.mkv"), folder.path("der.mkv"))
    let colours = "-vf setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709"
    let arguments = "-y -f lavfi -i testsrc=size=64x64:rate=10:duration=1 -pix_fmt yuv420p -g 1 -c:v \(codec.encoder)"
    _ = try FFmpeg.bytes("\(arguments) \(byStream ? colours : "")".split(separator: " ").map(String.init) + [bare])
    try run(
      pipeline: "filesrc location=\(bare) ! matroskademux ! \(codec.name)parse ! "
        + "capssetter caps=video/x-\(codec.name),colorimetry=(string)bt2100-pq ! matroskamux ! "
        + "filesink location=\(source)"
    )
    // With nil the packets are copied; with ffv1 they are decoded.
    for encoder in [nil, "ffv1"] {
      var options = ReverseOptions()
      options.encoding.videoCodec = encoder
      options.output.overwrites = true
      try await Reverser(source, options: options).reverse(to: mirror)
      let pipeline = try Pipeline("filesrc location=\(mirror) ! matroskademux ! appsink name=sink sync=false")
      defer { pipeline.set(.null) }
      pipeline.set(.playing)
      let caps = try pipeline.appSink("sink").pull(timeout: .milliseconds(10_000))?.caps
      #expect(caps?.string("colorimetry") == (byStream ? "bt709" : "bt2100-pq"))
    }
  }
}
