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
  /// End of the audible range in stream time; nil if ``duration`` or the stream determines it.
  package var end: ClockTime?
  /// Number of sample frames that the decoder outputs if it trims nothing and no packet is missing.
  /// Nil if unknown; then this information always applies.
  package var ifDecoded: Int?
  /// True if the parser lets the decoder trim priming and padding.
  package var isTrimmedByParser = false

  package init(delay: ClockTime = .zero, duration: ClockTime? = nil, ifDecoded: Int? = nil) {
    self.delay = delay
    self.duration = duration
    self.ifDecoded = ifDecoded
  }

  /// Part of this information that applies if the decoder outputs `count` sample frames.
  package func applying(toDecoded count: Int) -> GaplessInfo {
    guard let ifDecoded, count != ifDecoded else { return self }
    if isTrimmedByParser { return GaplessInfo() }
    // Damage does not change the priming. If there is more audio than declared, such as from a
    // concatenated file, the end of the audible range is unknown.
    var info = self
    if count > ifDecoded { info.duration = nil }
    return info
  }
}
