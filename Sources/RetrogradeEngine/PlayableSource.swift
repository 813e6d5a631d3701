package import Containers
import GStreamer
package import MediaTime

/// Indexed source that can be played in any order, from any position.
package struct PlayableSource: Sendable {
  package let legs: PlaybackLegs
  /// Legs of the audio: equal to ``legs``, unless ``setSoundtrack(_:)`` has replaced the audio.
  package private(set) var audioLegs: PlaybackLegs
  package let video: VideoSource?
  /// Video streams after the first.
  package let furtherVideos: [VideoSource]
  package private(set) var audio: [AudioTrack]
  /// Played part of the source, in stream time; nil for all of it.
  package let range: TimeSpan?
  package var index: SourceIndex
  /// Origin of the bytes; keeps a pipe's spool file open.
  private let stored: Source?
  /// Facts in the file's bytes that GStreamer does not report; nil for joined or non-file sources.
  package var facts: ContainerFacts? { stored?.facts }
  /// True if the source is one file that GStreamer reads directly, not from the spool.
  package var isReadInPlace: Bool { stored.map { $0.path == Address.path(of: $0.name) } ?? false }
  /// Joined sources, in order; empty if this is a single source.
  package internal(set) var parts: [PlayableSource] = []
  /// Number of bytes that were fetched into the spool, from the network or through a playlist; nil
  /// if no bytes were fetched.
  package var fetchedBytes: Int? {
    let all = [stored?.fetched?.size].compactMap { $0 } + parts.compactMap(\.fetchedBytes)
    return all.isEmpty ? nil : all.reduce(0, +)
  }

  /// Indexes only the part of a source that is to be played, or the whole source if necessary.
  ///
  /// - Parameters:
  ///   - seam: stream time at which this source stops, because another source plays the rest; nil
  ///     if this source plays to its end.
  ///   - progress: called with the progress of indexing.
  /// - Throws: ``RetrogradeError``.
  package init(
    _ opened: OpenedSource, _ settings: PlaybackSettings, until seam: ClockTime? = nil,
    progress: @escaping @Sendable (IndexProgress) -> Void
  ) throws {
    let indexer = opened.indexer(settings, givesWay: true, progress: progress)
    if let index = try PlayableSource.stretch(indexer, settings),
      let parts = try PlayableSource.exactParts(index, settings, seam)
    {
      self = try PlayableSource(opened, index, parts, settings)
      return
    }
    var index = try PlayableSource.index(all: opened, indexer)
    // The start and end of the played part refer to frame numbers or times in the full index. If
    // packets have no times, get the times from the decoder.
    if settings.playback.start != nil || settings.playback.end != nil { try index.askDecoderForTimes(settings) }
    let parts = try SourceParts(index, settings, PlayableSource.range(in: index, settings.playback), until: seam)
    self = try PlayableSource(opened, index, parts, settings)
  }

  /// Creates a source that plays exactly as with a full index, but reads only part of a long file
  /// if possible.
  package init(
    quickly opened: OpenedSource, _ settings: PlaybackSettings,
    progress: @escaping @Sendable (IndexProgress) -> Void
  ) throws {
    if let index = try QuickIndex.make(opened, settings, progress) {
      do {
        let parts = try SourceParts(index, settings, nil)
        if parts.isExact {
          self = try PlayableSource(opened, index, parts, settings)
          return
        }
      } catch let error as RetrogradeError where error.code == .damagedInput {
        Log.index.info("\(opened.name): all of it is indexed: \(error.message)")
      }
    }
    self = try PlayableSource(opened, settings, progress: progress)
  }

  static func index(all opened: OpenedSource, _ indexer: Indexer) throws -> SourceIndex {
    do {
      return try indexer.run()
    } catch let error as RetrogradeError where error.code == .damagedInput {
      guard let links = opened.stored.facts.report?.links, links > 1 else { throw error }
      throw RetrogradeError(
        .damagedInput,
        about: opened.name, "consists of \(links) Ogg files joined together, with different streams",
        remedy: "split it into these files, and reverse each file",
        underlying: error.underlying)
    }
  }

  /// Returns an index of only the part to be played; nil if the whole source has to be indexed.
  static func stretch(_ indexer: Indexer, _ settings: PlaybackSettings) throws -> SourceIndex? {
    let playback = settings.playback
    // A full index is needed if nothing is trimmed, or if a forward leg is copied, which is always
    // copied whole. Positions other than times, such as frame numbers, also need a full index.
    guard !settings.output.keepsForwardWhole, playback.start != nil || playback.end != nil,
      playback.start.map({ $0.time != nil }) ?? true, playback.end.map({ $0.time != nil }) ?? true
    else { return nil }
    let (start, end) = (playback.start?.time ?? .zero, playback.end?.time)
    guard end.map({ start < $0 }) ?? true else { return nil }
    do {
      guard let stretches = try RangeIndexer(indexer) else { return nil }
      return try stretches.index(from: start + stretches.start, to: end.map { $0 + stretches.start })
    } catch let error as InexactRange {
      Log.index.info("\(indexer.topology.source): all of it is indexed: \(error.reason)")
      return nil
    }
  }

  /// Returns the streams of a partly indexed source; nil if the whole source has to be indexed
  /// instead.
  private static func exactParts(
    _ index: SourceIndex, _ settings: PlaybackSettings, _ seam: ClockTime?
  ) throws -> SourceParts? {
    do {
      let parts = try SourceParts(index, settings, range(in: index, settings.playback), until: seam)
      return parts.isExact ? parts : nil
    } catch let error as RetrogradeError where error.code == .damagedInput || error.code == .usage {
      // Index the whole source instead, because the full pass describes the error better.
      return nil
    }
  }

  private init(
    _ opened: OpenedSource, _ index: SourceIndex, _ parts: SourceParts, _ settings: PlaybackSettings
  ) throws {
    var index = index
    index.warnings += parts.warnings + opened.stored.warnings
    index.compare(with: opened, parts.videos, settings)
    try opened.stored.fetched?.check(index.warnings)
    try self.init(
      opened.name, index, parts, settings.playback, count: settings.count, for: settings.output, stored: opened.stored)
  }

  /// Creates a source from an existing index.
  package init(
    _ input: String, _ index: SourceIndex, _ video: VideoSource?, playback: PlaybackOptions, count: Int?,
    for output: OutputRequirements = OutputRequirements(), range: TimeSpan? = nil, stored: Source? = nil
  ) throws {
    try self.init(
      input, index, SourceParts(video, range ?? PlayableSource.range(in: index, playback)), playback, count: count,
      for: output, stored: stored)
  }

  /// - Parameter whole: span of the presentation; nil to use the range of `parts`, or the span of
  ///   all streams if `parts` has no range.
  init(
    _ input: String, _ index: SourceIndex, _ parts: SourceParts, _ playback: PlaybackOptions, count: Int?,
    for output: OutputRequirements, stored: Source?, whole: TimeSpan? = nil
  ) throws {
    try playback.checkScore()
    guard count.map(PlaybackLegs.counts.contains) ?? true else {
      throw RetrogradeError(
        .usage, "a loop can be played \(PlaybackLegs.counts.lowerBound) to \(PlaybackLegs.counts.upperBound) times")
    }
    let presentation =
      try (whole ?? parts.range).map { Presentation($0) } ?? PlayableSource.presentation(input, index, parts.videos)
    let places = SourcePlaces(
      span: presentation.span, frames: parts.video?.timeline.starts, chapters: index.chapters)
    let timeline = parts.video?.shown.timeline
    func legs(_ frameRate: FrameRate? = nil) throws -> PlaybackLegs {
      PlaybackLegs(
        try (playback.score ?? playback.loop.score).legs(places), count: count, presentation, timeline: timeline,
        dropsSeam: playback.dropsSeam ?? output.isRepeated, keepsForwardWhole: output.keepsForwardWhole,
        joint: playback.joint ?? (playback.score == nil ? .zero : Score.joint), dissolve: playback.dissolve,
        interpolates: playback.interpolation != nil, keepsPitch: playback.keepsPitch, frameRate: frameRate)
    }
    let all = try legs()
    let rate = FrameRateLimit(playback, output).rate(of: (timeline?.frameRate ?? 0) * all.meanSpeed)
    self.legs = playback.score?.changesSpeed ?? false ? try legs(rate) : all
    audioLegs = self.legs
    audio = index.audio.filter { !$0.frames(during: presentation.span).isEmpty }
    self.index = index
    range = parts.range
    video = parts.video
    furtherVideos = parts.further
    self.stored = stored
  }

  /// Replaces the audio with a soundtrack. The soundtrack plays once, unchanged, until the
  /// soundtrack or the output ends.
  /// - Returns: how long the output continues after the soundtrack; 0 if the soundtrack is long
  ///   enough, or the output is endless.
  package mutating func setSoundtrack(_ soundtrack: PlayableSource) -> ClockTime {
    let span = soundtrack.legs.presentation.span
    let length = min(legs.duration ?? span.duration, span.duration)
    let leg = PlaybackLeg(
      direction: .forward, span: TimeSpan(start: span.start, end: span.start + length), start: .zero)
    audioLegs = PlaybackLegs([leg], count: 1, Presentation(leg.span), timeline: nil)
    audio = soundtrack.audio
    index.audio = soundtrack.audio
    return (legs.duration ?? length) - length
  }

  /// Average frames per second of the output.
  package var frameRate: Double {
    let rate = (video?.shown.timeline.frameRate ?? 0) * legs.meanSpeed
    return min(legs.frameRate?.value ?? rate, rate)
  }

  /// End of the whole source, in stream time. If the end was not indexed, this is the later one of
  /// the indexed end and the end that the container declares.
  package var sourceEnd: ClockTime {
    let known = index.presentationEnd
    guard index.part?.reachesEnd == false else { return known }
    return max(stored?.facts.report?.presentationEnd ?? known, known)
  }

  /// All video streams.
  package var videos: [VideoSource] { [video].compactMap { $0 } + furtherVideos }

  package var warnings: [Warning] { index.warnings + videos.flatMap(\.warnings) }

  /// Returns the part of the source to play, in stream time; nil for all of it.
  static func range(in index: SourceIndex, _ playback: PlaybackOptions) throws -> TimeSpan? {
    guard playback.start != nil || playback.end != nil else { return nil }
    let whole = TimeSpan(start: index.presentationStart, end: index.presentationEnd)
    let places = SourcePlaces(span: whole, frames: index.video?.starts, chapters: index.chapters)
    let range = TimeSpan(
      start: max(try places.time(of: playback.start ?? .start, for: .start), whole.start),
      end: min(try places.time(of: playback.end ?? .end, for: .end), whole.end))
    guard range.start < range.end else {
      throw RetrogradeError(
        .usage,
        "\(setting: .start) must be before \(setting: .end) and before the end of the source, which is "
          + "\(whole.duration) long"
      )
    }
    return range
  }

  private static func presentation(
    _ input: String, _ index: SourceIndex, _ videos: [VideoSource]
  ) throws -> Presentation {
    let spans =
      index.audio.map(\.span)
      + videos.compactMap { video in
        video.timeline.starts.first.map { TimeSpan(start: $0, end: video.timeline.end) }
      }
    guard let start = spans.map(\.start).min(), let end = spans.map(\.end).max(), start < end else {
      throw RetrogradeError(.damagedInput, about: input, "contains no video or audio that can be read")
    }
    return Presentation(TimeSpan(start: start, end: end))
  }
}
