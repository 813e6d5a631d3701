import CPango

extension Color {
  /// Parses a CSS colour name such as `gold`, or hexadecimal digits such as `#fc0`, `#ffcc00`, or
  /// `#ffcc0080` with alpha (`pango_color_parse_with_alpha`); nil if invalid.
  public init?(parsing text: String) {
    var color = PangoColor()
    var alpha: UInt16 = .max
    guard pango_color_parse_with_alpha(&color, &alpha, text) != 0 else { return nil }
    func part(_ value: UInt16) -> Double { Double(value) / Double(UInt16.max) }
    self.init(red: part(color.red), green: part(color.green), blue: part(color.blue), alpha: part(alpha))
  }
}
