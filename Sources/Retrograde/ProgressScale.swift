import MediaTime
import RetrogradeEngine
import Synchronization

/// A part of a run that takes time.
enum Step: Hashable, Sendable {
  case countdown, capturing, fetching, indexing, searching, reversing, finishing, joining
  /// Steps of a comparison: both files are indexed, and then each stream is read of both.
  case indexingSource, indexingMirror, comparingVideo(Int), comparingAudio(Int)

  var stage: ReversalProgress.Stage {
    switch self {
    case .countdown: .countdown
    case .capturing: .capturing
    case .fetching: .fetching
    case .indexing: .indexing
    case .searching: .searching
    case .reversing: .reversing
    case .finishing: .finishing
    case .joining: .joining
    case .indexingSource, .indexingMirror, .comparingVideo, .comparingAudio: .verifying
    }
  }
}

/// A step that is to come, and how long it takes beside the others.
struct ExpectedStep: Sendable {
  var step: Step
  var weight: Double

  init(_ step: Step, _ weight: Double) { (self.step, self.weight) = (step, weight) }
}

/// The one scale of a run, from 0 to 1, on which each of its steps has a part about as large as its part of the time. It never goes back, and
/// does not reach its end before the run does.
final class ProgressScale: Sendable {
  private struct State {
    /// Steps to come, in order; the first one is under way.
    var steps: [ExpectedStep] = []
    /// Start of the first step.
    var start = 0.0
    /// The furthest place that was told.
    var reached = 0.0
    /// When, and where, the step that is under way was first told.
    var begun: (watch: Stopwatch, place: Double)?
  }
  private let state = Mutex(State())
  private static let last = 0.999

  /// From here on these are the steps that are to come, in that order. They share the rest of the scale:
  /// later knowledge of the work does not move progress that was reported.
  func expect(_ steps: [ExpectedStep]) {
    state.withLock { state in
      state.steps = steps.filter { $0.weight > 0 }
      state.start = state.reached
      state.begun = nil
    }
  }

  /// Notes that `step` is done to a share of it, from 0 to 1; steps before it are over. One that was not
  /// expected moves nothing, unless nothing was expected: then it is all that there is.
  /// - Parameter listener: told how much of all is done, and the time left if the step's pace is that of the
  ///   rest; nil while there is none. The lock is held meanwhile, so that reports from several threads come
  ///   in order.
  func tell(_ step: Step, share: Double, _ listener: (_ fraction: Double, _ remaining: ClockTime?) -> Void) {
    state.withLock { state in
      if state.steps.isEmpty { state.steps = [ExpectedStep(step, 1)] }
      let weights = state.steps.map(\.weight)
      let unit = (1 - state.start) / weights.reduce(0, +)
      guard let place = state.steps.firstIndex(where: { $0.step == step }) else { return listener(state.reached, nil) }
      if place > 0 {
        state.start += unit * weights[..<place].reduce(0, +)
        state.steps.removeFirst(place)
        state.begun = nil
      }
      let told = state.start + unit * weights[place] * min(max(share, 0), 1)
      // NaN, from a source without length, is no place.
      if told > state.reached { state.reached = min(told, ProgressScale.last) }
      let begun = state.begun ?? (Stopwatch(), state.reached)
      state.begun = begun
      let done = state.reached - begun.place
      listener(
        state.reached, done > 0 ? .seconds(begun.watch.elapsed.seconds * (1 - state.reached) / done) : nil)
    }
  }
}
