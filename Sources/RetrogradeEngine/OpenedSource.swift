import Containers
import MediaTime

/// A source that has been opened and looked into: where its bytes are, and which streams are in it. It can be indexed more than
/// once: its end first, say, and then all of it.
package struct OpenedSource: Sendable {
  /// Name of the source as users know it.
  let name: String
  /// The source itself; keeps the spooled bytes of a pipe.
  let stored: Source
  private(set) var topology: Topology
  /// Lets urgent work go before the pass over all of the source.
  let rightOfWay = RightOfWay()
  /// The excerpt that holds its end; nil if the end is not needed soon.
  private let tail: (span: TimeSpan, excerpt: MP4Excerpt)?

  /// - Parameters:
  ///   - fetched: the media at the address, if they were fetched already.
  ///   - isPlayedSoon: stretches of it are played before all of it is indexed, its end first
  ///     (``SourceStretches``).
  /// - Throws: ``RetrogradeError``.
  package init(_ input: String, _ settings: PlaybackSettings, fetched: FetchedFile? = nil, isPlayedSoon: Bool = false)
    throws
  {
    let playback = settings.playback
    guard !(playback.noAudio && playback.noVideo) else {
      throw RetrogradeError(.usage, "without video and without audio, nothing is left")
    }
    name = input
    stored = try Source(
      input, fetched: fetched, sequenceRate: playback.sequenceRate, resources: settings.resources,
      cancellation: settings.cancellation)
    // qtdemux can take half a minute to find out.
    if stored.facts.lacksIndex, stored.facts.boxedImage == nil {
      throw RetrogradeError(
        .damagedInput,
        about: input, "its index (moov) is missing: the file was cut, or recording it was not finished",
        remedy:
          "get the whole file, or rebuild the index from another file of the same device: nothing else tells where its "
          + "frames begin")
    }
    let plugins =
      settings.purpose == .watching && stored.facts.isUsuallyMPEG
      ? try Worker("load plugins") { FilmPlugins.load() } : nil
    defer { _ = try? plugins?.join() }
    let (path, correction) = (stored.path, stored.facts.correction)
    let span = isPlayedSoon ? SourceStretches.lastReach(of: stored.facts, settings) : nil
    let excerpt = try span.map { span in
      try Worker("excerpt") { MP4Excerpt(path, keeping: OpenedSource.kept(span), correction) }
    }
    defer { _ = try? excerpt?.join() }
    do {
      topology = try Topology(
        probing: stored.path, stored.sourceDescription, stored.facts, settings.cancellation)
    } catch let error as RetrogradeError where error.code == .damagedInput && stored.facts.boxedImage != nil {
      throw RetrogradeError(
        .missingPlugin, about: input, "an image (\(stored.facts.boxedImage ?? "")), which is not supported",
        remedy: "convert it to PNG or JPEG, or a moving image to a video", underlying: error.underlying)
    }
    tail = try span.flatMap { span in try excerpt?.join().map { (span, $0) } }
  }

  /// The same source, of which a demuxer finds no more than its beginning and the packets of `span`, in
  /// stream time.
  /// - Returns: it, and the hole between the two; nil where nothing is gained.
  func excerpt(of span: TimeSpan) -> (opened: OpenedSource, hole: TimeSpan)? {
    let known = tail.flatMap { $0.span == span ? $0.excerpt : nil }
    guard OpenedSource.beginning < span.start,
      let excerpt = known ?? MP4Excerpt(stored.path, keeping: OpenedSource.kept(span), stored.facts.correction)
    else { return nil }
    return (reading(excerpt), TimeSpan(start: OpenedSource.beginning, end: span.start))
  }

  /// The same, of which a demuxer gets an excerpt.
  func reading(_ excerpt: MP4Excerpt) -> OpenedSource {
    var opened = self
    opened.topology = topology.reading(excerpt)
    return opened
  }

  private static func kept(_ span: TimeSpan) -> [Range<ClockTime>] {
    beginning < span.start ? [ClockTime(seconds: -1)..<beginning, span.start..<span.end] : []
  }

  /// Length of an excerpt's beginning.
  private static let beginning = ClockTime(seconds: 16)

  /// - Parameters:
  ///   - givesWay: it stands still while other work is waited for.
  ///   - progress: told how far a pass is.
  func indexer(
    _ settings: PlaybackSettings, givesWay: Bool = false,
    progress: @escaping @Sendable (IndexProgress) -> Void = { _ in }
  ) -> Indexer {
    var indexer = Indexer(
      topology: topology, playback: settings.playback, holdsAlpha: settings.output.holdsAlpha,
      holdsImages: stored.holdsImages, takesPackets: settings.output.takesPackets,
      spoolDirectory: settings.purpose == .description ? nil : settings.resources.spoolDirectory,
      cancellation: settings.cancellation, progress: progress)
    if givesWay { indexer.rightOfWay = rightOfWay }
    return indexer
  }
}
