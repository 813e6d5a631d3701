extension Quirk {
  package static let matroskademuxStartTime = Quirk(
    "matroskademux-start-time", element: "matroskademux", releases: .all,
    symptom: """
      Until the first seek it counts from the first packet: a file whose streams begin after 0 is shown from 0 on, and \
      a stream that begins a few milliseconds after the other at the same time as that one.
      """,
    upstream: "`stream_start_time` in `gst_matroska_demux_parse_blockgroup_or_simpleblock`",
    workaround: "Its segments get the start as their time.")

  package static let matroskademuxCodecDelay = Quirk(
    "matroskademux-codec-delay", element: "matroskademux", releases: .all,
    symptom: """
      It heeds the priming that a track names (`CodecDelay`) for Opus only: other audio is late by it, and the priming \
      is heard.
      """,
    upstream: "`gst_matroska_demux_parse_blockgroup_or_simpleblock`",
    workaround: "It is read from the file, and that much is cut from the audio.")

  package static let matroskademuxOpusStart = Quirk(
    "matroskademux-opus-start", element: "matroskademux", releases: .all,
    symptom: """
      Opus whose first block comes less than its priming (`CodecDelay`) after 0 gets 0 as its first timestamp, and is \
      early by that block's time.
      """,
    upstream: "`gst_matroska_demux_parse_blockgroup_or_simpleblock`",
    workaround: "The second timestamp says when it begins.")

  package static let matroskademuxSeekEnd = Quirk(
    "matroskademux-seek-end", element: "matroskademux", releases: .all,
    symptom: """
      After a seek before it has read all of the file, it ends at the duration that the file declares, and drops a \
      last frame that begins there, or longer audio.
      """,
    upstream: "`gst_matroska_demux_handle_seek_event`",
    workaround: "It reads twice the duration (`MatroskaCorrection`), and seeks name no stop.",
    isForSeeks: true)

  package static let matroskademuxChapters = Quirk(
    "matroskademux-chapters", element: "matroskademux", releases: .all,
    symptom: """
      The time that it takes to read chapters grows with the square of their number: 20,000 take \
      seconds, in each pipeline.
      """,
    upstream: "`gst_matroska_read_common_parse_chapter_element` (`g_list_append`)",
    workaround: "It does not get to read them; they are read from the file (`MatroskaChapters`).")

  package static let matroskademuxTagNames = Quirk(
    "matroskademux-tag-names", element: "matroskademux", releases: .all,
    symptom: "It reads no more tags after one whose name is not ASCII.",
    upstream: "`gst_matroska_read_common_parse_metadata_id_simple_tag` (`gst_ebml_read_ascii`)",
    workaround: "It does not get to read such names (`MatroskaCorrection`); they are read from the file.")

  package static let matroskademuxProResTimes = Quirk(
    "matroskademux-prores-times", element: "matroskademux", releases: .all,
    symptom: "Packets of ProRes have no timestamps.",
    upstream: "`gst_matroska_demux_add_prores_header`",
    workaround: "They are read from the file, and windows are decoded from a packet store.")

  package static let matroskademuxFieldOrder = Quirk(
    "matroskademux-field-order", element: "matroskademux", releases: .all,
    symptom: """
      It reads the field order (`FieldOrder`) of interleaved fields only, 9 and 14, and not 1 and 6, which FFmpeg \
      writes.
      """,
    upstream: "`gst_matroska_demux_parse_stream`",
    workaround: "It is read from the file (`MatroskaTrack`) for codecs that do not mark fields.")

  static let matroskademux = [
    matroskademuxTagNames,
    matroskademuxProResTimes, matroskademuxFieldOrder,
    matroskademuxStartTime, matroskademuxCodecDelay, matroskademuxOpusStart, matroskademuxSeekEnd,
    matroskademuxChapters,
  ]
}
