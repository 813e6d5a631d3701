import MediaTime

/// What of a stream of sound is heard, where its decoder does not know that.
package struct SoundTrim: Sendable {
  /// How much later its times are than what is heard.
  var delay = ClockTime.zero
  /// nil: to its end.
  var duration: ClockTime?
  /// That many sample frames come out of the decoder if nobody has left out anything yet, and only then is this to be done;
  /// nil: in any case.
  var ifDecoded: Int?
}
