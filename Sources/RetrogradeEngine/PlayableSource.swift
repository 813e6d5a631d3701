import Containers
import GStreamer
package import MediaTime

/// A source that has been indexed, and can be played in any order of play, from any place.
package struct PlayableSource: Sendable {
  package let legs: PlaybackLegs
  package let video: VideoSource?
  /// The video streams after the first.
  package let furtherVideos: [VideoSource]
  package let audio: [AudioTrack]
  package var index: SourceIndex
  /// Keeps what came through a pipe.
  private let source: Source?

  /// - Parameters:
  ///   - count: how often the loop is played; nil for ever.
  ///   - seam: what is shown from there on, in stream time, is played by somebody else; nil: nothing.
  ///   - progress: told how far the index is, in stream time.
  /// - Throws: ``RetrogradeError``.
  package init(
    _ input: String, playback: PlaybackOptions, count: Int?, for output: OutputRequirements = OutputRequirements(),
    resources: Resources, gauge: MemoryGauge, cancellation: Cancellation, until seam: ClockTime? = nil,
    progress: @escaping @Sendable (ClockTime) -> Void
  ) throws {
    guard !(playback.noAudio && playback.noVideo) else {
      throw RetrogradeError(.usage, "without video and without audio, nothing is left")
    }
    let stored = try Source(
      input, sequenceRate: playback.sequenceRate, resources: resources, cancellation: cancellation)
    let topology: Topology
    do {
      topology = try Topology(probing: stored.path, stored.sourceDescription, stored.facts, cancellation)
    } catch let error as RetrogradeError where error.code == .damagedInput && stored.facts.lacksIndex {
      throw RetrogradeError(
        .damagedInput,
        about: input, "its index (moov) is missing: the file was cut, or recording it was not finished",
        remedy:
          "get the whole file, or have the index made anew from another file of the same device: nothing else tells where its "
          + "frames begin",
        underlying: error.underlying)
    }
    let indexer = Indexer(
      topology: topology, playback: playback, holdsAlpha: output.holdsAlpha, holdsImages: stored.holdsImages,
      takesPackets: output.takesPackets, spoolDirectory: resources.spoolDirectory, cancellation: cancellation,
      progress: progress)
    let opening = Opening(playback, output, resources, gauge, cancellation, seam)
    if let index = try PlayableSource.stretch(indexer, playback, output),
      let parts = try PlayableSource.exactParts(opening, index)
    {
      self = try PlayableSource(input, index, parts, opening, stored, topology, count)
      return
    }
    let index: SourceIndex
    do {
      index = try indexer.run()
    } catch let error as RetrogradeError where error.code == .damagedInput {
      guard let links = stored.facts.report?.links, links > 1 else { throw error }
      throw RetrogradeError(
        .damagedInput,
        about: input, "holds \(links) Ogg files, one after the other, with different streams",
        remedy: "cut it into those, and mirror each",
        underlying: error.underlying)
    }
    self = try PlayableSource(input, index, Parts(opening, index), opening, stored, topology, count)
  }

  /// The index of no more of the source than is to be played; nil where all of it is to be indexed.
  private static func stretch(
    _ indexer: Indexer, _ playback: PlaybackOptions, _ output: OutputRequirements
  ) throws -> SourceIndex? {
    // Frames are counted from the first one on, and what is copied is copied whole.
    guard !output.keepsForwardWhole, playback.start != nil || playback.end != nil,
      playback.start.map({ $0.time != nil }) ?? true, playback.end.map({ $0.time != nil }) ?? true
    else { return nil }
    let (start, end) = (playback.start?.time ?? .zero, playback.end?.time)
    guard end.map({ start < $0 }) ?? true else { return nil }
    do {
      guard let stretches = try StretchIndexer(indexer) else { return nil }
      return try stretches.index(from: start + stretches.start, to: end.map { $0 + stretches.start })
    } catch let error as AudioFit.Inexact {
      Log.index.info("\(indexer.topology.source): all of it is indexed: \(error.reason)")
      return nil
    }
  }

  /// The parts of a source of which a stretch was indexed; nil where they can't be read in windows.
  private static func exactParts(_ opening: Opening, _ index: SourceIndex) throws -> Parts? {
    let parts: Parts
    do {
      parts = try Parts(opening, index)
    } catch let error as RetrogradeError where error.code == .damagedInput || error.code == .usage {
      // What is wrong is said better by whoever has read all of it.
      return nil
    }
    let isExact = parts.videos.allSatisfy { $0.store == nil } && parts.warnings.isEmpty
    return isExact ? parts : nil
  }

  /// With what a source is opened.
  private struct Opening {
    let playback: PlaybackOptions
    let output: OutputRequirements
    let resources: Resources
    let gauge: MemoryGauge
    let cancellation: Cancellation
    let seam: ClockTime?

    init(
      _ playback: PlaybackOptions, _ output: OutputRequirements, _ resources: Resources, _ gauge: MemoryGauge,
      _ cancellation: Cancellation, _ seam: ClockTime?
    ) {
      self.seam = seam
      self.playback = playback
      self.output = output
      self.resources = resources
      self.gauge = gauge
      self.cancellation = cancellation
    }
  }

  /// The video streams of a source, ready to be decoded, and what of it is played.
  private struct Parts {
    let range: TimeSpan?
    var video: VideoSource?
    var further: [VideoSource] = []
    var warnings: [Warning] = []
    var videos: [VideoSource] { [video].compactMap { $0 } + further }

    /// - Parameter range: what of the source is played; nil: what was asked for.
    init(_ opening: Opening, _ index: SourceIndex, _ range: TimeSpan? = nil) throws {
      let range = try range ?? PlayableSource.range(in: index, opening.playback)
      self.range = range
      // One budget for all that is decoded at once.
      let shared = opening.resources.shared(by: 1 + index.furtherVideos.count)
      let rate = FrameRateLimit(opening.playback, opening.output)
      let read = range ?? opening.seam.map { TimeSpan(start: index.presentationStart, end: $0) }
      func source(_ stream: VideoIndex, _ recipe: DecodingRecipe) throws -> VideoSource {
        try VideoSource(
          stream, recipe, range: read, rate: rate, resources: shared, gauge: opening.gauge,
          cancellation: opening.cancellation)
      }
      video = try index.video.flatMap { stream in try index.recipe.map { try source(stream, $0) } }
      for (stream, recipe) in index.furtherVideos {
        do {
          further.append(try source(stream, recipe))
        } catch let error as RetrogradeError where error.code == .damagedInput {
          warnings.append(Warning(.streamLeftOut, "left out: a further video stream (\(error.message))"))
        }
      }
    }
  }

  private init(
    _ input: String, _ index: SourceIndex, _ parts: Parts, _ opening: Opening, _ stored: Source, _ topology: Topology,
    _ count: Int?
  ) throws {
    var index = index
    index.warnings += parts.warnings
    let playback = opening.playback
    let chapters = playback.wants(.chapters) ? stored.facts.tagChapterCount : 0
    if chapters > 0 {
      index.warnings.append(
        Warning(
          .detailLeftOut, "left out: the \(chapters) chapters in the file's ID3 tag, which GStreamer does not read",
          count: chapters))
    }
    if stored.facts.isContinuous { index.warnings += index.audio.compactMap(\.missing) }
    if let declared = stored.facts.report {
      let found = index.found(parts.videos)
      var missing: [Warning] = []
      if index.part?.reachesEnd ?? true {
        missing = declared.warnings(
          found, isDamaged: index.warnings.contains { $0.code == .damaged },
          isWhole: index.isWhole(of: declared, playback))
      }
      index.warnings += index.part == nil ? declared.missingPackets : []
      if !missing.isEmpty { index.declaredEnd = declared.presentationEnd }
      index.warnings += missing + topology.unknown(of: declared, playback) + declared.unread
      if index.part == nil { index.warnings += declared.further(after: found.map(\.end).max() ?? .zero) }
    }
    try self.init(
      input, index, parts.video, further: parts.further, playback, count: count, for: opening.output,
      range: parts.range, source: stored)
  }

  /// The end of a source, which can be played backwards at once, before all of it has been indexed.
  package struct Tail: Sendable {
    /// Its legs are those of all of the source.
    package let source: PlayableSource
    /// Where it begins, in stream time.
    package let start: ClockTime
    /// Where in the output it has been played, and what comes before it is wanted.
    package let seam: ClockTime
  }

  /// How much of the end is indexed. Sources not three times as long are indexed as fast.
  private static let tailLength = ClockTime(seconds: 8)

  /// - Returns: nil where all of the source has to be indexed first.
  /// - Throws: ``RetrogradeError``.
  package static func tail(
    _ input: String, playback: PlaybackOptions, count: Int?, resources: Resources, gauge: MemoryGauge,
    cancellation: Cancellation
  ) throws -> Tail? {
    // What comes through a pipe is gone when it has been looked at.
    guard playback.loop == .reverse, count == 1, playback.timing == .mirror, playback.start == nil, playback.end == nil,
      Source.canBeReadAgain(input)
    else { return nil }
    let stored = try Source(
      input, sequenceRate: playback.sequenceRate, resources: resources, cancellation: cancellation)
    guard let declared = stored.facts.report?.presentationEnd, declared > tailLength * 3 else { return nil }
    let output = OutputRequirements()
    do {
      let topology = try Topology(probing: stored.path, stored.sourceDescription, stored.facts, cancellation)
      let indexer = Indexer(
        topology: topology, playback: playback, spoolDirectory: resources.spoolDirectory, cancellation: cancellation,
        progress: { _ in })
      guard let stretches = try StretchIndexer(indexer) else { return nil }
      let index = try stretches.index(from: declared - tailLength, to: nil)
      let whole = TimeSpan(start: index.presentationStart, end: index.presentationEnd)
      // A group of pictures that begins there is not decoded twice.
      let keyframe = index.video.flatMap { video in
        video.starts.flatMap { starts in video.keyframes.map { starts[$0] }.first { $0 >= declared - tailLength } }
      }
      let start = keyframe ?? declared - tailLength
      guard whole.start < start, start < whole.end else { return nil }
      let range = TimeSpan(start: start, end: whole.end)
      // All pads are made of what is here.
      guard index.audio.count == stretches.trackCount,
        index.audio.allSatisfy({ !$0.frames(during: range).isEmpty }),
        index.video.map({ $0.starts?.contains { $0 >= start } ?? false }) ?? true
      else { return nil }
      let opening = Opening(playback, output, resources, gauge, cancellation, start)
      var parts = try Parts(opening, index, range)
      guard parts.videos.allSatisfy({ $0.store == nil }), parts.warnings.isEmpty else { return nil }
      let video = parts.video.take()
      let source = try PlayableSource(
        input, index, video, further: [], playback, count: count, for: output, range: range, source: stored,
        whole: whole)
      return Tail(source: source, start: start, seam: whole.end - start)
    } catch let error as AudioFit.Inexact {
      Log.index.info("\(input): all of it is indexed: \(error.reason)")
    } catch let error as RetrogradeError {
      // Whoever indexes all of it says what is wrong, and what can be played all the same.
      Log.index.info("\(input): all of it is indexed: \(error.message)")
    }
    return nil
  }

  /// A source of which all is known.
  package init(
    _ input: String, _ index: SourceIndex, _ video: VideoSource?, playback: PlaybackOptions, count: Int?,
    for output: OutputRequirements = OutputRequirements(), range: TimeSpan? = nil
  ) throws {
    try self.init(
      input, index, video, further: [], playback, count: count, for: output,
      range: range ?? PlayableSource.range(in: index, playback), source: nil)
  }

  private init(
    _ input: String, _ index: SourceIndex, _ video: VideoSource?, further: [VideoSource], _ playback: PlaybackOptions,
    count: Int?, for output: OutputRequirements, range: TimeSpan?, source: Source?, whole: TimeSpan? = nil
  ) throws {
    guard count.map(PlaybackLegs.counts.contains) ?? true else {
      throw RetrogradeError(
        .usage, "a loop is played \(PlaybackLegs.counts.lowerBound) to \(PlaybackLegs.counts.upperBound) times")
    }
    let presentation =
      try (whole ?? range).map { Presentation($0) }
      ?? PlayableSource.presentation(input, index, [video].compactMap { $0 } + further)
    legs = PlaybackLegs(
      playback.loop, count: count, presentation, timeline: video?.shown.timeline,
      dropsSeam: playback.dropsSeam ?? output.isRepeated, keepsForwardWhole: output.keepsForwardWhole)
    audio = index.audio.filter { !$0.frames(during: presentation.span).isEmpty }
    self.index = index
    self.video = video
    furtherVideos = further
    self.source = source
  }

  /// All video streams.
  package var videos: [VideoSource] { [video].compactMap { $0 } + furtherVideos }

  package var warnings: [Warning] { index.warnings + videos.flatMap(\.warnings) }

  /// What of the source is wanted, in stream time; nil for all of it.
  private static func range(in index: SourceIndex, _ playback: PlaybackOptions) throws -> TimeSpan? {
    guard playback.start != nil || playback.end != nil else { return nil }
    func time(_ position: SourcePosition?, _ setting: Setting) throws -> ClockTime? {
      switch position {
      case nil: return nil
      case .time(let time): return time + index.presentationStart
      case .frame(let frame):
        guard let starts = index.video?.starts else {
          throw RetrogradeError(
            .usage, "\(setting: setting) \(frame)f: the source has no frames that can be counted", remedy: "use seconds"
          )
        }
        if frame >= starts.count { return index.presentationEnd }
        return starts[frame]
      }
    }
    let range = TimeSpan(
      start: try time(playback.start, .start) ?? index.presentationStart,
      end: min(try time(playback.end, .end) ?? index.presentationEnd, index.presentationEnd))
    guard range.start < range.end else {
      throw RetrogradeError(
        .usage,
        "\(setting: .start) must lie before \(setting: .end) and before the end of the source, which is \(index.presentationEnd) long"
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
      throw RetrogradeError(.damagedInput, about: input, "no video and no audio can be read from it")
    }
    return Presentation(TimeSpan(start: start, end: end))
  }
}

extension SourceIndex {
  /// What was found of each stream, to be compared with what the container says. How many frames there are is only known where all
  /// of them were indexed.
  fileprivate func found(_ videos: [VideoSource]) -> [ContainerReport.Found] {
    videos.map {
      ContainerReport.Found(kind: .video, frames: part == nil ? $0.timeline.count : nil, end: $0.timeline.end)
    } + audio.map { ContainerReport.Found(kind: .audio, frames: nil, end: $0.span.end) }
      + subtitles.compactMap { track in
        track.cues.map(\.span.end).max().map { ContainerReport.Found(kind: .subtitles, frames: nil, end: $0) }
      }
  }

  /// Whether all streams of which the container says something are here.
  fileprivate func isWhole(of declared: ContainerReport, _ playback: PlaybackOptions) -> Bool {
    let kinds = Set(declared.streams.map(\.kind))
    return playback.streams == nil
      // What was left out, with a word, may be what lasts longest.
      && !warnings.contains { [.streamLeftOut, .missingPlugin].contains($0.code) }
      && (kinds.isEmpty ? !playback.noAudio && !playback.noVideo : kinds.allSatisfy(playback.wantsAny))
  }

  private var videos: [VideoIndex] { [video].compactMap { $0 } + furtherVideos.map(\.index) }

  package var presentationStart: ClockTime {
    part?.start ?? (videos.compactMap(\.starts?.first) + audio.map(\.span.start)).min() ?? .zero
  }

  /// The latest end of any stream, as far as the packets tell.
  package var presentationEnd: ClockTime {
    let ends = videos.compactMap { video in
      video.starts.map { video.end(afterLast: $0) } ?? video.packets.compactMap(\.time).max()
    }
    return (ends + audio.map(\.span.end)).max() ?? .zero
  }
}

extension VideoTimeline {
  /// Frames per second, on average.
  package var frameRate: Double {
    guard let first = starts.first, end > first else { return 25 }
    return Double(count) / (end - first).seconds
  }
}
