import GStreamer

extension Quirk {
  package static let asfdemuxAlbumArtist = Quirk(
    "asfdemux-album-artist", element: "asfdemux", releases: .all,
    symptom: "The artist of the album (`WM/AlbumArtist`) is one more artist of the file.",
    upstream: "`gst_asf_demux_process_ext_content_desc`",
    workaround: "Both are read from the file (`ASFTags`).")

  static let asfdemux = [asfdemuxAlbumArtist]
}
