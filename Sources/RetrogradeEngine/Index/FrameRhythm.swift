import GStreamer
import MediaTime

/// How the frames of a video follow each other.
struct FrameRhythm: Sendable {
  /// From one frame to the next, at the end.
  private let median: ClockTime
  /// Whether those at the end are all shown equally long, to the millisecond that containers round to.
  private let isConstant: Bool
  /// The frames per second where all are; nil where they are not.
  private let rate: FrameRate?

  /// Number of frames before the last one by which the length of that is judged. Not all of them: a pass over
  /// only the end of a source is to come to the same.
  static let length = 100
  /// Differences up to this are rounding of containers.
  static let rounding = ClockTime.milliseconds(2)

  /// - Parameter times: when frames are shown, ascending.
  init(_ times: [ClockTime]) {
    let last = times.suffix(FrameRhythm.length + 1)
    let gaps = zip(last, last.dropFirst()).map { $1 - $0 }.sorted()
    let median = gaps.isEmpty ? .milliseconds(40) : gaps[gaps.count / 2]
    let isConstant = gaps.count > 1 && (gaps.last ?? .zero) - (gaps.first ?? .zero) < FrameRhythm.rounding
    let isEven =
      isConstant
      && zip(times, times.dropFirst()).allSatisfy {
        let gap = $1 - $0
        return max(gap, median) - min(gap, median) < FrameRhythm.rounding
      }
    let whole = (times.last ?? .zero) - (times.first ?? .zero)
    rate = isEven ? FrameRate(guessing: ClockTime(nanoseconds: whole.nanoseconds / Int64(times.count - 1))) : nil
    (self.median, self.isConstant) = (median, isConstant)
  }

  /// Duration of the last frame.
  /// - Parameters:
  ///   - own: the packet's.
  ///   - isDeclared: the container states it. A parser makes up a duration, which counts only if the frames are uneven.
  func lastDuration(_ own: ClockTime?, isDeclared: Bool) -> ClockTime {
    // Parsers take a variable rate's time base for its rate: no frame is meant to be shown for less than a millisecond.
    guard let own, own >= .milliseconds(1) else { return median }
    guard isConstant else { return own }
    let isLikeTheOthers = max(own, median) - min(own, median) < FrameRhythm.rounding
    return isDeclared && !isLikeTheOthers ? own : median
  }

  /// `caps` with frames per second that can be meant.
  ///
  /// Encoders of a variable rate name its time base, and h264parse believes them (`Quirk.h264parseTimeBase`): 1000, 90000
  /// or 10⁹. AVI has no other times than that, mp4mux would count in it, in 32 bits, and the frame shown last would be
  /// over at once.
  func believing(_ caps: Caps) -> Caps {
    guard let named = caps.fraction("framerate"), named.numerator > 0, named.denominator > 0 else { return caps }
    let value = Double(named.numerator) / Double(named.denominator)
    guard value > FrameRhythm.usual, value * median.seconds > FrameRhythm.excess else { return caps }
    return caps.setting("framerate", "(fraction)\(rate?.description ?? "0/1")")
  }

  /// Rates up to this one are named by those who mean them, also where frames come more slowly: by recorders of screens.
  private static let usual = 120.0
  /// Ratio of a declared rate to the frames' own above which it can't be meant.
  private static let excess = 3.0
}
