import GStreamer

extension Quirk {
  package static let audioconvertSideSpeakers = Quirk(
    "audioconvert-side-speakers", element: "audioconvert", releases: .all,
    symptom: """
      Speakers at the sides (5.1 as AC-3 and DTS have it) become one channel before encoders that know only rear \
      ones: `vorbisenc`, and `opusenc` before 1.24, which since then loses their places; `avenc_aac` fails.
      """,
    upstream: "`gst_audio_convert_fixate_channels`, 7e63427827 (opusenc)",
    workaround: "The channel mask names the pair at the sides as rear speakers.")

  static let audioconvert = [audioconvertSideSpeakers]
}
