extension Box {
  /// Encodes a box whose body consists of `parts`.
  static func bytes(_ type: String, _ parts: [UInt8]...) -> [UInt8] {
    let body = Array(parts.joined())
    return header(type, body.count) + body
  }

  /// Encodes a full box: a box whose body starts with a version and flags.
  static func full(
    _ type: String, version: UInt8 = 0, flags: UInt32 = 0, _ parts: [UInt8]...
  ) -> [UInt8] {
    bytes(type, .big(UInt32(version) << 24 | flags), Array(parts.joined()))
  }
}

extension [UInt8] {
  /// Encodes a number in big-endian order.
  static func big(_ value: some FixedWidthInteger) -> [UInt8] {
    Swift.withUnsafeBytes(of: value.bigEndian, Array.init)
  }

  /// Encodes numbers in big-endian order.
  static func big<Number: FixedWidthInteger>(all values: [Number]) -> [UInt8] {
    values.flatMap { value in big(value) }
  }

  static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}
