import GStreamer

/// Limits in GStreamer elements that this project does not remove; ``workaround`` names an
/// alternative, if there is one. docs/limits.md and docs/limits-outputs.md list each limit, and the
/// release that removes the limit, if known.
extension Quirk {
  package static let limits = demuxerLimits + decoderLimits + encoderLimits + muxerLimits

  // MARK: Demuxers

  package static let qtdemuxIPCM = Quirk(
    "qtdemux-ipcm", element: "qtdemux", releases: .before(Release(1, 25, 1)),
    symptom: "Raw PCM of MP4 (`ipcm`, ISO/IEC 23003-5) has caps that no decoder takes.",
    upstream: "0aeba9275c", workaround: "`--no-audio`")

  package static let qtdemuxVVC = Quirk(
    "qtdemux-vvc", element: "qtdemux", releases: .before(Release(1, 25, 90)),
    symptom: "H.266 (`vvc1`) has caps that no decoder takes.",
    upstream: "a5c6eea957", workaround: "None.")

  package static let qtdemuxHap = Quirk(
    "qtdemux-hap", element: "qtdemux", releases: .before(Release(1, 25, 90)),
    symptom: "Hap has caps that no decoder takes.",
    upstream: "7c3a468056", workaround: "None.")

  package static let qtdemuxDNxHR = Quirk(
    "qtdemux-dnxhr", element: "qtdemux", releases: .before(Release(1, 26, 2)),
    symptom: "DNxHR (`AVdh`) has caps that no decoder takes.",
    upstream: "fefea0a612", workaround: "None.")

  package static let avidemuxFFVHuff = Quirk(
    "avidemux-ffvhuff", element: "avidemux", releases: .before(Release(1, 23, 1)),
    symptom: "FFmpeg's HuffYUV (`FFVH`) has caps that no decoder takes.",
    upstream: "c467ac0869 (riff)", workaround: "None.")

  package static let avidemuxMagicYUV = Quirk(
    "avidemux-magicyuv", element: "avidemux", releases: .all,
    symptom: "MagicYUV and Ut Video have caps that no decoder takes.",
    upstream: "`gst_riff_create_video_caps`", workaround: "None.")

  package static let qtdemuxMalformedBox = Quirk(
    "qtdemux-malformed-box", element: "qtdemux", releases: .all,
    symptom: "A box that is smaller than its header, such as a `free` box of three bytes, makes the file invalid.",
    upstream: "`gst_qtdemux_loop_state_header`", workaround: "None.")

  package static let matroskademuxTTA = Quirk(
    "matroskademux-tta", element: "matroskademux", releases: .all,
    symptom: "TTA has caps that `avdec_tta` does not take.",
    upstream: "`gst_matroska_demux_audio_caps`", workaround: "None.")

  private static let demuxerLimits = [
    qtdemuxIPCM, qtdemuxVVC, qtdemuxHap, qtdemuxDNxHR, avidemuxFFVHuff, avidemuxMagicYUV,
    qtdemuxMalformedBox, matroskademuxTTA,
  ]

  // MARK: Decoders

  package static let avdecGrey10 = Quirk(
    "avdec-grey-10", element: "avdec_h265", releases: .before(Release(1, 25, 50)),
    symptom: "Grey frames of 10 bits have a pixel format without a name in GStreamer.",
    upstream: "8b464cd282 (`GRAY10_LE16`)", workaround: "Change them first: `ffmpeg -pix_fmt yuv420p10le`.")

  package static let openjpegdecDeepRGB = Quirk(
    "openjpegdec-deep-rgb", element: "openjpegdec", releases: .all,
    symptom: "RGB of more than eight bits is decoded to other values than by FFmpeg.",
    workaround: "None.")

  package static let audioconvertChannels = Quirk(
    "audioconvert-channels", element: "audioconvert", releases: .before(Release(1, 22, 1)),
    symptom: "Audio of 64 channels or more ends the process.",
    upstream: "a14f8008fb, b2bdadd05b (1.22)", workaround: "Such audio is refused.")

  package static let avdecProResDepth = Quirk(
    "avdec_prores-depth", element: "avdec_prores", releases: .all,
    symptom: "ProRes 4444 is decoded with 10 bits a sample instead of 12.",
    upstream: "`gst_ffmpeg_caps_with_codecid`: FFmpeg needs the codec tag, which is not set from `variant`",
    workaround: "None; a warning names the loss.")

  private static let decoderLimits = [avdecGrey10, openjpegdecDeepRGB, audioconvertChannels, avdecProResDepth]

  // MARK: Encoders

