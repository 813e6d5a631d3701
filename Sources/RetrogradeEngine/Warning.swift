import MediaTime

/// Difference between the source and the result: its kind, amount and time.
public struct Warning: Sendable, Hashable, CustomStringConvertible {
  /// Kind of warning. The raw values are stable, so programs may rely on them.
  public struct Code: RawRepresentable, Sendable, Hashable, Codable {
    public var rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The source ends before the end that its container declares.
    public static let truncated = Code(rawValue: "truncated")
    /// Packets or frames can't be read or decoded.
    public static let damaged = Code(rawValue: "damaged")
    /// A whole stream of the source is missing from the result.
    public static let streamLeftOut = Code(rawValue: "stream-left-out")
    /// No plugin is installed for a stream.
    public static let missingPlugin = Code(rawValue: "missing-plugin")
    /// Data about or beside the streams is missing from the result: chapters, cover art,
    /// transparency, captions, timecode.
    public static let detailLeftOut = Code(rawValue: "detail-left-out")
    /// Frames, samples or times were converted, for example to another size, layout or rate.
    public static let converted = Code(rawValue: "converted")
    /// Contradictory timestamps were corrected; nothing is missing.
    public static let timesRepaired = Code(rawValue: "times-repaired")
    /// Some data passed to the encoder did not reach the file.
    public static let notWritten = Code(rawValue: "not-written")
    /// The output is longer than its destination accepts.
    public static let tooLong = Code(rawValue: "too-long")
    /// A live source reported frames that it did not deliver.
    public static let lost = Code(rawValue: "lost")
  }

  public var code: Code
  public var message: Message
  /// Number of affected frames, sample frames or packets, if known.
  public var count: Int?
  /// Affected span in the source's time, if known.
  public var span: TimeSpan?

  public init(_ code: Code, _ message: Message, count: Int? = nil, span: TimeSpan? = nil) {
    self.code = code
    self.message = message
    self.count = count
    self.span = span
  }

  public var description: String { message.description }

  /// True for all warnings except corrected timestamps, which lose nothing.
  public var isLoss: Bool { code != .timesRepaired }
}

/// Encoded as an object with `code` and `message`. If known, the object also has `count`, and
/// `start` and `end` in seconds.
extension Warning: Codable {
  /// Key in the `userInfo` of an encoder. The value is a `@Sendable (Setting) -> String` that
  /// returns the names of settings in messages.
  public static let naming = CodingUserInfoKey(rawValue: "naming")

  private enum CodingKeys: String, CodingKey {
    case code, message, count, start, end
  }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    code = try values.decode(Code.self, forKey: .code)
    message = Message(try values.decode(String.self, forKey: .message))
    count = try values.decodeIfPresent(Int.self, forKey: .count)
    if let start = try values.decodeIfPresent(Double.self, forKey: .start),
      let end = try values.decodeIfPresent(Double.self, forKey: .end)
    {
      span = TimeSpan(start: ClockTime(seconds: start), end: ClockTime(seconds: end))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(code, forKey: .code)
    try values.encode(message.text(for: encoder), forKey: .message)
    try values.encodeIfPresent(count, forKey: .count)
    try values.encodeIfPresent(span?.start.seconds, forKey: .start)
    try values.encodeIfPresent(span?.end.seconds, forKey: .end)
  }
}

extension Message {
  /// Returns the text, in which the encoder's ``Warning/naming`` supplies the names of settings.
  package func text(for encoder: any Encoder) -> String {
    let naming = Warning.naming.flatMap { encoder.userInfo[$0] } as? @Sendable (Setting) -> String
    return naming.map { self.naming($0) } ?? description
  }
}

extension Array where Element: Hashable {
  /// Elements without duplicates, in the order in which they first appear. For example, several
  /// streams and legs may have the same warning.
  package var unique: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}

extension [Warning] {
  /// Throws an error if `isStrict` is true (`--strict`) and at least one warning is about a loss.
  /// - Throws: ``RetrogradeError`` of code `damagedInput`, with the text of the first warning about
  ///   a loss.
  package func check(isStrict: Bool, _ source: String) throws {
    guard isStrict, let loss = first(where: \.isLoss) else { return }
    throw RetrogradeError(.damagedInput, about: source, "\(loss.message) (\(setting: .isStrict))")
  }
}
