import GStreamer

extension Quirk {
  package static let avdemuxGIFEnd = Quirk(
    "avdemux_gif-end", element: "avdemux_gif", releases: .before(Release(1, 24, 7)),
    symptom: "At the end of the file it asks for more without end: FFmpeg gets 0 bytes where it expects `AVERROR_EOF`.",
    upstream: "`gst_ffmpegdata_read` in gstavprotocol.c, 825f52d38b",
    workaround: """
      Its stream is ended when it has asked for bytes past the end four times; its source, if it asks a thousand times \
      while it opens the file.
      """)

  static let avdemuxGIF = [avdemuxGIFEnd]
}
