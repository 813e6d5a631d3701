import MediaTime
import RetrogradeEngine

/// Places at which an output's frames are cut into segments: near the source's groups of pictures, so that
/// few frames are decoded for two segments, and at any frame where those are far apart.
struct SegmentCuts: Sendable {
  /// When each frame is shown, in units of the track's time, and last of all when the output ends; the first is on show from 0 on.
  let times: [Int]
  /// The same, to the nanosecond.
  let shown: [TimeSpan]
  let timescale: Int
  /// The frames of each segment.
  let segments: [Range<Int>]

  /// How long the pieces are in which a segment is given out while it is made, about.
  static let piece = ClockTime.milliseconds(250)

  /// Share by which a segment may be shorter or longer than it should, so that it begins with a group of
  /// pictures.
  private static let tolerance = 0.25
  /// Lengths of the first segments, in parts of the usual length: playback begins when all of one is there.
  private static let beginning = [0.25, 0.5]

  init(_ played: PlayedFrames, target: ClockTime, timescale: Int) {
    self.timescale = timescale
    let frames = played.frames
    // A frame that begins in the same unit as the one before is made a unit later.
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

  /// Cuts of frames of which only the times are known.
  init(times: [Int], timescale: Int, segments: [Range<Int>]) {
    (self.times, self.timescale, self.segments) = (times, timescale, segments)
    shown = zip(times, times.dropFirst()).map {
      TimeSpan(start: ClockTime(sampleIndex: $0, rate: timescale), end: ClockTime(sampleIndex: $1, rate: timescale))
    }
  }

  /// - Parameters:
  ///   - times: when each frame is shown, and the end.
  ///   - usual: how long a segment is.
  ///   - canCut: whether the frames from one on need none that is decoded for those before.
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
      // The frames with which the next segment may begin.
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

  /// Which of `frames` is shown from `time` on; nil where it is the one before them, which is still on show.
  func place(of time: ClockTime, among frames: Range<Int>) -> Int? {
    // Times of stretches that are played at other speeds are rounded.
    let limit = time + ClockTime(nanoseconds: 1000)
    return shown[frames].lastIndex { $0.start <= limit }
  }

  /// Frames per second, on average.
  var frameRate: Double {
    guard let first = times.first, let last = times.last, last > first else { return 25 }
    return Double(times.count - 1) * Double(timescale) / Double(last - first)
  }

  /// When a segment is shown.
  func segment(_ number: Int) -> SegmentedMirror.Segment {
    let frames = segments[number]
    let start = ClockTime(sampleIndex: times[frames.lowerBound], rate: timescale)
    return .init(start: start, duration: ClockTime(sampleIndex: times[frames.upperBound], rate: timescale) - start)
  }

  /// The frames with which the pieces of a segment begin: those that are on show at its start, a ``piece`` later, and so on; where a frame is on
  /// show for longer, more than one piece begins with it.
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

  /// When each frame is shown, rounded to the track's time.
  var starts: [ClockTime] { times.dropLast().map { ClockTime(sampleIndex: $0, rate: timescale) } }

  var all: [SegmentedMirror.Segment] { segments.indices.map(segment) }
}
