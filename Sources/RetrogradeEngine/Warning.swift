import MediaTime

/// A promise of the source that the mirror does not keep as it was: the kind, the amount, and the time.
public struct Warning: Sendable, Hashable, CustomStringConvertible {
  /// Kind of warning. The raw values are stable: programs may act on them.
  public struct Code: RawRepresentable, Sendable, Hashable, Codable {
    public var rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The source ends before its container says that it does.
    public static let truncated = Code(rawValue: "truncated")
    /// Packets or frames can't be read or decoded.
    public static let damaged = Code(rawValue: "damaged")
    /// A whole stream of the source is not in the mirror.
    public static let streamLeftOut = Code(rawValue: "stream-left-out")
    /// No plugin is installed for a stream.
    public static let missingPlugin = Code(rawValue: "missing-plugin")
    /// Data that describes or goes with the streams is not in the mirror: chapters, cover art, transparency,
    /// captions, timecode.
    public static let detailLeftOut = Code(rawValue: "detail-left-out")
    /// Frames, samples or times were changed so that they fit: another size, layout or rate on the way.
    public static let converted = Code(rawValue: "converted")
    /// Times that contradict each other were corrected; nothing is missing.
    public static let timesRepaired = Code(rawValue: "times-repaired")
    /// Not everything that was given to the encoder reached the file.
    public static let notWritten = Code(rawValue: "not-written")
    /// The output is longer than the place takes that it is made for.
    public static let tooLong = Code(rawValue: "too-long")
    /// A live source counted frames that it did not give.
    public static let lost = Code(rawValue: "lost")
  }

  public var code: Code
  public var message: Message
  /// How many frames, sample frames or packets it is about, where that is known.
  public var count: Int?
  /// When, in the source's time, where that is known.
  public var span: TimeSpan?

  public init(_ code: Code, _ message: Message, count: Int? = nil, span: TimeSpan? = nil) {
    self.code = code
    self.message = message
    self.count = count
    self.span = span
  }

  public var description: String { message.description }

  /// True if the mirror lacks something: for all warnings but corrected times.
  public var isLoss: Bool { code != .timesRepaired }
}

/// Encoded as an object of `code`, `message` and, where they are known, `count`, and `start` and `end` in
/// seconds.
extension Warning: Codable {
  /// In an encoder's `userInfo`: a `@Sendable (Setting) -> String` that says what settings are called in messages.
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
  /// The whole text, with the names of settings that the encoder's user asked for: ``Warning/naming``.
  package func text(for encoder: any Encoder) -> String {
    let naming = Warning.naming.flatMap { encoder.userInfo[$0] } as? @Sendable (Setting) -> String
    return naming.map { self.naming($0) } ?? description
  }
}

extension Array where Element: Hashable {
  /// The warnings, each once, in the order in which they came: several streams and legs may say the same.
  package var unique: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}

extension [Warning] {
  /// Check of `--strict`: that nothing is missing.
  /// - Throws: ``RetrogradeError`` of code `damagedInput`, in the words of the first warning that is about a
  ///   loss.
  package func check(isStrict: Bool, _ source: String) throws {
    guard isStrict, let loss = first(where: \.isLoss) else { return }
    throw RetrogradeError(.damagedInput, about: source, "\(loss.message) (\(setting: .isStrict))")
  }
}
