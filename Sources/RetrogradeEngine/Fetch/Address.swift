import Glibc
import Paths

/// Input that is not a path: a file URI or a network address.
package enum Address: Sendable, Hashable {
  /// Decoded path of a `file:` URI (RFC 8089).
  case file(String)
  /// Address with the scheme `http` or `https`.
  case web(String)

  /// - Returns: nil if `input` is a path. If a file with this name exists, `input` is always a
  ///   path.
  /// - Throws: ``RetrogradeError`` of code `noInput` if the address is not of a supported kind.
  package init?(_ input: String) throws {
    var info = stat()
    guard let match = input.prefixMatch(of: /([a-z][a-z0-9+.\-]*):\/\//.ignoresCase()), lstat(input.cPath, &info) != 0
    else {
      return nil
    }
    let rest = input[match.range.upperBound...]
    switch match.1.lowercased() {
    case "http", "https": self = .web(input)
    case "file":
      guard let slash = rest.firstIndex(of: "/"), ["", "localhost"].contains(rest[..<slash].lowercased()),
        let path = Address.decoded(rest[slash...])
      else {
        throw RetrogradeError(
          .noInput, about: input, "is not the URL of a file on this machine",
          remedy: "write file:///folder/name, or only the path")
      }
      self = .file(path)
    default:
      throw RetrogradeError(
        .noInput, about: input, "is a URL of an unsupported kind (only http, https and file URLs can be read)",
        remedy: "download the file first, or pipe it to standard input")
    }
  }

  /// True if `input` is an address on the network.
  package static func isOfWeb(_ input: String) -> Bool {
    if let address = try? Address(input), case .web = address { true } else { false }
  }

  /// Returns the path if `input` is a file URI; `input` unchanged otherwise.
  package static func path(of input: String) -> String {
    if let address = try? Address(input), case .file(let path) = address { path } else { input }
  }

  /// Returns the bytes of a path with `%20` and other escapes decoded (RFC 3986, 2.1); the bytes
  /// need not be UTF-8. nil if an escape is invalid or stands for NUL.
  package static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = String(text).pathBytes[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16), value != 0
      else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(pathBytes: bytes)
  }
}
