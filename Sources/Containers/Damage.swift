package import MediaTime

/// Bytes in the middle of a file that are not those written there.
package struct Damage: Equatable, Sendable {
  package enum Kind: Sendable {
    /// The bytes are nothing that the format has; demuxers go on at the next cluster.
    case unreadable
    /// Their checksum is wrong.
    case altered
  }

  package var kind: Kind
  /// The first byte that can't be read, or of the part whose checksum is wrong.
  package var byte: Int
  /// From the time of the last packet before to that of the first one after, in stream time.
  package var start: ClockTime
  /// nil if nothing follows.
  package var end: ClockTime?

  package init(_ kind: Kind, byte: Int, start: ClockTime, end: ClockTime?) {
    self.kind = kind
    self.byte = byte
    self.start = start
    self.end = end
  }
}
