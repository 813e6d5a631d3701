/// Decoded path and query of a request. Paths that violate RFC 3986 are rejected.
struct RequestPath: Equatable, Sendable {
  /// Components between the slashes. A trailing slash adds an empty component; `/` is one empty
  /// component.
  var parts: [String]
  /// First value of each query parameter.
  var query: [String: String]

  /// Maximum length in bytes, before decoding.
  static let longest = 4096

  /// - Returns: nil if `target` is too long, does not begin with a slash, has an empty component in
  ///   the middle, has a `.` or `..` component, or has an invalid percent encoding. Also nil if the
  ///   decoded text is not UTF-8 or contains a control character, or if a decoded component of the
  ///   path contains a slash or a backslash.
  init?(_ target: String) {
    let bytes = Array(target.utf8)
    guard bytes.count <= RequestPath.longest, bytes.first == UInt8(ascii: "/") else { return nil }
    let halves = bytes.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    let coded = halves[0].dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    parts = []
    for (number, part) in coded.enumerated() {
      guard let text = RequestPath.decoded(part), !text.utf8.contains(UInt8(ascii: "/")),
        !text.utf8.contains(UInt8(ascii: "\\")), text != ".", text != "..",
        !text.isEmpty || number == coded.count - 1
      else { return nil }
      parts.append(text)
    }
    query = [:]
    guard halves.count == 2 else { return }
    for pair in halves[1].split(separator: UInt8(ascii: "&")) {
      let sides = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = RequestPath.decoded(sides[0]),
        let value = sides.count == 2 ? RequestPath.decoded(sides[1]) : ""
      else { return nil }
      if query[name] == nil { query[name] = value }
    }
  }

  /// Characters allowed unencoded in a path and a query: RFC 3986's unreserved characters,
  /// `sub-delims`, `:` and `@`; in a query also `/` and `?`.
  private static let plain = Set("-._~!$&'()*+,;=:@/?".utf8)

  private static func decoded(_ coded: ArraySlice<UInt8>) -> String? {
    var bytes: [UInt8] = []
    var rest = coded
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else { return nil }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        bytes.append(byte)
      default:
        guard plain.contains(byte) else { return nil }
        bytes.append(byte)
      }
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    return text.unicodeScalars.contains { $0.properties.generalCategory == .control } ? nil : text
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

extension String {
  /// Text encoded as a path component or a query value.
  var percentEncoded: String {
    utf8.reduce(into: "") { text, byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        text += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
  }
}
