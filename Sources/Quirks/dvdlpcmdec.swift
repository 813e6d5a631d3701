extension Quirk {
  package static let dvdlpcmdecDepth = Quirk(
    "dvdlpcmdec-depth", element: "dvdlpcmdec", releases: .all,
    symptom: "LPCM of Blu-ray discs with 24 bits a sample is put into the order of DVDs: it becomes noise.",
    upstream: "`gst_dvdlpcmdec_handle_frame`",
    workaround: "LPCM of more than 16 bits is left out, with a warning.")

  static let dvdlpcmdec = [dvdlpcmdecDepth]
}
