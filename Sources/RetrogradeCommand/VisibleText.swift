import Paths

extension String {
  /// Returns the text with escapes for control characters, as in JSON (`\n`, `\u001b`), and for
  /// bytes of file names that are not UTF-8 (`\xe9`).
  ///
  /// File names, tags and titles are untrusted. Their control characters (ECMA-48: C0, DEL and C1)
  /// could colour or clear the terminal, or imitate this program's output.
  /// - Parameter keepingLines: true to keep line feeds, for text with several lines.
  func withoutControls(keepingLines: Bool = false) -> String {
    readablePath.spellingControls { scalar in
      switch scalar {
      case "\n": keepingLines ? "\n" : "\\n"
      case "\r": "\\r"
      case "\t": "\\t"
      default: scalar.escapedForJSON
      }
    }
  }

  /// JSON with escaped control characters. Bytes of file names that are not UTF-8 are escaped as
  /// well: 0xE9 as `\udbf8\udce9` (U+10E0E9).
  var safeJSON: String {
    spellingControls { $0 == "\n" ? "\n" : $0.escapedForJSON }
  }

  private func spellingControls(_ spell: (Unicode.Scalar) -> String) -> String {
    func isHidden(_ scalar: Unicode.Scalar) -> Bool {
      scalar.properties.generalCategory == .control || scalar.rawByte != nil
    }
    guard unicodeScalars.contains(where: isHidden) else { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      if isHidden(scalar) { text += spell(scalar) } else { text.unicodeScalars.append(scalar) }
    }
  }
}

extension Unicode.Scalar {
  fileprivate var escapedForJSON: String {
    UTF16.encode(self).map { code in
      code.map { unit in
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      }.joined()
    } ?? ""
  }
}
