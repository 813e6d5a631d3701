import CPango

extension Color {
  /// Reads a name of CSS, such as `gold`, or `#fc0`, `#ffcc00`, and `#ffcc0080` with an opacity (`pango_color_parse_with_alpha`); nil where
  /// that is none.
  public init?(parsing text: String) {
    var color = PangoColor()
    var alpha: UInt16 = .max
    guard pango_color_parse_with_alpha(&color, &alpha, text) != 0 else { return nil }
    func part(_ value: UInt16) -> Double { Double(value) / Double(UInt16.max) }
    self.init(red: part(color.red), green: part(color.green), blue: part(color.blue), alpha: part(alpha))
  }
}
