import MediaTime
import RetrogradeEngine

/// Cuts a video into chunks, which are encoded separately. Cuts are between legs (parts played in
/// one direction), and at boundaries of the source's groups of pictures, so that chunks of one leg
/// share no decoded frames.
struct ChunkCuts {
  /// Range of the output that becomes one chunk.
  struct Piece: Equatable {
    /// Range in the output: from the start of the first frame to the end of the last frame.
    var span: TimeSpan
    var source: TimeSpan
    var frames: Int
  }

  private let played: PlayedFrames
  private var frames: [PlayedFrames.Frame] { played.frames }

  init(_ video: VideoSource, _ legs: PlaybackLegs, _ timing: Timing) {
    played = PlayedFrames(video, legs, timing)
  }

  /// Divides the output into pieces of nearly equal length, cut only between legs and between
  /// groups of pictures.
  /// - Parameter isWhole: true if the video can't be read in parts, so that one piece contains the
  ///   whole output.
  func pieces(_ length: ChunkLength, isWhole: Bool) -> [Piece] {
    guard let first = frames.first, let last = frames.last else { return [] }
    let length = length.time(of: last.shown.end - first.shown.start)
    let turns = frames.indices.dropFirst().filter { frames[$0].leg != frames[$0 - 1].leg }
    let stretches = zip([0] + turns, turns + [frames.count]).map { $0..<$1 }
    let starts = isWhole ? [0] : stretches.flatMap { cuts(in: $0, length) }
    return starts.enumerated().map { number, first in
      let next = number + 1 < starts.count ? starts[number + 1] : frames.count
      let end = next < frames.count ? frames[next].shown.start : frames[next - 1].shown.end
      let parts = frames[first..<next].map(\.source)
      let source = TimeSpan(
        start: parts.map(\.start).min() ?? .zero, end: parts.map(\.end).max() ?? .zero)
      return Piece(
        span: TimeSpan(start: frames[first].shown.start, end: end), source: source, frames: next - first)
    }
  }

  /// Returns the index of the first frame of each piece within one leg.
  private func cuts(in stretch: Range<Int>, _ length: ClockTime) -> [Int] {
    let start = frames[stretch.lowerBound].shown.start
    let whole = frames[stretch.upperBound - 1].shown.end - start
    // Add 0.01 because rounded frame times can make the quotient slightly too small.
    let count = max(1, Int((whole / max(length, .milliseconds(1)) + 0.01).rounded(.down)))
    let possible = stretch.dropFirst().filter { played.canCut(before: $0) }
    var found = [stretch.lowerBound]
    var nearest = 0
    for number in 1..<count {
      let target = ClockTime.seconds(whole.seconds * Double(number) / Double(count))
      func distance(_ place: Int) -> ClockTime {
        let time = frames[possible[place]].shown.start - start
        return max(time - target, target - time)
      }
      while nearest + 1 < possible.count, distance(nearest + 1) <= distance(nearest) { nearest += 1 }
      if possible.indices.contains(nearest), possible[nearest] != found.last { found.append(possible[nearest]) }
    }
    return found
  }
}

extension ChunkLength {
  /// Default length. Each chunk costs an extra keyframe, and the encoder's bit rate control starts
  /// anew with poor estimates. At this length, these two costs make the output less than 1 %
  /// larger.
  private static let usualTime = ClockTime(seconds: 60)

  /// Returns the length of one chunk of a video whose length is `whole`.
  func time(of whole: ClockTime) -> ClockTime {
    switch self {
    case .usual: ChunkLength.usualTime
    case .about(let time): time
    case .count(let count): whole / max(count, 1)
    }
  }
}
