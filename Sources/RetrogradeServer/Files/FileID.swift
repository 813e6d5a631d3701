import GStreamer
import Paths

/// The name of a file in addresses: its own name, as far as that is letters and digits, and a few digits that
/// no other name has. It stays the same from one run to the next.
enum FileID {
  private static let longestStem = 40

  /// - Parameter path: of the file, as it was named, or as the folder was.
  static func of(_ path: String) -> String {
    let name = path.lastPart
    let stem = name.lastIndex(of: ".").map { name[..<$0] } ?? name[...]
    var plain = ""
    for byte in stem.lowercased().utf8.prefix(longestStem) {
      let isPlain = (97...122).contains(byte) || (48...57).contains(byte)
      if isPlain {
        plain.unicodeScalars.append(Unicode.Scalar(byte))
      } else if !plain.isEmpty, !plain.hasSuffix("-") {
        plain += "-"
      }
    }
    let digits = String(digest(path).prefix(8))
    return plain.isEmpty ? digits : (plain.hasSuffix("-") ? plain : plain + "-") + digits
  }

  /// Whether a text is written as these names are.
  static func isPossible(_ text: String) -> Bool {
    (8...longestStem + 9).contains(text.utf8.count)
      && text.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
  }
}

/// The SHA-256 digest of texts, in digits of base 16; one text can't be taken for two.
func digest(_ texts: String...) -> String {
  let sum = Checksum()
  for var text in texts {
    text.withUTF8 { sum.add(UnsafeRawBufferPointer($0)) }
    [UInt8(0)].withUnsafeBytes { sum.add($0) }
  }
  return sum.digest
}

/// The SHA-256 digest of a text's bytes, in digits of base 16.
func digestOfBytes(_ text: String) -> String {
  let sum = Checksum()
  var text = text
  text.withUTF8 { sum.add(UnsafeRawBufferPointer($0)) }
  return sum.digest
}
