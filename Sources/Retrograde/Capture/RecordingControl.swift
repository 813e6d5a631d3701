import GStreamer
import MediaTime
import RetrogradeEngine
import Synchronization

/// Decides which frames of a live source are recorded: the frames from the end of the countdown
/// until a limit is reached, or the user stops the recording.
final class RecordingControl: Sendable {
  enum Decision { case later, now, never }

  fileprivate struct State {
    /// Time of the first frame that the source delivered.
    var opened: ClockTime?
    /// Time of the first frame after the countdown.
    var began: ClockTime?
    var frames = FrameCount()
    var isOver = false
    var isWindowClosed = false
    var reported: ClockTime?

    /// Returns true if the next progress report is due: at most ten a second.
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
  ///   - countdown: time before the first recorded frame.
  ///   - frames: largest number of frames to record; nil for no limit.
  ///   - duration: length of the recording; nil for no limit.
  init(countdown: ClockTime, frames: Int?, duration: ClockTime?, _ work: Work) {
    self.countdown = countdown
    self.frames = frames
    self.duration = duration
    self.work = work
  }

  /// Ends the recording. Recorded frames are kept.
  func stop() { state.withLock { $0.isOver = true } }

  var isOver: Bool { state.withLock { $0.isOver } }

  /// Number of frames that the source dropped.
  var lost: Int { state.withLock { $0.frames.lost } }

  /// Stream time of the first recorded frame; nil before that frame.
  var start: ClockTime? { state.withLock { $0.began } }

  /// Decides whether to record a frame. The frame's timestamp decides, so no thread has to wait for
  /// a clock.
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

  /// Notes that a frame was stored.
  /// - Parameter count: number of frames stored so far.
  func didKeepFrames(_ count: Int) {
    let position: ClockTime? = state.withLock { state in
      if let frames, count >= frames { state.isOver = true }
      guard state.isDue(watch.elapsed) || state.isOver else { return nil }
      return (state.frames.last ?? .zero) - (state.began ?? .zero)
    }
    guard let position else { return }
    work.report(
      .capturing, done: count, of: frames ?? 0, position: position, duration: duration ?? .zero, since: watch)
  }

  /// True if `error` is the result of closing the preview window, which ends the recording. False
  /// before the first recorded frame. After the window is closed, GStreamer's sink reports an
  /// error, and then the upstream elements report other errors. So the result is true for all
  /// errors that follow the sink's error.
  func isWindowClosed(_ error: GStreamerError) -> Bool {
    state.withLock { state in
      if state.began != nil, error.message.contains("window was closed") { state.isWindowClosed = true }
      return state.isWindowClosed
    }
  }
}
