import MediaTime
import RetrogradeEngine

/// Division of an output's frames into segments. Segments start near the starts of the source's
/// groups of pictures, so that few frames are decoded twice. If the groups are long, segments start
/// at any frame.
struct SegmentCuts: Sendable {
  /// Start of each frame, then the end of the output, in units of the track's timescale. The first
  /// frame starts at 0.
  let times: [Int]
  /// Start and end of each frame, exact to the nanosecond.
  let shown: [TimeSpan]
  let timescale: Int
  /// Frames of each segment.
  let segments: [Range<Int>]

  /// Approximate length of a fragment. The first fragments of a segment are delivered while the
  /// later ones are being made.
  static let piece = ClockTime.milliseconds(250)

  /// Largest accepted deviation from the target length, as a share of that length, if the next
  /// segment then starts with a group of pictures.
  private static let tolerance = 0.25
  /// Lengths of the first segments, relative to the target length. They are short because playback
  /// begins only when a whole segment has arrived.
  private static let beginning = [0.25, 0.5]

  init(_ played: PlayedFrames, target: ClockTime, timescale: Int) {
    self.timescale = timescale
    let frames = played.frames
    // A frame that would start in the same unit as the previous frame is delayed by one unit.
    var times: [Int] = []
    times.reserveCapacity(frames.count + 1)
    for frame in frames {
      let time = max(frame.shown.start, .zero).sampleIndex(rate: timescale)
      times.append(times.last.map { max(time, $0 + 1) } ?? 0)
    }
    if let last = frames.last {
      times.append(max(last.shown.end.sampleIndex(rate: timescale), (times.last ?? 0) + 1))
    }
    self.times = times
    shown = frames.map(\.shown)
    segments = SegmentCuts.segments(
      of: times, usual: max(target.sampleIndex(rate: timescale), 1), canCut: { played.canCut(before: $0) })
  }

  /// Creates a division for which only the rounded times of frames are known.
  init(times: [Int], timescale: Int, segments: [Range<Int>]) {
    (self.times, self.timescale, self.segments) = (times, timescale, segments)
    shown = zip(times, times.dropFirst()).map {
      TimeSpan(start: ClockTime(sampleIndex: $0, rate: timescale), end: ClockTime(sampleIndex: $1, rate: timescale))
    }
  }

  /// Divides frames into segments.
  /// - Parameters:
  ///   - times: start of each frame, then the end of the last frame.
  ///   - usual: target length of a segment.
  ///   - canCut: true for an index if the frame at that index and the frame before it, in the order
  ///     of play, do not need the same group of pictures.
  static func segments(of times: [Int], usual: Int, canCut: (Int) -> Bool) -> [Range<Int>] {
    guard let end = times.last, times.count > 1 else { return [] }
    let count = times.count - 1
    var found: [Range<Int>] = []
    var first = 0
    while first < count {
      let share = found.count < beginning.count ? beginning[found.count] : 1
      let length = Double(usual) * share
      let start = Double(times[first])
      guard Double(end) - start > length * (1 + tolerance) else {
        found.append(first..<count)
        break
      }
      let ideal = start + length
      // Candidates for the first frame of the next segment.
      var place = first + 1
      while place < count, Double(times[place]) < start + length * (1 - tolerance) { place += 1 }
      var best = min(place, count - 1)
      var isGroup = false
      while place < count, Double(times[place]) <= start + length * (1 + tolerance) {
        let isBetter = abs(Double(times[place]) - ideal) < abs(Double(times[best]) - ideal)
        let canCut = canCut(place)
        if canCut && !isGroup || isBetter && canCut == isGroup { (best, isGroup) = (place, canCut) }
        place += 1
      }
      guard best > first else {
        found.append(first..<count)
        break
      }
      found.append(first..<best)
      first = best
    }
    return found
  }

  /// Index of the frame in `frames` that is shown at `time`; nil if the frame before `frames` is
  /// still shown at that time.
  func place(of time: ClockTime, among frames: Range<Int>) -> Int? {
    // Times are rounded if the speed is not 1.
    let limit = time + ClockTime(nanoseconds: 1000)
    return shown[frames].lastIndex { $0.start <= limit }
  }

  /// Average frames per second.
  var frameRate: Double {
    guard let first = times.first, let last = times.last, last > first else { return 25 }
    return Double(times.count - 1) * Double(timescale) / Double(last - first)
  }

  /// Start and duration of a segment.
  func segment(_ number: Int) -> SegmentedMirror.Segment {
    let frames = segments[number]
    let start = ClockTime(sampleIndex: times[frames.lowerBound], rate: timescale)
    return .init(start: start, duration: ClockTime(sampleIndex: times[frames.upperBound], rate: timescale) - start)
  }

  /// First frames of the fragments of a segment: the frames shown at its start, one ``piece``
  /// later, and so on. A long frame can be the first frame of several fragments.
  func pieces(of number: Int) -> [Int] {
    let frames = segments[number]
    let (start, end) = (times[frames.lowerBound], times[frames.upperBound])
    let length = max(SegmentCuts.piece.sampleIndex(rate: timescale), 1)
    var place = frames.lowerBound
    return stride(from: start, to: end, by: length).map { time in
      while place + 1 < frames.upperBound, times[place + 1] <= time { place += 1 }
      return place
    }
  }

  /// Start of each frame, rounded to the track's timescale.
  var starts: [ClockTime] { times.dropLast().map { ClockTime(sampleIndex: $0, rate: timescale) } }

  var all: [SegmentedMirror.Segment] { segments.indices.map(segment) }
}
