import GStreamer

extension Quirk {
  package static let wavparseSize = Quirk(
    "wavparse-size", element: "wavparse", releases: .before(Release(1, 28, 2)),
    symptom: """
      It reads no more than 2³¹ - 1 bytes of audio, also of RF64, and may take the rest for headers.
      """,
    upstream: "`gst_wavparse_stream_headers`, f0445b599c",
    workaround: "Behind a queue, where it cannot seek, it ignores the length (`ignore-length`) and reads to the end.")

  package static let wavparseNoAudio = Quirk(
    "wavparse-no-audio", element: "wavparse", releases: .before(Release(1, 26, 2)),
    symptom: "It reads a file that ends before its audio begins over and over, without an end or an error.",
    upstream: "`gst_wavparse_stream_headers`, faa912a31d, bb117a3bd9",
    workaround: "Such a file is refused before it is opened.")

  static let wavparse = [wavparseSize, wavparseNoAudio]
}
