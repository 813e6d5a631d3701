/// A number of bytes, for people: `512 MiB`, and read from text such as `512MiB`, `2G` or `1000000`.
public struct ByteCount: Hashable, Sendable, CustomStringConvertible {
  public var bytes: Int

  public init(_ bytes: Int) { self.bytes = bytes }

  /// Reads a number with an optional unit: B, K, M, G, T (also KB, KiB …, all powers of 1024). Nil if it is none, or
  /// not positive.
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

  private static func short(_ value: Double) -> String {
    value < 10 ? "\((value * 10).rounded() / 10)" : "\(Int(value.rounded()))"
  }
}
