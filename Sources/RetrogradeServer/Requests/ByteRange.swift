/// Range of a file that a Range header requests (RFC 9110, 14).
enum ByteRange: Equatable, Sendable {
  /// The whole file: the request has no range, an invalid range, or an unsupported one (several
  /// ranges, or a unit other than bytes).
  case all
  case part(Range<Int>)
  /// The range contains no existing byte.
  case unsatisfiable

  /// - Parameter count: file size in bytes.
  init(_ field: String?, of count: Int) {
    self = .all
    guard let field, field.hasPrefix("bytes=") else { return }
    let spec = field.dropFirst(6)
    let ends = spec.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard !spec.contains(","), ends.count == 2 else { return }
    switch (ByteRange.number(ends[0]), ByteRange.number(ends[1])) {
    case (let first?, nil) where ends[1].isEmpty: self = first < count ? .part(first..<count) : .unsatisfiable
    case (let first?, let last?) where first <= last:
      self = first < count ? .part(first..<min(last, count - 1) + 1) : .unsatisfiable
    case (nil, let length?) where ends[0].isEmpty:
      self = length > 0 && count > 0 ? .part(max(count - length, 0)..<count) : .unsatisfiable
    default: return
    }
  }

  /// Parses up to 18 digits, which cannot overflow.
  private static func number(_ text: String) -> Int? {
    guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int(text)
  }
}
