import GStreamer

extension Quirk {
  package static let avdemuxGIFNoEnd = Quirk(
    "avdemux_gif-no-end", element: "avdemux_gif", releases: .before(Release(1, 26)),
    symptom: "The end of the file is never reached: 0 bytes are answered where FFmpeg expects `AVERROR_EOF`.",
    upstream: "`gst_ffmpegdata_read`, 825f52d38b (MR 4999)",
    workaround: "Its stream is ended once it has asked for bytes past the end of the file four times.")

  static let avdemux_gif = [avdemuxGIFNoEnd]
}
