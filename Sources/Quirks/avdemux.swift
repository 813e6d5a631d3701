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

  package static let avdemuxRawFormats = Quirk(
    "avdemux_nut-raw-formats", element: "avdemux_nut", releases: .all,
    symptom: """
      The process crashes on raw video in NUT in a pixel format whose size it does not know, such as RGBA, NV12 \
      or planar RGB: it asks for a buffer of -1 bytes.
      """,
    upstream: "`gst_ffmpegdemux_loop`, `gst_ffmpeg_avpicture_fill`",
    workaround: "Such files are refused by their codec tag, and the error names FFmpeg.")

  static let avdemux = [avdemuxEnd, avdemuxRawFormats]
}
