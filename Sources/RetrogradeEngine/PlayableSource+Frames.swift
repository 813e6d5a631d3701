import MediaTime

/// Creates sources that play only the frames at the requested positions, in the order of the
/// request. Only the necessary data is read and decoded.
extension PlayableSource {
  /// - Parameters:
  ///   - places: positions inside the source; the source's end means the last frame.
  ///   - settings: settings for reading. The playback options are ignored, except the rate of
  ///     numbered images.
  ///   - progress: called with the progress of indexing.
  /// - Throws: ``RetrogradeError``. The code is `usage` if the source has no frames, or if a
  ///   position is outside the source.
  package init(
    _ opened: OpenedSource, framesAt places: [SourcePosition], _ settings: PlaybackSettings,
    progress: @escaping @Sendable (IndexProgress) -> Void
  ) throws {
    let indexer = opened.indexer(settings, progress: progress)
    if let source = try PlayableSource.near(places, opened, indexer, settings) {
      self = source
    } else {
      let index = try PlayableSource.index(all: opened, indexer)
      self = try PlayableSource.parts(places, opened, index, settings).source
    }
  }

  /// Returns a source that plays only the frames at `places`. This source must be fully indexed.
  package func frames(at places: [SourcePosition], of name: String, _ settings: PlaybackSettings) throws
    -> PlayableSource
  {
    try PlayableSource(name, index, SourceParts(video, nil), framesAt: places, settings, stored: nil)
  }

  /// Indexes only the part of the source that contains `places`.
  /// - Returns: nil if the whole source has to be indexed.
  private static func near(
    _ places: [SourcePosition], _ opened: OpenedSource, _ indexer: Indexer, _ settings: PlaybackSettings
  ) throws -> PlayableSource? {
    let times = places.compactMap(\.time)
    guard times.count == places.count, let first = times.min(), let last = times.max() else { return nil }
    var settings = settings
    (settings.playback.start, settings.playback.end) = (.time(first), .time(last + ClockTime(nanoseconds: 1)))
    guard let index = try stretch(indexer, settings) else { return nil }
    do {
      let (source, isExact) = try parts(places, opened, index, settings)
      return isExact ? source : nil
    } catch let error as RetrogradeError where error.code == .damagedInput || error.code == .usage {
      // Index the whole source instead, because the full pass describes the error better.
      return nil
    }
  }

  private static func parts(
    _ places: [SourcePosition], _ opened: OpenedSource, _ index: SourceIndex, _ settings: PlaybackSettings
  ) throws -> (source: PlayableSource, isExact: Bool) {
    var index = index
    index.furtherVideos = []
    // Decode the window of the first requested frame, to check that decoding after a seek is exact.
    let near = try index.video.flatMap { video in
      try video.starts.map { starts in
        let timeline = VideoTimeline(starts: starts, end: video.end(afterLast: starts))
        return timeline.span(of: try PlayableSource.frames(places, of: opened.name, in: timeline, index)[0])
      }
    }
    let parts = try SourceParts(index, settings, near)
    let source = try PlayableSource(opened.name, index, parts, framesAt: places, settings, stored: opened.stored)
    return (source, parts.isExact)
  }

  private init(
    _ name: String, _ index: SourceIndex, _ parts: SourceParts, framesAt places: [SourcePosition],
    _ settings: PlaybackSettings, stored: Source?
  ) throws {
    guard let timeline = parts.video?.timeline, timeline.count > 0 else {
      throw RetrogradeError(.usage, about: name, "has no video, so it has no frames")
    }
    let numbers = try PlayableSource.frames(places, of: name, in: timeline, index)
    var playback = PlaybackOptions()
    playback.score = Score(
      numbers.map { .stretch(from: .frame($0), to: $0 + 1 < timeline.count ? .frame($0 + 1) : .end) })
    var index = index
    let whole = PlayableSource.extent(index, timeline)
    (index.audio, index.subtitles, index.chapters) = ([], [], [])
    try self.init(name, index, parts, playback, count: 1, for: settings.output, stored: stored, whole: whole)
  }

  private static func extent(_ index: SourceIndex, _ timeline: VideoTimeline) -> TimeSpan {
    TimeSpan(
      start: min(index.presentationStart, timeline.starts.first ?? .zero), end: max(index.presentationEnd, timeline.end)
    )
  }

  /// Returns the numbers of the frames at `places`.
  private static func frames(
    _ places: [SourcePosition], of name: String, in timeline: VideoTimeline, _ index: SourceIndex
  ) throws -> [Int] {
    let whole = extent(index, timeline)
    let known = SourcePlaces(span: whole, frames: timeline.starts, chapters: index.chapters)
    return try places.map { place in
      if place == .end { return timeline.count - 1 }
      if case .frame(let frame) = place {
        guard frame < timeline.count else {
          throw RetrogradeError(
            .usage, about: name, "has no frame \(place): it has \(timeline.count) frames, counted from 0",
            remedy: "the last one is \(timeline.count - 1)f")
        }
        return frame
      }
      let time = try known.time(of: place)
      guard whole.start <= time, time < whole.end else {
        throw RetrogradeError(
          .usage, about: name, "is \(whole.duration) long, so there is no frame at position \(place)",
          remedy: "use a position within this length")
      }
      // At times before the first frame, the first frame is shown.
      return max(timeline.starts.endOfPrefix { $0 <= time } - 1, 0)
    }
  }
}
