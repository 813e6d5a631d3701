/// A number of bytes, printed as `512 MiB`, and read from text such as `512MiB`, `2G` or `1000000`.
public struct ByteCount: Hashable, Codable, Sendable, CustomStringConvertible {
  public var bytes: Int

  public init(_ bytes: Int) { self.bytes = bytes }

  /// Reads a number with an optional unit: B, K, M, G, T (also KB, KiB …, all powers of 1024).
  /// Returns nil if the text is not a positive size.
  public init?(parsing text: String) {
    let digits = text.prefix { $0.isNumber || $0 == "." }
    let unit = text.dropFirst(digits.count).drop { $0 == " " }.lowercased()
    let powers = ["": 0, "b": 0, "k": 1, "m": 2, "g": 3, "t": 4]
    let stem =
      unit.hasSuffix("ib")
      ? String(unit.dropLast(2)) : unit.count > 1 && unit.hasSuffix("b") ? String(unit.dropLast()) : unit
    guard let number = Double(digits), let power = powers[stem] else { return nil }
    let value = (0..<power).reduce(number) { product, _ in product * 1024 }
    guard value >= 1, value < Double(Int.max / 2) else { return nil }
    bytes = Int(value)
  }

  public var description: String {
    var value = Double(bytes)
    for unit in ["bytes", "KiB", "MiB", "GiB"] {
      if value < 1024 { return unit == "bytes" ? "\(bytes) bytes" : "\(ByteCount.short(value)) \(unit)" }
      value /= 1024
    }
    return "\(ByteCount.short(value)) TiB"
  }

  /// Reads a file size limit: `5MB` is 5 million bytes, `5MiB` is 5 x 1024 x 1024. Returns nil if
  /// the text is not a size, or the size is below 1000 bytes or at least 10¹⁵ bytes.
  package init?(decimal text: String) {
    let digits = text.prefix { $0.isNumber || $0 == "." }
    let unit = text.dropFirst(digits.count).drop { $0 == " " }.lowercased()
    let units = [
      "": 1.0, "b": 1, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9, "kib": 1024, "mib": 1_048_576,
      "gib": 1_073_741_824,
    ]
    guard let number = Double(digits), let factor = units[unit], (1000..<1e15).contains(number * factor) else {
      return nil
    }
    bytes = Int(number * factor)
  }

  /// Size in powers of 1000, for file size limits: `5 MB`.
  package var decimal: String {
    var value = Double(bytes)
    for unit in ["bytes", "kB", "MB", "GB"] {
      if value < 1000 { return unit == "bytes" ? "\(bytes) bytes" : "\(((value * 100).rounded() / 100).plain) \(unit)" }
      value /= 1000
    }
    return "\(((value * 100).rounded() / 100).plain) TB"
  }

  private static func short(_ value: Double) -> String {
    value < 10 ? "\((value * 10).rounded() / 10)" : "\(Int(value.rounded()))"
  }
}
