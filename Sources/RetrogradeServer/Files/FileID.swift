import GStreamer
import Paths

/// ID of a file in addresses: the first ASCII letters and digits of its name, and eight hexadecimal
/// digits of the digest of its path. The ID is the same in each run.
enum FileID {
  private static let longestStem = 40

  /// - Parameter path: path of the file, as the user named the file or its folder.
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

  /// True if a text has the format of a file ID.
  static func isPossible(_ text: String) -> Bool {
    (8...longestStem + 9).contains(text.utf8.count)
      && text.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
  }
}

/// Returns the SHA-256 digest of several texts, in hexadecimal. A zero byte is hashed after each
/// text, so `("ab", "c")` and `("a", "bc")` have different digests.
func digest(_ texts: String...) -> String {
  let sum = Checksum()
  for var text in texts {
    text.withUTF8 { sum.add(UnsafeRawBufferPointer($0)) }
    [UInt8(0)].withUnsafeBytes { sum.add($0) }
  }
  return sum.digest
}

/// Returns the SHA-256 digest of a text's bytes, in hexadecimal.
func digestOfBytes(_ text: String) -> String {
  let sum = Checksum()
  var text = text
  text.withUTF8 { sum.add(UnsafeRawBufferPointer($0)) }
  return sum.digest
}
