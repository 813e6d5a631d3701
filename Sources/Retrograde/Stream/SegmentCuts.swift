import MediaTime
import RetrogradeEngine

/// Division of an output's frames into segments. If possible, segments start at the boundaries of
/// the source's groups of pictures, so that few frames are decoded twice. If no boundary is near, a
/// segment starts at any frame.
struct SegmentCuts: Sendable {
  /// Start of each frame, then the end of the output, in units of the track's timescale. The first
  /// frame starts at 0.
  let times: [Int]
  /// Start and end of each frame, exact to the nanosecond.
  let shown: [TimeSpan]
  let timescale: Int
  /// Frames of each segment.
  let segments: [Range<Int>]

  /// Approximate length of a fragment (a `moof` and `mdat` within a segment). The first fragments
  /// of a segment are delivered while its later fragments are being made.
  static let piece = ClockTime.milliseconds(250)

  /// Largest deviation of a segment's length from the target length, as a share of the target
  /// length. The deviation lets the next segment start with a group of pictures.
  private static let tolerance = 0.25
  /// Lengths of the first two segments, relative to the target length. They are short because
  /// playback begins only when a complete segment has arrived.
  private static let beginning = [0.25, 0.5]

  init(_ played: PlayedFrames, target: ClockTime, timescale: Int) {
    self.timescale = timescale
    let frames = played.frames
    // Rounding may give two frames the same start. If so, delay the later frame by one unit of the
    // timescale.
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

  /// Creates a division of frames whose exact times are unknown, from rounded times.
  init(times: [Int], timescale: Int, segments: [Range<Int>]) {
    (self.times, self.timescale, self.segments) = (times, timescale, segments)
    shown = zip(times, times.dropFirst()).map {
      TimeSpan(start: ClockTime(sampleIndex: $0, rate: timescale), end: ClockTime(sampleIndex: $1, rate: timescale))
    }
  }

  /// Divides frames into segments.
  /// - Parameters:
  ///   - times: start of each frame, then the end of the last frame, in units of the timescale.
  ///   - usual: target length of a segment, in units of the timescale.
  ///   - canCut: returns true if a segment can start at the frame of this index without decoding a
  ///     group of pictures twice: the frame and the previous one, in the order of play, are from
  ///     different groups.
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
      // Look for the first frame of the next segment, from the shortest to the longest allowed
      // length.
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

  /// Returns the index of the frame in `frames` that is shown at `time`; nil if a frame before
  /// `frames` is still shown at that time.
  func place(of time: ClockTime, among frames: Range<Int>) -> Int? {
    // Allow for a rounding error of 1 µs, because times are rounded if the playback speed is not 1.
    let limit = time + ClockTime(nanoseconds: 1000)
    return shown[frames].lastIndex { $0.start <= limit }
  }

  /// Average frames per second.
  var frameRate: Double {
    guard let first = times.first, let last = times.last, last > first else { return 25 }
    return Double(times.count - 1) * Double(timescale) / Double(last - first)
  }

  /// Returns the start and duration of segment `number`.
  func segment(_ number: Int) -> SegmentedMirror.Segment {
    let frames = segments[number]
    let start = ClockTime(sampleIndex: times[frames.lowerBound], rate: timescale)
    return .init(start: start, duration: ClockTime(sampleIndex: times[frames.upperBound], rate: timescale) - start)
  }

  /// Returns the index of the first frame of each fragment of segment `number`: the frames shown at
  /// the segment's start, one ``piece`` later, and so on. A frame longer than ``piece`` may be
  /// listed several times.
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
