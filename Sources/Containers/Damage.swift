package import MediaTime

/// Damaged bytes in the middle of a file.
package struct Damage: Equatable, Sendable {
  package enum Kind: Sendable {
    /// The bytes are not valid in Matroska; demuxers resume at the next cluster.
    case unreadable
    /// The bytes do not match their checksum.
    case altered
  }

  package var kind: Kind
  /// Offset of the first unreadable byte, or of the structure with the wrong checksum.
  package var byte: Int
  /// Start of the last packet before the damage, in stream time.
  package var start: ClockTime
  /// Start of the first packet after the damage, in stream time; nil if no packet follows.
  package var end: ClockTime?

  package init(_ kind: Kind, byte: Int, start: ClockTime, end: ClockTime?) {
    self.kind = kind
    self.byte = byte
    self.start = start
    self.end = end
  }
}
