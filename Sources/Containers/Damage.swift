package import MediaTime

/// Damaged bytes in the middle of a file.
package struct Damage: Equatable, Sendable {
  package enum Kind: Sendable {
    /// The bytes are not valid in the format; demuxers resume at the next cluster.
    case unreadable
    /// The checksum does not match.
    case altered
  }

  package var kind: Kind
  /// Offset of the first unreadable byte, or of the part with the wrong checksum.
  package var byte: Int
  /// Time of the last packet before the damage, in stream time.
  package var start: ClockTime
  /// Time of the first packet after the damage, in stream time; nil if nothing follows.
  package var end: ClockTime?

  package init(_ kind: Kind, byte: Int, start: ClockTime, end: ClockTime?) {
    self.kind = kind
    self.byte = byte
    self.start = start
    self.end = end
  }
}
