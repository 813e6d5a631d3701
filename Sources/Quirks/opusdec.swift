import GStreamer

extension Quirk {
  package static let opusdecPhaseInversion = Quirk(
    "opusdec-phase-inversion", element: "opusdec", releases: .all,
    symptom: "Stereo is made fit for being mixed to mono unless told otherwise: other samples than were encoded.",
    upstream: "`phase-inversion`",
    workaround: "`phase-inversion=true`.")

  static let opusdec = [opusdecPhaseInversion]
}
