import GStreamer

extension Quirk {
  package static let wavencChannelMask = Quirk(
    "wavenc-channel-mask", element: "wavenc", releases: .all,
    symptom: """
      Of more than five channels the header does not say for which loudspeakers they are: the numbers of the places \
      are taken for a mask.
      """,
    upstream: "`gstmask_to_wavmask`",
    workaround: "The mask is set in the finished file.")

  static let wavenc = [wavencChannelMask]
}
