package import MediaTime

/// Audible part of an audio stream, if the decoder does not trim it.
package struct GaplessInfo: Sendable {
  /// Time by which timestamps exceed the times of the audible samples.
  package var delay = ClockTime.zero
  /// Priming that the demuxer trims (Opus in Matroska). Audio that begins within this time after 0
  /// gets the timestamp 0.
  package var cut = ClockTime.zero
  /// Duration of the audible part; nil for the rest of the stream.
  package var duration: ClockTime?
  /// Number of decoded sample frames if nothing was trimmed: the info applies only then. Nil if it
  /// always applies.
  package var ifDecoded: Int?

  package init(delay: ClockTime = .zero, duration: ClockTime? = nil, ifDecoded: Int? = nil) {
    self.delay = delay
    self.duration = duration
    self.ifDecoded = ifDecoded
  }
}
