import GStreamer

extension Quirk {
  package static let id3v2muxComments = Quirk(
    "id3v2mux-comments", element: "id3v2mux", releases: .all,
    symptom: "Text of comments that is not ASCII is written as UTF-8 of UTF-8.",
    upstream: "`add_comment_tag` in gstid3v2mux.cc: `setText` and `setDescription` take bytes for Latin 1",
    workaround: "Comments are given to it as frames (`COMM`, `TXXX`).")

  static let id3v2mux = [id3v2muxComments]
}
