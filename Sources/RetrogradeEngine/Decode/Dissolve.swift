import GStreamer
import MediaTime

/// Cross-dissolve from one leg to the next: the frames with which the first would go on if it did not end are
/// mixed into those of the second. Each has the share that it has at the middle of the time for which it is
/// on show.
struct Dissolve {
  private let start: ClockTime
  private let length: ClockTime
  private let player: VideoPlayer
  private var going: VideoPlayer.Frame?
  private var ahead: VideoPlayer.Frame?

  /// - Parameters:
  ///   - leg: the leg that ends; `next` follows it.
  ///   - from: where in the output to begin.
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

  /// `frame`, which is on show during `shown`, with the other frame mixed into it; nil when the dissolve is
  /// over.
  mutating func mix(into frame: Buffer, _ shown: TimeSpan, _ caps: Caps) throws -> Buffer? {
    let middle = shown.start - start + ClockTime(nanoseconds: shown.duration.nanoseconds / 2)
    guard middle < length else { return nil }
    // At the end of the source its last frame stays.
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

  /// Warnings found on the way.
  var warnings: [Warning] { player.warnings }
}

extension PlaybackLeg {
  /// Leg of the frames that would be on show for so long after the end of this one, from time 0 on: the frame
  /// that it ends on first.
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
  /// - Throws: ``RetrogradeError`` of code `usage` where frames of this form can't be mixed.
  func blended(with other: Buffer, share: Double, _ caps: Caps) throws -> Buffer {
    guard Buffer.canMix(caps) else {
      throw RetrogradeError(
        .usage, "frames of the form \(caps.string("format") ?? "that this video has") can't be mixed",
        remedy: "leave out \(setting: .dissolve) and \(setting: .interpolation)")
    }
    return try mixed(with: other, share: share, caps)
  }
}
