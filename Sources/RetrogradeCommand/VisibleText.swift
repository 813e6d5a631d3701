import Paths

extension String {
  /// The text with every control character spelled out, as JSON writes it: `\n`, `\u001b`; and bytes of file
  /// names that are not UTF-8 as `\xe9`.
  ///
  /// Names of files, tags and titles come from strangers. Characters that a terminal takes for a command
  /// (ECMA-48: C0, DEL and C1) could colour it, clear it or feign this program's output.
  /// - Parameter keepingLines: whether line feeds stay, in text that has several lines.
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

  /// JSON whose strings spell control characters out, and bytes of file names that are not UTF-8: 0xE9 as
  /// `\udbf8\udce9` (U+10E0E9).
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
