import MediaTime

/// A source that has been opened and looked into: where its bytes are, and which streams are in it. It can be indexed more than
/// once: its end first, say, and then all of it.
package struct OpenedSource: Sendable {
  /// What people call it.
  let name: String
  /// Keeps what came through a pipe.
  let stored: Source
  let topology: Topology

  /// - Parameter fetched: what is at the address, where it was fetched already.
  /// - Throws: ``RetrogradeError``.
  package init(_ input: String, _ settings: PlaybackSettings, fetched: FetchedFile? = nil) throws {
    let playback = settings.playback
    guard !(playback.noAudio && playback.noVideo) else {
      throw RetrogradeError(.usage, "without video and without audio, nothing is left")
    }
    name = input
    stored = try Source(
      input, fetched: fetched, sequenceRate: playback.sequenceRate, resources: settings.resources,
      cancellation: settings.cancellation)
    let plugins =
      settings.isWatched && stored.facts.isUsuallyMPEG ? try Worker("load plugins") { FilmPlugins.load() } : nil
    defer { _ = try? plugins?.join() }
    do {
      topology = try Topology(
        probing: stored.path, stored.sourceDescription, stored.facts, settings.cancellation)
    } catch let error as RetrogradeError where error.code == .damagedInput && stored.facts.lacksIndex {
      throw RetrogradeError(
        .damagedInput,
        about: input, "its index (moov) is missing: the file was cut, or recording it was not finished",
        remedy:
          "get the whole file, or have the index made anew from another file of the same device: nothing else tells where its "
          + "frames begin",
        underlying: error.underlying)
    }
  }

  /// - Parameter progress: told how far a pass is.
  func indexer(_ settings: PlaybackSettings, progress: @escaping @Sendable (IndexProgress) -> Void = { _ in })
    -> Indexer
  {
    Indexer(
      topology: topology, playback: settings.playback, holdsAlpha: settings.output.holdsAlpha,
      holdsImages: stored.holdsImages, takesPackets: settings.output.takesPackets,
      spoolDirectory: settings.resources.spoolDirectory, cancellation: settings.cancellation, progress: progress)
  }
}
