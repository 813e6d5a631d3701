import Containers
import GStreamer
import MediaTime

/// Opened source, whose streams have been found. The source can be indexed more than once: for
/// example, the end first, and then the whole source.
package struct OpenedSource: Sendable {
  /// Name of the source for the user.
  let name: String
  /// Origin of the bytes; keeps a pipe's spool file open.
  let stored: Source
  private(set) var topology: Topology
  /// Pauses the full indexing pass during urgent work.
  let priorityGate = PriorityGate()
  /// Excerpt of the MP4 tables for the end of the source; nil if the end is not needed soon, or if
  /// an excerpt has no advantage.
  private let tail: (span: TimeSpan, excerpt: MP4Excerpt)?

  /// - Parameters:
  ///   - fetched: media that was already fetched from the address `input`.
  ///   - isPlayedSoon: true if parts of the source are played, the end first, before the whole
  ///     source is indexed (``SourceRanges``).
  /// - Throws: ``RetrogradeError``.
  package init(_ input: String, _ settings: PlaybackSettings, fetched: FetchedFile? = nil, isPlayedSoon: Bool = false)
    throws
  {
    let playback = settings.playback
    guard !(playback.noAudio && playback.noVideo) else {
      throw RetrogradeError(.usage, "\(setting: .noVideo) and \(setting: .noAudio) together leave nothing to play")
    }
    name = input
    stored = try Source(
      input, fetched: fetched, sequenceRate: playback.sequenceRate, resources: settings.resources,
      cancellation: settings.cancellation)
    // Check for a missing index first, because qtdemux can take half a minute to detect it.
    if stored.facts.lacksIndex, stored.facts.boxedImage == nil {
      throw RetrogradeError(
        .damagedInput,
        about: input, "its index (moov) is missing: the file is incomplete, or its recording was interrupted",
        remedy:
          "get the complete file, or rebuild the index with a repair program, which needs an intact recording from the "
          + "same device"
      )
    }
    let plugins =
      settings.purpose == .watching && stored.facts.isUsuallyMPEG
      ? try Worker("load plugins") { CodecPreload.load() } : nil
    defer { _ = try? plugins?.join() }
    let (path, correction) = (stored.path, stored.facts.correction)
    let span = isPlayedSoon ? SourceRanges.spanOfLastRange(of: stored.facts, settings) : nil
    let excerpt = try span.map { span in
      try Worker("excerpt") { MP4Excerpt(path, keeping: OpenedSource.kept(span), correction) }
    }
    defer { _ = try? excerpt?.join() }
    do {
      topology = try Topology(
        probing: stored.path, stored.sourceDescription, stored.facts, settings.cancellation)
      if let tags = try stored.tagsOfFirstImage(settings.resources, settings.cancellation) {
        topology = topology.labelled(tags)
      }
    } catch let error as RetrogradeError where error.code == .damagedInput && stored.facts.boxedImage != nil {
      throw RetrogradeError(
        .missingPlugin, about: input, "this image format is not supported (\(stored.facts.boxedImage ?? ""))",
        remedy: "convert the image to PNG or JPEG, or to a video if it is animated", underlying: error.underlying)
    }
    tail = try span.flatMap { span in try excerpt?.join().map { (span, $0) } }
  }

  /// Returns the source with an excerpt of its MP4 tables, which lists only the packets in the
  /// beginning of the source and in `span`.
  /// - Parameter span: range in stream time.
  /// - Returns: the source, and the omitted range (hole) between the beginning and `span`; nil if
  ///   an excerpt has no advantage.
  func excerpt(of span: TimeSpan) -> (opened: OpenedSource, hole: TimeSpan)? {
    let known = tail.flatMap { $0.span == span ? $0.excerpt : nil }
    guard OpenedSource.beginning < span.start,
      let excerpt = known ?? MP4Excerpt(stored.path, keeping: OpenedSource.kept(span), stored.facts.correction)
    else { return nil }
    return (reading(excerpt), TimeSpan(start: OpenedSource.beginning, end: span.start))
  }

  /// Returns a copy of this source whose demuxer reads `excerpt` instead of the full MP4 tables.
  func reading(_ excerpt: MP4Excerpt) -> OpenedSource {
    var opened = self
    opened.topology = topology.reading(excerpt)
    return opened
  }

  private static func kept(_ span: TimeSpan) -> [Range<ClockTime>] {
    beginning < span.start ? [ClockTime(seconds: -1)..<beginning, span.start..<span.end] : []
  }

  /// Length of the source's beginning that each excerpt contains.
  private static let beginning = ClockTime(seconds: 16)

  /// Creates an indexer of this source.
  /// - Parameters:
  ///   - givesWay: true to pause during urgent work.
  ///   - progress: called with the progress of a pass.
  func indexer(
    _ settings: PlaybackSettings, givesWay: Bool = false,
    progress: @escaping @Sendable (IndexProgress) -> Void = { _ in }
  ) -> Indexer {
    var indexer = Indexer(
      topology: topology, playback: settings.playback, holdsAlpha: settings.output.holdsAlpha,
      holdsImages: stored.holdsImages, takesPackets: settings.output.takesPackets,
      spoolDirectory: settings.purpose == .description ? nil : settings.resources.spoolDirectory,
      cancellation: settings.cancellation, progress: progress)
    if givesWay { indexer.priorityGate = priorityGate }
    return indexer
  }
}

extension ContainerFacts {
  /// Returns the error to report for GStreamer's `error` while reading `path`.
  func error(reading path: String, _ error: GStreamerError) -> RetrogradeError {
    guard let uncommonAudio, [.notMedia, .inputOutput, .other].contains(error.kind) else {
      return RetrogradeError.reading(path, error)
    }
    return RetrogradeError(
      .missingPlugin, about: path, "this audio format is not supported (\(uncommonAudio))",
      remedy: "convert it to FLAC, or to WAV with PCM", underlying: error)
  }
}
