public import RetrogradeEngine

/// Findings of the comparison of a source and its mirror (the reversed file).
public struct Verification: Sendable, Codable {
  /// Requirement on a mirror, and whether the mirror meets it.
  public struct Check: Sendable, Codable {
    /// Subject of the check, such as `frames`, `times` or `audio 0`. Subjects do not change between
    /// releases, so programs can depend on them.
    public var subject: String
    public var holds: Bool
    /// Finding in words.
    public var finding: String
    /// Figures of the finding, by name, such as counts, decibels, milliseconds (`ms` in the name),
    /// sample frames or 8-bit levels.
    public var figures: [String: Double]

    init(_ subject: String, _ holds: Bool, _ finding: String, _ figures: [String: Double] = [:]) {
      self.subject = subject
      self.holds = holds
      self.finding = finding
      self.figures = figures
    }
  }

  public var source: String
  public var mirror: String
  public internal(set) var checks: [Check]
  /// Warnings that occurred while both files were read.
  public internal(set) var warnings: [Warning]

  /// True if all checks hold.
  public var isMirror: Bool { checks.allSatisfy(\.holds) }

  /// Findings of all checks that fail, in one line; nil if no check fails.
  public var difference: String? {
    let differences = checks.filter { !$0.holds }.map { "\($0.subject): \($0.finding)" }
    return differences.isEmpty ? nil : differences.joined(separator: "; ")
  }

  private enum CodingKeys: String, CodingKey {
    case source, mirror, isMirror, checks, warnings
  }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    source = try values.decode(String.self, forKey: .source)
    mirror = try values.decode(String.self, forKey: .mirror)
    checks = try values.decode([Check].self, forKey: .checks)
    warnings = try values.decode([Warning].self, forKey: .warnings)
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(source, forKey: .source)
    try values.encode(mirror, forKey: .mirror)
    try values.encode(isMirror, forKey: .isMirror)
    try values.encode(checks, forKey: .checks)
    try values.encode(warnings, forKey: .warnings)
  }

  init(source: String, mirror: String) {
    self.source = source
    self.mirror = mirror
    checks = []
    warnings = []
  }
}
