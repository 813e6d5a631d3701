import GStreamer

extension Quirk {
  package static let sfdecLoudspeakers = Quirk(
    "sfdec-loudspeakers", element: "sfdec", releases: .all,
    symptom: "Audio of more than two channels has no channel mask, without which `audioconvert` refuses it.",
    upstream: "`gst_sf_dec_start`",
    workaround: "The mask is read from the file (`WAVEHeader`), and set behind the decoder.")

  static let sfdec = [sfdecLoudspeakers]
}
