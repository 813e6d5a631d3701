/// How a player chooses among the streams of a kind (RFC 9559, 5.1.4.1.5 and 5.1.4.1.6; ISO/IEC 14496-12, 8.3.2).
package struct Disposition: Hashable, Sendable, Codable {
  /// Played by default.
  package var isDefault: Bool
  /// Shown whatever the viewer chooses, as subtitles of passages in a foreign language are. MP4 has no such
  /// mark.
  package var isForced: Bool

  package init(isDefault: Bool = true, isForced: Bool = false) {
    self.isDefault = isDefault
    self.isForced = isForced
  }
}
