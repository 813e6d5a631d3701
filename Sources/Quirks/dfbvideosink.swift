extension Quirk {
  package static let dfbvideosinkCrash = Quirk(
    "dfbvideosink-crash", element: "dfbvideosink", releases: .all,
    symptom: """
      Without a display, `autovideosink` tries DirectFB last, which crashes the process \
      (SIGSEGV).
      """,
    workaround: "Windows are only opened if `DISPLAY` or `WAYLAND_DISPLAY` is set.")

  static let dfbvideosink = [dfbvideosinkCrash]
}
