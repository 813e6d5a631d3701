import GStreamer

/// matroskamux and webmmux share one implementation.
extension Quirk {
  package static let matroskamuxTagQuotes = Quirk(
    "matroskamux-tag-quotes", element: "matroskamux", releases: .all,
    symptom: "Text of tags is written as GStreamer serialises values: in quotes, with backslashes.",
    upstream: "`gst_matroska_mux_write_simple_tag`",
    workaround: "The quotes and backslashes are removed in the finished file.")

  package static let matroskamuxTrackNames = Quirk(
    "matroskamux-track-names", element: "matroskamux", releases: .all,
    symptom: "Tracks without a name are called `Video`, `Audio` or `Subtitle`.",
    upstream: "`gst_matroska_mux_create_uid` and others that set `context->name`",
    workaround: "These names are removed in the finished file.")

  package static let matroskamuxComment = Quirk(
    "matroskamux-comment", element: "matroskamux", releases: .all,
    symptom: "A comment has the name `COMMENTS`, which other programs do not know: Matroska's is `COMMENT`.",
    upstream: "`gst_matroska_tag_conv`",
    workaround: "The name is corrected in the finished file.")

  package static let matroskamuxFieldOrder = Quirk(
    "matroskamux-field-order", element: "matroskamux", releases: .before(Release(1, 26, 1)),
    symptom:
      "Interlaced video has no order of fields (`FieldOrder`): players guess it.",
    upstream: "123a7a515f, MR 5534; in 1.24.13 too",
    workaround: "The order is written into the finished file.")

  package static let matroskamuxDefaultFlag = Quirk(
    "matroskamux-default-flag", element: "matroskamux", releases: .all,
    symptom: """
      Every track is the default one of its kind: `FlagDefault` is never written, and its \
      absence means 1.
      """,
    upstream: "`gst_matroska_mux_track_header`",
    workaround: "`FlagDefault` and `FlagForced` are written into the finished file.")

  package static let matroskamuxDisplaySize = Quirk(
    "matroskamux-display-size", element: "matroskamux", releases: .before(Release(1, 28, 8)),
    symptom: """
      The display size of pixels that are not square is rounded: 720x480 at 32:27 becomes \
      853x480.
      """,
    upstream: "`gst_matroska_mux_video_pad_setcaps`, MR 12572; webmmux has it on all releases",
    workaround: "The finished file has the exact ratio (`DisplayUnit` 3).")

  package static let matroskamuxLuminance = Quirk(
    "matroskamux-luminance", element: "matroskamux", releases: .all,
    symptom: """
      The luminance of the mastering display of HDR video is five times too low: 200 cd/m² instead \
      of 1000.
      """,
    upstream: "`gst_matroska_mux_write_mastering_metadata`: `luma_scale` is 50000, not 10000",
    workaround: "The finished file has the luminance of the caps.")

  package static let matroskamuxLanguage = Quirk(
    "matroskamux-language", element: "matroskamux", releases: .all,
    symptom: "A track without a language has no `Language`, which means English.",
    upstream: "`gst_matroska_mux_track_header`",
    workaround: "The language `und` is written into the finished file.")

  package static let matroskamuxFFV1Version = Quirk(
    "matroskamux-ffv1-version", element: "matroskamux", releases: .all,
    symptom:
      "FFV1 from demuxers is refused: their caps say `ffvversion`, the muxer's say `ffversion`.",
    upstream: "`videosink_templ`",
    workaround: "Caps of FFV1 packets get `ffversion=1`.")

  package static let matroskamuxProResVariant = Quirk(
    "matroskamux-prores-variant", element: "matroskamux", releases: .all,
    symptom: "All ProRes is called `apcn`: it looks for the variant in `format` of the caps, others write `variant`.",
    upstream: "`gst_matroska_mux_video_pad_setcaps`",
    workaround: "Its caps get `format`.")

  package static let matroskamuxCoverArt = Quirk(
    "matroskamux-cover-art", element: "matroskamux", releases: .all,
    symptom: "Cover art in tags is not written, neither as an attachment nor otherwise.",
    upstream: "`gst_matroska_mux_write_simple_tag` knows text only",
    workaround: "A warning says so, and the other containers are named.")

  package static let matroskamuxOrientation = Quirk(
    "matroskamux-orientation", element: "matroskamux", releases: .before(Release(1, 25, 50)),
    symptom: "The tag `image-orientation` is not written: rotated video lies on its side.",
    upstream: "a7c2899990, MR 8319; in 1.24.13 too",
    workaround: "The frames are rotated, and their tag is removed.")

  package static let matroskamuxOpusStart = Quirk(
    "matroskamux-opus-start", element: "matroskamux", releases: .all,
    symptom: """
      The priming of Opus (`CodecDelay`) is added to the time of the first packet too, which begins that much before \
      its first sample: audio that begins later than 6.5 ms is played 6.5 ms late.
      """,
    upstream: "`gst_matroska_mux_write_data`",
    workaround: "The first block of the finished file gets the time of the second, less the length of its packet.")

  static let matroskamux = [
    matroskamuxTagQuotes, matroskamuxTrackNames, matroskamuxComment, matroskamuxFieldOrder,
    matroskamuxDefaultFlag, matroskamuxDisplaySize, matroskamuxLuminance, matroskamuxLanguage,
    matroskamuxFFV1Version, matroskamuxProResVariant, matroskamuxCoverArt, matroskamuxOrientation,
    matroskamuxOpusStart,
  ]
}
