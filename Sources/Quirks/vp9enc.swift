import GStreamer
import MediaTime

extension Quirk {
  package static let vp9encLag = Quirk(
    "vp9enc-lag", element: "vp9enc", releases: .all,
    symptom: """
      With `lag-in-frames`, small frames at a high rate are lost at the end: libvpx gives them out only until half \
      its buffer is full, and is asked once.
      """,
    upstream: "`gst_vpx_enc_drain`",
    workaround: "`lag-in-frames=0` for `vp8enc` and `vp9enc`; it bought nothing in size or SSIM here.")

  package static let vp9encRealTimeSpeed = Quirk(
    "vp9enc-real-time-speed", element: "vp9enc", releases: .since(Release(1, 28)),
    symptom: """
      With libvpx 1.17 and `deadline=1`, `cpu-used=4` is the same as 5, which may give a frame the look of its \
      neighbour.
      """,
    workaround: "`deadline=1000000` for speeds below 5. A probe asks libvpx: it encodes eight frames at either speed.",
    probe: {
      guard let (four, five) = try? (encoded(atSpeed: 4), encoded(atSpeed: 5)) else { return false }
      return four == five
    })

  /// Returns the packets that vp9enc outputs for eight frames of noise.
  private static func encoded(atSpeed speed: Int) throws -> [[UInt8]] {
    let pipeline = try Pipeline(
      "videotestsrc num-buffers=8 pattern=snow ! video/x-raw,format=I420,width=64,height=64 "
        + "! vp9enc deadline=1 cpu-used=\(speed) threads=1 target-bitrate=500000 ! appsink name=out sync=false")
    let sink = try pipeline.appSink("out")
    defer { pipeline.set(.null) }
    guard pipeline.set(.playing) else { return [] }
    var packets: [[UInt8]] = []
    while !sink.isEndOfStream, let sample = sink.pull(timeout: ClockTime(seconds: 10)) {
      packets.append(try sample.buffer.withBytes { Array($0) })
    }
    return packets
  }

  package static let vp9encMatrix = Quirk(
    "vp9enc-matrix", element: "vp9enc", releases: .all,
    symptom:
      "VP9 does not declare its matrix if transfer function or primaries are not those of BT.601, BT.709 or BT.2020.",
    upstream: "`gst_vp9_get_vpx_colorspace`",
    workaround: "The caps before the encoder name one of these; the caps after it name the real ones.")

  static let vp9enc = [vp9encLag, vp9encMatrix, vp9encRealTimeSpeed]
}
