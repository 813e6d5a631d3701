/// Flags by which a player chooses among several streams of the same kind (RFC 9559, 5.1.4.1.5 and
/// 5.1.4.1.6; ISO/IEC 14496-12, 8.3.2).
package struct Disposition: Hashable, Sendable, Codable {
  /// True for a stream that is played by default.
  package var isDefault: Bool
  /// True for a stream that is shown regardless of user settings, such as subtitles for
  /// foreign-language dialogue. MP4 has no such flag.
  package var isForced: Bool

  package init(isDefault: Bool = true, isForced: Bool = false) {
    self.isDefault = isDefault
    self.isForced = isForced
  }
}
