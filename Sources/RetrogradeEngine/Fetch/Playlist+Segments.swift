/// Number of media segments that a DASH manifest declares by rules instead of by names.
extension Playlist {
  /// Maximum number of media segments in a stream: eleven days with one segment per second.
  static let mostSegments = 1_000_000

  /// Upper bound for the number of media segments in a stream, from templates and timelines
  /// (ISO/IEC 23009-1, 5.3.9.4 and 5.3.9.6). 0 for HLS, where each media segment has a line of its
  /// own.
  var promisedSegments: Double {
    guard kind == .dash else { return 0 }
    let length =
      text.matches(
        of: /\s(?:mediaPresentationDuration|duration)\s*=\s*["']P([^"']*)["']/.matchingSemantics(.unicodeScalar)
      )
      .compactMap { Playlist.seconds($0.1) }.max() ?? 0
    let templates = text.matches(of: /<(?:[^\s<>\/:]+:)?SegmentTemplate\s([^<>]*)/.matchingSemantics(.unicodeScalar))
      .map { Playlist.numbers($0.1) }
    let scale = templates.compactMap { $0["timescale"] }.max() ?? 1
    let counts = templates.compactMap { template in
      template["duration"].flatMap { $0 > 0 ? length * (template["timescale"] ?? 1) / $0 : nil }
    }
    let runs = text.matches(of: /<(?:[^\s<>\/:]+:)?S\s([^<>]*)/.matchingSemantics(.unicodeScalar)).map {
      run -> Double in
      let numbers = Playlist.numbers(run.1)
      let (duration, repetitions) = (numbers["d"] ?? 0, numbers["r"] ?? 0)
      // With a negative repeat count, the media segment repeats until the end.
      return repetitions >= 0 ? repetitions + 1 : duration > 0 ? length * scale / duration : 0
    }
    return max(counts.max() ?? 0, runs.reduce(0, +))
  }

  /// Returns the numeric attributes of an XML element.
  private static func numbers(_ attributes: Substring) -> [String: Double] {
    // Atomic groups match each word only once, so the search takes time linear in the text's
    // length.
    let attribute = /\s((?>\w+))\s*=\s*["']\s*(-?(?>[0-9.]+))\s*["']/.matchingSemantics(.unicodeScalar)
    let pairs = " \(attributes)".matches(of: attribute).compactMap { pair in
      Double(pair.2).map { (String(pair.1), $0) }
    }
    return Dictionary(pairs) { first, _ in first }
  }

  /// Converts a duration to seconds.
  /// - Parameter duration: XML Schema duration after the `P`, such as `T1H2M3.5S`.
  /// - Returns: nil if `duration` is too long to be valid.
  private static func seconds(_ duration: Substring) -> Double? {
    guard duration.utf8.count < 100 else { return nil }
    let units: [Character: Double] = ["Y": 31_557_600, "D": 86_400, "H": 3600, "S": 1]
    var (sum, isTime) = (0.0, false)
    for part in duration.matches(of: /T|([0-9.]+)([YMDHS])/) {
      guard let value = part.1.flatMap({ Double($0) }), let unit = part.2?.first else {
        isTime = true
        continue
      }
      sum += value * (unit == "M" ? isTime ? 60 : 2_629_800 : units[unit] ?? 0)
    }
    return sum.isFinite ? sum : nil
  }
}
