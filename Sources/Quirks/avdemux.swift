import GStreamer

extension Quirk {
  package static let avdemuxEnd = Quirk(
    "avdemux_gif-end", element: "avdemux_gif", releases: .before(Release(1, 24, 7)),
    symptom: """
      FFmpeg's demuxers of GIF and NUT ask for bytes past the end of the file without end: FFmpeg gets 0 bytes where it \
      expects `AVERROR_EOF`.
      """,
    upstream: "`gst_ffmpegdata_read` in gstavprotocol.c, 825f52d38b",
    workaround: "Reading past the end fails (`Pad.failPulls`).")

  static let avdemux = [avdemuxEnd]
}
