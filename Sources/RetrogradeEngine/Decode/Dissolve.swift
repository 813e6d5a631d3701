import GStreamer
import MediaTime

/// Cross-dissolve from one leg (one step of the order of play) to the next. Frames that would
/// continue the first leg are mixed into the frames of the second leg. The middle of each frame's
/// display time determines the proportion of the mix.
struct Dissolve {
  private let start: ClockTime
  private let length: ClockTime
  private let player: VideoPlayer
  private var going: VideoPlayer.Frame?
  private var ahead: VideoPlayer.Frame?

  /// - Parameters:
  ///   - leg: leg that ends.
  ///   - from: output time at which playback begins.
  init?(
    _ video: VideoSource, _ leg: PlaybackLeg, into next: PlaybackLeg, of legs: PlaybackLegs, from: ClockTime,
    _ cancellation: Cancellation
  ) {
    (start, length) = (next.start, min(legs.dissolve, next.duration))
    guard leg.leaps(to: next), next.heldBefore == .zero, from < start + length else { return nil }
    let rest = leg.goingOn(for: length, in: legs.presentation.span)
    player = VideoPlayer(
      video, PlaybackLegs([rest], count: 1, legs.presentation, timeline: nil), from: max(from - start, .zero),
      timing: .mirror, cancellation)
  }

  /// Returns `frame`, shown during `shown`, mixed with a frame of the ending leg; nil when the
  /// dissolve is over.
  mutating func mix(into frame: Buffer, _ shown: TimeSpan, _ caps: Caps) throws -> Buffer? {
    let middle = shown.start - start + ClockTime(nanoseconds: shown.duration.nanoseconds / 2)
    guard middle < length else { return nil }
    // After the end of the source, the ending leg continues with its last frame.
    while let next = try ahead ?? player.next() {
      guard next.shown.start <= middle else {
        ahead = next
        break
      }
      (going, ahead) = (next, nil)
    }
    guard let going else { return nil }
    return try frame.blended(with: going.buffer, share: 1 - middle / length, caps)
  }

  /// Warnings so far.
  var warnings: [Warning] { player.warnings }
}

extension PlaybackLeg {
  /// Returns a leg with the frames that would follow if this leg continued for `time`. The returned
  /// leg starts at output time 0 with the last frame of this leg.
  fileprivate func goingOn(for time: ClockTime, in presentation: TimeSpan) -> PlaybackLeg {
    let distance = heldAfter > .zero ? .zero : ClockTime(seconds: time.seconds * speed.last)
    let one = ClockTime(nanoseconds: 1)
    let span =
      direction == .forward
      ? TimeSpan(start: span.end - one, end: min(span.end + distance, max(presentation.end, span.end)))
      : TimeSpan(start: max(span.start - distance, min(presentation.start, span.start)), end: span.start + one)
    var leg = PlaybackLeg(direction: direction, span: span, start: .zero)
    leg.speed = Speed(speed.last)
    return leg
  }
}

extension Buffer {
  /// Returns a mix of both frames, with the proportion `share` of `other`.
  /// - Throws: ``RetrogradeError`` of code `usage` if frames in this format can't be mixed.
  func blended(with other: Buffer, share: Double, _ caps: Caps) throws -> Buffer {
    guard Buffer.canMix(caps) else {
      throw RetrogradeError(
        .usage,
        "frames can't be mixed in the pixel format \(caps.string("format").map { "\($0) " } ?? "")of this video",
        remedy: "leave out \(setting: .dissolve) and \(setting: .interpolation)")
    }
    return try mixed(with: other, share: share, caps)
  }
}
