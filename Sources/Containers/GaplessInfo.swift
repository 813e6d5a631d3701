package import MediaTime

/// Audible range of an audio stream whose priming and padding the decoder does not trim.
package struct GaplessInfo: Sendable {
  /// Time by which the timestamps of audible samples are late, because the decoder also outputs the
  /// priming.
  package var delay = ClockTime.zero
  /// Duration of the priming that the demuxer trims (Opus in Matroska). If the audio starts between
  /// 0 and this duration, its first timestamp is wrongly 0 (`Quirk.matroskademuxOpusStart`).
  package var cut = ClockTime.zero
  /// Duration of the audible range; nil if the range lasts to the end of the stream.
  package var duration: ClockTime?
  /// Number of sample frames that the decoder outputs if it trims nothing. If the decoder outputs
  /// another number, this information is ignored. Nil if the information always applies.
  package var ifDecoded: Int?

  package init(delay: ClockTime = .zero, duration: ClockTime? = nil, ifDecoded: Int? = nil) {
    self.delay = delay
    self.duration = duration
    self.ifDecoded = ifDecoded
  }
}
