import CPango

extension Text {
  /// True if a font family named in `font` is installed; if none is, Pango substitutes another
  /// family.
  /// - Parameter font: in Pango's syntax, such as `Serif Bold`.
  package static func isInstalled(_ font: String) -> Bool {
    guard let description = pango_font_description_from_string(font) else { return false }
    defer { pango_font_description_free(description) }
    // If `font` names only a style, such as `Bold`, Pango uses its default family, so no family is
    // missing.
    guard let names = pango_font_description_get_family(description) else { return true }
    let wanted = Set(String(cString: names).lowercased().split(separator: ",").map(String.init))
    var families: UnsafeMutablePointer<UnsafeMutablePointer<PangoFontFamily>?>?
    var count: Int32 = 0
    pango_font_map_list_families(pango_cairo_font_map_get_default(), &families, &count)
    defer { g_free(families) }
    return (0..<Int(count)).contains { index in
      guard let family = families?[index], let name = pango_font_family_get_name(family) else { return false }
      return wanted.contains(String(cString: name).lowercased())
    }
  }
}
