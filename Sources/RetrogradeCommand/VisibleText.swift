extension String {
  /// The text with every control character spelled out, as JSON writes it: `\n`, `\u001b`.
  ///
  /// Names of files, tags and titles come from strangers. What a terminal takes for a command (ECMA-48: C0, DEL and C1) could
  /// colour it, clear it or feign what this program says.
  /// - Parameter keepingLines: whether line feeds stay, in text that has several lines.
  func withoutControls(keepingLines: Bool = false) -> String {
    func isHidden(_ scalar: Unicode.Scalar) -> Bool {
      scalar.properties.generalCategory == .control && !(keepingLines && scalar == "\n")
    }
    guard unicodeScalars.contains(where: isHidden) else { return self }
    var text = ""
    for scalar in unicodeScalars {
      switch scalar {
      case _ where !isHidden(scalar): text.unicodeScalars.append(scalar)
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      default:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      }
    }
    return text
  }
}
