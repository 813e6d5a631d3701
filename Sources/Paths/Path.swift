// A Linux file name is any sequence of bytes except `/` and NUL; a `String` can contain only
// Unicode. As with Python's `surrogateescape`, a path is a `String` in which U+10E080 to U+10E0FF
// stand for the bytes 0x80 to 0xFF that are not part of valid UTF-8. If a name contains one of
// these private-use characters itself, the character's four bytes are escaped in the same way. So
// each sequence of bytes has exactly one `String`, which converts back to the same bytes.
//
// Paths become strings on input: from arguments, `readdir`, inotify, the environment and URIs. Each
// C call converts a path back to bytes (`cPath`).

/// Code points that stand for the bytes 0x80 to 0xFF.
private let rawBytes: ClosedRange<UInt32> = 0x10E080...0x10E0FF

extension Unicode.Scalar {
  /// Byte of a path that this code point stands for; nil for an ordinary character.
  package var rawByte: UInt8? { rawBytes.contains(value) ? UInt8(truncatingIfNeeded: value) : nil }

  /// Creates the code point for a byte of a path.
  /// - Returns: nil for ASCII, which is always valid UTF-8.
  fileprivate init?(rawByte byte: UInt8) {
    guard byte >= 0x80 else { return nil }
    self.init(rawBytes.lowerBound - 0x80 + UInt32(byte))
  }
}

extension String {
  /// Decodes a path; any sequence of bytes is valid.
  package init(pathBytes bytes: some Collection<UInt8>) {
    // Without the byte 0xF4, valid UTF-8 contains no character to escape: only the UTF-8 forms of
    // U+100000 and later start with 0xF4.
    if !bytes.contains(0xF4), let text = String(validating: bytes, as: UTF8.self) {
      self = text
      return
    }
    self.init()
    var parser = Unicode.UTF8.ForwardParser()
    var rest = bytes.makeIterator()
    var place = bytes.startIndex
    while true {
      let count: Int
      switch parser.parseScalar(from: &rest) {
      case .emptyInput: return
      case .error(let length): count = length
      case .valid(let encoded):
        let scalar = Unicode.UTF8.decode(encoded)
        if scalar.rawByte == nil {
          unicodeScalars.append(scalar)
          bytes.formIndex(&place, offsetBy: encoded.count)
          continue
        }
        count = encoded.count
      }
      for _ in 0..<count {
        if let scalar = Unicode.Scalar(rawByte: bytes[place]) { unicodeScalars.append(scalar) }
        bytes.formIndex(after: &place)
      }
    }
  }

  /// Decodes a C path.
  package init(cPath: UnsafePointer<CChar>) {
    var count = 0
    while cPath[count] != 0 { count += 1 }
    self = cPath.withMemoryRebound(to: UInt8.self, capacity: count) {
      String(pathBytes: UnsafeBufferPointer(start: $0, count: count))
    }
  }

  /// True if the path contains escaped bytes.
  package var hasRawBytes: Bool { utf8.contains(0xF4) && unicodeScalars.contains { $0.rawByte != nil } }

  /// Bytes of the path, as the system uses them.
  package var pathBytes: [UInt8] {
    guard hasRawBytes else { return Array(utf8) }
    return unicodeScalars.flatMap { scalar in scalar.rawByte.map { [$0] } ?? Array(String(scalar).utf8) }
  }

  /// Path for a C call: its bytes and a NUL.
  package var cPath: [CChar] { pathBytes.map { CChar(bitPattern: $0) } + [0] }

  /// Returns the path with each byte that is not UTF-8 replaced by the result of `text`.
  package func replacingRawBytes(_ text: (UInt8) -> String) -> String {
    guard hasRawBytes else { return self }
    return unicodeScalars.reduce(into: "") { path, scalar in
      if let byte = scalar.rawByte { path += text(byte) } else { path.unicodeScalars.append(scalar) }
    }
  }

  /// Folder of a path: the part before the last slash, `/` for a file in the root, `.` for a bare
  /// name.
  package var folderPath: String {
    // Compare bytes: a slash with a combining mark is another `Character`, but is still a
    // separator.
    guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == startIndex ? "/" : String(self[..<slash])
  }

  /// Name of a path: the part after the last slash.
  package var lastPart: String {
    utf8.lastIndex(of: UInt8(ascii: "/")).map { String(self[utf8.index(after: $0)...]) } ?? self
  }

  /// Readable form of the path, such as `caf\xe9.mp4`.
  package var readablePath: String { replacingRawBytes { "\\x" + String($0, radix: 16) } }
}
