import Containers
import MediaTime

extension [Damage] {
  /// Margin before and after damage within which gaps are attributed to the damage. Needed because
  /// data is not in exact time order in the file: for example, audio may lag behind video.
  private static let interleaving = ClockTime.milliseconds(1000)

  /// Returns at most two warnings: one about unreadable data and the nearby gaps in the streams,
  /// and one about clusters with a wrong checksum.
  func warnings(_ videos: [VideoTimeline], _ audio: [AudioTrack]) -> [Warning] {
    let unreadable = filter { $0.kind == .unreadable }
    return [
      unreadable.first.map { unreadable.missing(from: $0, videos, audio) },
      altered(filter { $0.kind == .altered }),
    ].compactMap { $0 }
  }

  private func missing(from first: Damage, _ videos: [VideoTimeline], _ audio: [AudioTrack]) -> Warning {
    let near = map { damage in
      TimeSpan(
        start: damage.start - Self.interleaving,
        end: damage.end.map { $0 + Self.interleaving } ?? ClockTime(nanoseconds: .max))
    }
    func isNear(_ gap: TimeSpan) -> Bool { near.contains { gap.start < $0.end && $0.start < gap.end } }
    var parts: [String] = []
    var count = 0
    var spans: [TimeSpan] = []
    for timeline in videos {
      let gaps = timeline.gaps.filter { isNear($0.span) }
      let frames = gaps.reduce(0) { $0 + $1.frames }
      if frames > 0 { parts.append(frames == 1 ? "1 frame of video" : "\(frames) frames of video") }
      count += frames
      spans += gaps.map(\.span)
    }
    for track in audio {
      let gaps = track.gaps.filter { isNear(track.span(of: $0)) }
      let samples = gaps.reduce(0) { $0 + $1.count }
      guard samples > 0 else { continue }
      let length = ClockTime(sampleIndex: samples, rate: track.rate)
      parts.append("\(samples) samples (\(length.inSeconds)) of audio")
      spans += gaps.map { track.span(of: $0) }
    }
    let start = (spans.map(\.start) + [first.start]).min() ?? first.start
    let end = (spans.map(\.end) + compactMap(\.end)).max() ?? start
    let places = self.count == 1 ? "" : ", and in \(self.count - 1) more \(self.count == 2 ? "place" : "places")"
    let what =
      parts.isEmpty
      ? "the data there is" : "\(parts.joined(separator: " and ")) \(parts == ["1 frame of video"] ? "is" : "are")"
    return Warning(
      .damaged,
      "damaged: the file can't be read at byte \(first.byte)\(places): \(what) missing, "
        + "between \(start.inSeconds) and \(end.inSeconds)",
      count: count > 0 ? count : nil, span: TimeSpan(start: start, end: Swift.max(start, end)))
  }

  private func altered(_ places: [Damage]) -> Warning? {
    guard let first = places.first, let last = places.last else { return nil }
    let what =
      places.count == 1
      ? "the cluster at byte \(first.byte) has" : "\(places.count) clusters, the first at byte \(first.byte), have"
    let span = TimeSpan(start: first.start, end: Swift.max(first.start, last.end ?? first.start))
    return Warning(
      .damaged,
      "damaged: \(what) a wrong checksum: frames or audio between "
        + "\(span.start.inSeconds) and \(span.end.inSeconds) are damaged",
      span: span)
  }
}

extension VideoTimeline {
  /// Gaps in which a frame is shown too long because later frames are missing, each with the number
  /// of missing frames; empty if the frames are not evenly spaced.
  fileprivate var gaps: [(span: TimeSpan, frames: Int)] {
    let steps = zip(starts, starts.dropFirst()).map { $1 - $0 }
    guard steps.count > 1 else { return [] }
    let step = steps.sorted()[steps.count / 2].nanoseconds
    let rounding = Int64(2_000_000)
    let even = steps.count { ($0.nanoseconds - step).magnitude <= rounding.magnitude }
    guard step > 0, even * 10 >= steps.count * 9 else { return [] }
    return steps.indices.compactMap { index in
      // Round to the nearest number. The subtraction comes first, so that frames that are far apart
      // cause no overflow.
      let frames = (steps[index].nanoseconds - step + step / 2) / step
      return frames > 0
        ? (TimeSpan(start: starts[index] + ClockTime(nanoseconds: step), end: starts[index + 1]), Int(frames)) : nil
    }
  }
}
