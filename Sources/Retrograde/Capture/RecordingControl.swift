import GStreamer
import MediaTime
import RetrogradeEngine
import Synchronization

/// Times at which a live source is recorded: from the end of a countdown until there is enough, or until the
/// user stops it.
final class RecordingControl: Sendable {
  enum Decision { case later, now, never }

  fileprivate struct State {
    /// When the first frame came.
    var opened: ClockTime?
    /// When the first frame that is kept came.
    var began: ClockTime?
    var frames = FrameCount()
    var isOver = false
    var isWindowClosed = false
    var reported: ClockTime?

    /// Whether it is time to say how far it is: ten times a second is enough.
    mutating func isDue(_ now: ClockTime) -> Bool {
      guard reported.map({ now - $0 >= .milliseconds(100) }) ?? true else { return false }
      reported = now
      return true
    }
  }

  private let countdown: ClockTime
  private let frames: Int?
  private let duration: ClockTime?
  private let work: Work
  private let watch = Stopwatch()
  private let state = Mutex(State())

  /// - Parameters:
  ///   - countdown: how long frames come before any is kept.
  ///   - frames: how many are kept at the most; nil: any number.
  ///   - duration: for how long; nil: for any time.
  init(countdown: ClockTime, frames: Int?, duration: ClockTime?, _ work: Work) {
    self.countdown = countdown
    self.frames = frames
    self.duration = duration
    self.work = work
  }

  /// Ends the recording; the recorded frames stay.
  func stop() { state.withLock { $0.isOver = true } }

  var isOver: Bool { state.withLock { $0.isOver } }

  /// How many frames the source had and could not give.
  var lost: Int { state.withLock { $0.frames.lost } }

  /// When the first frame that was kept came, in the source's time.
  var start: ClockTime? { state.withLock { $0.began } }

  /// Decision about a frame. The source's own clock counts, so that nothing has to wait.
  func takes(_ sample: Sample) -> Decision {
    let time = sample.streamTime ?? .zero
    let (decision, waited): (Decision, ClockTime) = state.withLock { state in
      if state.isOver { return (.never, .zero) }
      let opened = state.opened ?? time
      state.opened = opened
      guard time - opened >= countdown else { return (.later, time - opened) }
      let began = state.began ?? time
      state.began = began
      if let duration, time - began >= duration {
        state.isOver = true
        return (.never, .zero)
      }
      state.frames.add(time, number: sample.buffer.offset)
      return (.now, .zero)
    }
    if case .later = decision, state.withLock({ $0.isDue(watch.elapsed) }) {
      work.report(.countdown, position: waited, duration: countdown, since: watch)
    }
    return decision
  }

  /// Notes that a frame was kept.
  /// - Parameter count: how many there are now.
  func took(_ count: Int) {
    let position: ClockTime? = state.withLock { state in
      if let frames, count >= frames { state.isOver = true }
      guard state.isDue(watch.elapsed) || state.isOver else { return nil }
      return (state.frames.last ?? .zero) - (state.began ?? .zero)
    }
    guard let position else { return }
    work.report(
      .capturing, done: count, of: frames ?? 0, position: position, duration: duration ?? .zero, since: watch)
  }

  /// True if `error` came of closing the preview's window, which ends the recording. GStreamer's sinks report
  /// it by an error, and the elements before them fail too then.
  func isWindowClosed(_ error: GStreamerError) -> Bool {
    state.withLock { state in
      if state.began != nil, error.message.contains("window was closed") { state.isWindowClosed = true }
      return state.isWindowClosed
    }
  }
}
