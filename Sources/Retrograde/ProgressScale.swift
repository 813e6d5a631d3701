import MediaTime
import RetrogradeEngine
import Synchronization

/// Time-consuming step of a run.
enum Step: Hashable, Sendable {
  case countdown, capturing, fetching, indexing, searching, reversing, finishing, joining
  /// Steps of comparing a mirror with its source: index both files, then compare each stream. The
  /// associated value is the number of the stream.
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

/// Step that has not finished, with its expected duration relative to the other steps.
struct ExpectedStep: Sendable {
  var step: Step
  var weight: Double

  init(_ step: Step, _ weight: Double) { (self.step, self.weight) = (step, weight) }
}

/// Progress of a run on one scale from 0 to 1, shared by all steps in proportion to their expected
/// time.
///
/// The progress never decreases, and reaches 1 only when the run ends.
final class ProgressScale: Sendable {
  private struct State {
    /// Remaining steps in order; the first one is under way.
    var steps: [ExpectedStep] = []
    /// Position on the scale where the first of `steps` starts.
    var start = 0.0
    /// Highest reported position on the scale.
    var reached = 0.0
    /// Time of the first report of the current step, and position on the scale at that time.
    var begun: (watch: Stopwatch, place: Double)?
  }
  private let state = Mutex(State())
  private static let last = 0.999

  /// Sets the remaining steps, in order. These steps share the rest of the scale, so the reported
  /// progress does not jump when the expected steps change.
  func expect(_ steps: [ExpectedStep]) {
    state.withLock { state in
      state.steps = steps.filter { $0.weight > 0 }
      state.start = state.reached
      state.begun = nil
    }
  }

  /// Reports that all steps before `step` are done, and that a share of `step`, from 0 to 1, is
  /// done.
  ///
  /// If `step` is not among the expected steps, the progress stays unchanged. If no steps are
  /// expected, `step` becomes the only expected step.
  /// - Parameter listener: gets the fraction of the whole run that is done, and the remaining time
  ///   (extrapolated from the current step; nil if unknown). Called under the lock, so that reports
  ///   of several threads stay in order.
  func report(_ step: Step, share: Double, _ listener: (_ fraction: Double, _ remaining: ClockTime?) -> Void) {
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
      // This comparison is false for NaN, so NaN is ignored. A source without a length causes NaN.
      if told > state.reached { state.reached = min(told, ProgressScale.last) }
      let begun = state.begun ?? (Stopwatch(), state.reached)
      state.begun = begun
      let done = state.reached - begun.place
      listener(
        state.reached, done > 0 ? .seconds(begun.watch.elapsed.seconds * (1 - state.reached) / done) : nil)
    }
  }
}
