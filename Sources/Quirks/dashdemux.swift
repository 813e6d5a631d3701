extension Quirk {
  package static let dashdemuxFirstVariant = Quirk(
    "dashdemux-first-variant", element: "dashdemux", releases: .all,
    symptom: """
      It begins with the variant of the lowest rate, whatever `connection-speed` says, and changes to a better one \
      after the first segment.
      """,
    upstream: "`gst_mpd_client_setup_streaming`",
    workaround: "It reads a manifest with the best variant alone (`Playlist.best`).")

  package static let dashdemuxMissingEnd = Quirk(
    "dashdemux-missing-end", element: "dashdemux", releases: .all,
    symptom: "A last segment that the server does not have is the end of the stream, without an error; HLS as well.",
    upstream: "`gst_adaptive_demux_stream_download_fragment`",
    workaround: "The sources inside are watched: every address must have given bytes (`Transfers`).")

  static let dashdemux = [dashdemuxFirstVariant, dashdemuxMissingEnd]
}
