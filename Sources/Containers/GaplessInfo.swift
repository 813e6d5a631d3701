package import MediaTime

/// Part of an audio stream that is heard, where its decoder does not know that.
package struct GaplessInfo: Sendable {
  /// Time by which its timestamps are later than the audible samples.
  package var delay = ClockTime.zero
  /// Priming that the demuxer cuts off (Opus in Matroska). Audio that begins within this time after 0 is stamped 0.
  package var cut = ClockTime.zero
  /// nil: to its end.
  package var duration: ClockTime?
  /// Number of sample frames that come out of the decoder if nothing was left out yet: only then is the info
  /// to be applied; nil: in any case.
  package var ifDecoded: Int?

  package init(delay: ClockTime = .zero, duration: ClockTime? = nil, ifDecoded: Int? = nil) {
    self.delay = delay
    self.duration = duration
    self.ifDecoded = ifDecoded
  }
}
