import GStreamer
import MediaTime

/// Makes frames between the frames of a leg that is played slower than its source. Each new frame
/// is a mix of its two neighbours, and is shown for as long as a frame of the source. No frames are
/// made between legs, or while the leg holds a frame.
struct Interpolation {
  /// Shortest display time of a frame; 0 if the output frame rate is not limited.
  let shortest: ClockTime
  private var ahead: VideoPlayer.Frame?
  /// Interval between a frame and the next one. `parts` is the number of frames to output in this
  /// interval, `given` the number of frames already output.
  private var between: (frame: VideoPlayer.Frame, next: VideoPlayer.Frame, parts: Int, given: Int)?

  init(limit: FrameRate?) { shortest = limit?.start(of: 1) ?? .zero }

  /// Returns the next frame; nil after the last one.
  /// - Parameter read: returns the next frame to interpolate.
  mutating func next(_ offset: ClockTime, _ read: () throws -> VideoPlayer.Frame?) throws -> VideoPlayer.Frame? {
    if let between, between.given < between.parts { return try part(of: between, offset) }
    guard let frame = try ahead ?? read() else { return nil }
    ahead = try read()
    guard let next = ahead, next.leg == frame.leg, next.caps.isEqual(frame.caps) else { return frame }
    let parts = parts(moving: frame.moving, frame.source)
    guard parts > 1 else { return frame }
    return try part(of: (frame, next, parts, 0), offset)
  }

  /// Returns the number of frames to output for a source frame, including the frame itself.
  /// - Parameters:
  ///   - moving: display time in the output, without holds.
  ///   - source: display time in the source.
  func parts(moving: TimeSpan, _ source: TimeSpan) -> Int {
    let ratio = (moving.duration / max(source.duration, shortest)).rounded()
    return ratio > 1 ? Int(exactly: ratio) ?? 1 : 1
  }

  private mutating func part(
    of step: (frame: VideoPlayer.Frame, next: VideoPlayer.Frame, parts: Int, given: Int), _ offset: ClockTime
  ) throws -> VideoPlayer.Frame {
    var frame = step.frame
    let moving = frame.moving
    func time(_ part: Int) -> ClockTime {
      moving.start + ClockTime(nanoseconds: moving.duration.nanoseconds * Int64(part) / Int64(step.parts))
    }
    frame.shown = TimeSpan(start: step.given == 0 ? frame.shown.start : time(step.given), end: time(step.given + 1))
    if step.given > 0 {
      let share = Double(step.given) / Double(step.parts)
      frame.number = nil
      frame.buffer = try frame.buffer.blended(with: step.next.buffer, share: share, frame.caps)
    }
    Buffer.retime(
      &frame.buffer, pts: frame.shown.start + offset, duration: frame.shown.duration, isMirrored: false)
    between = (step.frame, step.next, step.parts, step.given + 1)
    return frame
  }
}
