extension Quirk {
  package static let parsebinWholeImages = Quirk(
    "parsebin-whole-images", element: "parsebin", releases: .all,
    symptom: "It has no parser for BMP and TIFF, and gives decoders the file in pieces, of which they make nothing.",
    workaround: "`multifilesrc` reads the file in one piece.")

  static let parsebin = [parsebinWholeImages]
}
