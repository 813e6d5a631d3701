import GStreamer

extension Quirk {
  package static let vp9encLag = Quirk(
    "vp9enc-lag", element: "vp9enc", releases: .all,
    symptom: """
      With `lag-in-frames`, small frames at a high rate are lost at the end: libvpx gives them out only until half \
      its buffer is full, and is asked once.
      """,
    upstream: "`gst_vpx_enc_drain`",
    workaround: "`lag-in-frames=0` for `vp8enc` and `vp9enc`; it bought nothing in size or SSIM here.")

  static let vp9enc = [vp9encLag]
}
