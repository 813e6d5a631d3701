import Glibc

/// Character encodings of subtitle files.
enum SubtitleEncoding {
  /// Converts UTF-16 and UTF-32 to UTF-8, and removes byte order marks. Other bytes stay as they
  /// are.
  ///
  /// Zero bytes are removed, because `subparse` ignores everything after the first zero byte.
  /// `subparse` reads all formats except SubRip and WebVTT.
  static func withoutWideCharacters(_ bytes: [UInt8]) -> [UInt8] {
    let plain: [UInt8]
    if bytes.starts(with: [0xFF, 0xFE, 0, 0]) {
      plain = utf8(bytes.dropFirst(4), isBigEndian: false, UTF32.self)
    } else if bytes.starts(with: [0, 0, 0xFE, 0xFF]) {
      plain = utf8(bytes.dropFirst(4), isBigEndian: true, UTF32.self)
    } else if bytes.starts(with: [0xFF, 0xFE]) {
      plain = utf8(bytes.dropFirst(2), isBigEndian: false, UTF16.self)
    } else if bytes.starts(with: [0xFE, 0xFF]) {
      plain = utf8(bytes.dropFirst(2), isBigEndian: true, UTF16.self)
    } else if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      plain = Array(bytes.dropFirst(3))
    } else if bytes.count >= 2, (bytes[0] == 0) != (bytes[1] == 0) {
      // UTF-16 without a byte order mark: subtitle files begin with an ASCII character.
      plain = utf8(bytes[...], isBigEndian: bytes[0] == 0, UTF16.self)
    } else {
      plain = bytes
    }
    return plain.contains(0) ? plain.filter { $0 != 0 } : plain
  }

  private static func utf8<Encoding: Unicode.Encoding>(
    _ bytes: ArraySlice<UInt8>, isBigEndian: Bool, _ encoding: Encoding.Type
  ) -> [UInt8] where Encoding.CodeUnit: FixedWidthInteger & BitwiseCopyable {
    let size = MemoryLayout<Encoding.CodeUnit>.size
    let units = bytes.withUnsafeBytes { raw in
      stride(from: 0, through: raw.count - size, by: size).map { place in
        let unit = raw.loadUnaligned(fromByteOffset: place, as: Encoding.CodeUnit.self)
        return isBigEndian ? Encoding.CodeUnit(bigEndian: unit) : Encoding.CodeUnit(littleEndian: unit)
      }
    }
    return Array(String(decoding: units, as: encoding).utf8)
  }

  /// Text of one line. A line that is not valid UTF-8 has the encoding that the environment
  /// variable `GST_SUBTITLE_ENCODING` names, or ISO-8859-15, as in `subparse`.
  static func text(ofLine line: ArraySlice<UInt8>) -> String {
    String(validating: line, as: UTF8.self) ?? getenv("GST_SUBTITLE_ENCODING").flatMap { converted(line, from: $0) }
      ?? latin9(line)
  }

  /// - Returns: nil if the encoding is unknown, or if `line` is not valid in it.
  private static func converted(_ line: ArraySlice<UInt8>, from encoding: UnsafePointer<CChar>) -> String? {
    guard let converter = iconv_open("UTF-8", encoding), converter != iconv_t(bitPattern: -1) else { return nil }
    defer { iconv_close(converter) }
    var input = line.map { CChar(bitPattern: $0) }
    var output = [CChar](repeating: 0, count: 4 * line.count + 16)
    var (unread, room) = (input.count, output.count)
    let isValid = input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        var (from, to) = (input.baseAddress, output.baseAddress)
        return iconv(converter, &from, &unread, &to, &room) != -1
      }
    }
    guard isValid else { return nil }
    return String(decoding: output.dropLast(room).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func latin9(_ line: ArraySlice<UInt8>) -> String {
    var text = ""
    for byte in line { text.unicodeScalars.append(latin9[byte] ?? Unicode.Scalar(byte)) }
    return text
  }

  /// Characters of ISO-8859-15 that differ from ISO-8859-1.
  private static let latin9: [UInt8: Unicode.Scalar] = [
    0xA4: "€", 0xA6: "Š", 0xA8: "š", 0xB4: "Ž", 0xB8: "ž", 0xBC: "Œ", 0xBD: "œ", 0xBE: "Ÿ",
  ]
}