  package static let avencTimeBase = Quirk(
    "avenc-time-base", element: "avenc_mpeg4", releases: .before(Release(1, 22, 1)),
    symptom: """
      `avenc_mpeg2video` refuses frames of every rate, and packets of `avenc_mpeg4` have no time: FFmpeg is told to \
      count in nanoseconds.
      """,
    upstream: "50db59449e, until 5372b77987", workaround: "`--video-codec h264`; mpeg2 and mpeg4 are refused.")

  package static let av1encColours = Quirk(
    "av1enc-colours", element: "av1enc", releases: .all,
    symptom: "The AV1 itself does not say its colours; Matroska's and WebM's headers do.",
    upstream: "`gst_av1_enc_set_format`", workaround: "`--video-codec h264`")

  package static let avencProResColours = Quirk(
    "avenc_prores_ks-colours", element: "avenc_prores_ks", releases: .all,
    symptom: "Primaries, transfer function and matrix of ProRes are 2, which means unspecified.",
    upstream: "`gst_ffmpegvidenc_set_format`", workaround: "`--video-codec h264`")

  package static let vp9encTransparency = Quirk(
    "vp9enc-transparency", element: "vp9enc", releases: .all,
    symptom: "`vp8enc` and `vp9enc` take no frames with transparency.",
    upstream: "`gst_vp9_enc_sink_template`", workaround: "`--alpha` with .mkv")

  package static let theoraencTags = Quirk(
    "theoraenc-tags", element: "theoraenc", releases: .all,
    symptom: "Tags are not written into its comment header.",
    upstream: "`theora_enc_header_out` in gsttheoraenc.c: the comments are empty",
    workaround: "Tags of the file are written into the audio of Ogg. Without audio, a warning names them.")

  package static let y4mencDepth = Quirk(
    "y4menc-depth", element: "y4menc", releases: .before(Release(1, 27, 1)),
    symptom: "Y4M has eight bits a sample.",
    upstream: "7a14b9020c", workaround: "Write .mkv.")

  private static let encoderLimits = [
    avencTimeBase, av1encColours, avencProResColours, vp9encTransparency, theoraencTags, y4mencDepth,
  ]

  // MARK: Muxers

  package static let avimuxFrameTimes = Quirk(
    "avimux-frame-times", element: "avimux", releases: .all,
    symptom: "AVI shows all frames equally long.", upstream: "The container has no timestamps.",
    workaround: "Write .mkv or .mp4.")

  package static let qtmuxSmallVideo = Quirk(
    "qtmux-small-video", element: "qtmux", releases: .all,
    symptom: "`qtmux`, `avimux` and `webmmux` take no video smaller than 16x16.",
    upstream: "Caps templates", workaround: "`--width`, or .mkv with `--video-codec ffv1`")

  package static let avimuxLargeVideo = Quirk(
    "avimux-large-video", element: "avimux", releases: .all,
    symptom: "It takes no video wider or higher than 4096 pixels.",
    upstream: "Caps templates", workaround: "Write .mkv or .mp4.")

  package static let matroskamuxPriming = Quirk(
    "matroskamux-priming", element: "matroskamux", releases: .all,
    symptom: "The priming of AAC, MP3 and AC-3 is not written (`CodecDelay`).",
    upstream: "`gst_matroska_mux_audio_pad_setcaps`",
    workaround: "None needed: all streams start later by it, so that sync is exact.")

  package static let mpegtsmuxText = Quirk(
    "mpegtsmux-text", element: "mpegtsmux", releases: .all,
    symptom: "It takes no subtitles as text.", upstream: "Caps templates",
    workaround: "Write .mkv, or use `--subtitles-output`.")

  package static let qtmuxTextMarks = Quirk(
    "qtmux-text-marks", element: "qtmux", releases: .all,
    symptom: "It takes subtitles without bold, italics and the like only.", upstream: "Caps templates",
    workaround: "Write .mkv, or use `--subtitles-output`.")

  package static let mp4muxEAC3 = Quirk(
    "mp4mux-eac3", element: "mp4mux", releases: .before(Release(1, 27, 50)),
    symptom: "It takes no E-AC-3.", upstream: "ac4c68beed",
    workaround: "E-AC-3 becomes AAC in .mp4.",
    probe: { Caps("audio/x-eac3").map { !Registry.factory("mp4mux", takes: $0) } ?? false })

  private static let muxerLimits = [
    avimuxFrameTimes, qtmuxSmallVideo, avimuxLargeVideo, matroskamuxPriming, mpegtsmuxText,
    qtmuxTextMarks, mp4muxEAC3,
  ]
}

extension Releases {
  /// First stable release after this range, such as `1.26` or `1.26.2`; nil if none is known.
  package var end: String? {
    until.map { until in
      until.minor.isMultiple(of: 2)
        ? "\(until.major).\(until.minor)" + (until.micro > 0 ? ".\(until.micro)" : "")
        : "\(until.major).\(until.minor + 1)"
    }
  }
}
