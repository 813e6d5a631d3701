import GStreamer

extension Quirk {
  package static let wavparseSize = Quirk(
    "wavparse-size", element: "wavparse", releases: .before(Release(1, 28, 2)),
    symptom: "It reads no more than 2³¹ - 1 bytes of audio, also of RF64, and may take the rest for headers.",
    upstream: "`gst_wavparse_stream_headers`, f0445b599c",
    workaround: """
      Behind a queue, where it cannot seek, it ignores the length (`ignore-length`) and reads to the end; what follows \
      the audio is cut. On all releases: later ones take chunks that follow the audio of RF64 for audio (1.28.8 seen).
      """)

  package static let wavparseChannelMask = Quirk(
    "wavparse-channel-mask", element: "wavparse", releases: .all,
    symptom: """
      Caps of more than 8 channels, and before 1.27.50 of 3 and 7, have no channel mask if the file has none: \
      `audioconvert`, and whatever else reads the caps, refuses them.
      """,
    upstream: "`gst_riff_wave_add_default_channel_mask`, f6ed2e24fe",
    workaround: "The mask is set to 0: channels for no loudspeakers.")

  package static let wavparseTemplate = Quirk(
    "wavparse-template", element: "wavparse", releases: .all,
    symptom: """
      Its source pad outputs G.722 and G.726, but the pad's template lists neither: a direct link to the codec's \
      decoder is refused.
      """,
    upstream: "`gst_riff_create_audio_template_caps`",
    workaround: "A `capssetter` between the two accepts all caps, and sets the media type.")

  static let wavparse = [wavparseSize, wavparseChannelMask, wavparseTemplate]
}
