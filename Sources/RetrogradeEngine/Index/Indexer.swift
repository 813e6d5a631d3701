import Containers
import GStreamer
import MediaTime

/// Indexes a source in one pass over all packets, and decodes its audio forwards into the spool.
///
/// Unlike frames, audio cannot be read in windows (``Window``). Priming, overlapping packets and
/// timestamps that are rounded to a millisecond make the samples at a window's edges wrong for AAC,
/// AC-3, Opus and MP3.
struct Indexer: Sendable {
  let topology: Topology
  let playback: PlaybackOptions
  /// True if the output format supports transparency.
  var holdsAlpha = false
  /// True if the source is one or more image files.
  var holdsImages = false
  /// Returns true for a video whose packets the output can copy.
  var takesPackets: @Sendable (VideoIndex) -> Bool = { _ in false }
  /// Directory of the spool; nil to count decoded audio without storing it.
  let spoolDirectory: String?
  let cancellation: Cancellation
  /// Gate that pauses the indexing passes while more urgent work runs; nil to never pause.
  var priorityGate: PriorityGate?
  /// Called with the progress of the pass.
  let progress: @Sendable (IndexProgress) -> Void

  /// Longest time without a packet, a read or an end of stream. After this time, the source counts
  /// as stalled.
  var stall = ClockTime(seconds: 10)

  func run() throws -> SourceIndex {
    let streams = try choose()
    guard !streams.all.isEmpty else { return index(ofStored: streams) }
    let pass = try IndexingPipeline(self, streams)
    defer { pass.stop() }
    return try index(streams, try pass.read())
  }

  /// Returns the index of a source whose only streams are audio samples read directly from the
  /// file.
  private func index(ofStored streams: ChosenStreams) -> SourceIndex {
    var result = SourceIndex(
      decoding: topology.description(streams.audio), recipe: nil, video: nil,
      audio: streams.stored.map(\.track), tags: topology.fileTags, warnings: streams.warnings)
    result.chapters = !playback.wants(.chapters) ? [] : topology.chapters(until: result.presentationEnd)
    return result
  }

  /// Chooses the streams to read, and warns about the streams that are left out.
  func choose() throws -> ChosenStreams {
    var warnings: [Warning] = []
    let videos = topology.videos(playback)
    let audios = topology.wanted(.audio, playback) { $0.kind == .audio }
    let texts = topology.wanted(.subtitles, playback) { SubtitleTrack.takes($0.caps) }
    let others = topology.streams.filter {
      // The container's report already has a warning about tracks of timed metadata.
      $0.kind == .other && !SubtitleTrack.takes($0.caps)
        && !$0.steps.contains { $0.factory == "qtdemux" && $0.pad.hasPrefix("meta_") }
    }.map(\.caps.mediaType)
    for type in Set(others).sorted() {
      let count = others.count { $0 == type }
      let what = count == 1 ? "a stream" : "\(count) streams"
      let reason =
        type.contains("subtitle")
        ? "of subtitles that GStreamer can't read"
        : "\(count == 1 ? "that is" : "that are") neither video, audio nor text"
      warnings.append(Warning(.streamLeftOut, "left out: \(what) \(reason) (\(type))", count: count))
    }
    let playable = audios.compactMap { stream in AudioDecoder(for: stream).map { (stream: stream, decoder: $0) } }
    warnings += try undecodable(videos, playable.map(\.stream), besides: others)
    var chosen: [(stream: StreamPath, tail: String)] = videos.enumerated().map {
      ($1, "appsink name=\(IndexingPipeline.videoName($0)) \(Indexer.sink)")
    }
    for (number, text) in texts.enumerated() { chosen.append((text, "appsink name=text\(number) \(Indexer.sink)")) }
    guard !videos.isEmpty || !playable.isEmpty else {
      if playback.streams != nil {
        throw RetrogradeError(
          .usage,
          about: topology.source,
          "\(setting: .streams) selects no video or audio of this source")
      }
      guard topology.streams.isEmpty || topology.streams.contains(where: { !SubtitleTrack.takes($0.caps) }) else {
        throw RetrogradeError(
          .damagedInput, about: topology.source, "contains only subtitles",
          remedy: "use a video as the input, and add this file with \(setting: .subtitles)")
      }
      if topology.streams.allSatisfy({ ["text/uri-list", "application/sdp"].contains($0.caps.mediaType) }) {
        throw RetrogradeError(namingOthers: topology.source)
      }
      throw RetrogradeError(
        .missingPlugin,
        about: topology.source,
        "none of its streams can be decoded: "
          + "\(topology.streams.map(\.caps.codecName).joined(separator: ", "))", remedy: "\(PackageHint.all)")
    }
    let stored = try playable.enumerated().compactMap { number, audio in
      try StoredSamples.track(audio.stream, of: topology).map {
        (stream: audio.stream, tail: AudioIndexer.tail(number, audio.stream, audio.decoder), track: $0)
      }
    }
    if stored.count == playable.count, !stored.isEmpty {
      Log.index.info("\(topology.source): the samples of its audio are read where they lie")
      return ChosenStreams(all: chosen, videos: videos, tracks: [], stored: stored, texts: texts, warnings: warnings)
    }
    var tracks: [AudioIndexer] = []
    for (stream, decoder) in playable {
      Log.decode.info(
        "\(topology.source): \(stream.caps.codecName): decoded by \(decoder.factory ?? "nothing"), \(decoder.reason)")
      chosen.append((stream, AudioIndexer.tail(tracks.count, stream, decoder)))
      tracks.append(
        AudioIndexer(
          name: "audio\(tracks.count)", codec: stream.caps, tags: stream.tags, spoolDirectory: spoolDirectory,
          trim: stream.trim, disposition: stream.disposition, changesForm: stream.formChange != nil,
          hasEdits: stream.passes("qtdemux"), isOgg: stream.passes("oggdemux")))
    }
    return ChosenStreams(all: chosen, videos: videos, tracks: tracks, stored: [], texts: texts, warnings: warnings)
  }

  private static let sink = "sync=false async=false enable-last-sample=false max-buffers=64"

  /// Creates the index from the streams that were read.
  func index(_ streams: ChosenStreams, _ reading: IndexingPipeline.Reading) throws -> SourceIndex {
    var warnings = streams.warnings
    let audio = streams.stored.map(\.track) + reading.audio.compactMap(\.track)
    let position = reading.position
    let place = TimeSpan(start: position, end: position)
    if reading.end == .stalled {
      warnings.append(
        Warning(
          .damaged, "damaged: no more data can be read after \(position); the rest is left out", span: place))
    }
    if let failure = reading.failure {
      let isEmpty = (reading.videos.first?.packets.isEmpty ?? true) && audio.isEmpty
      if isEmpty { throw topology.facts.error(reading: topology.source, failure) }
      // Warn even if no stream seems to have ended early, because the failed element may have been
      // unable to output more.
      let what =
        failure.kind == .inputOutput
        ? "reading failed at \(position)" : "read only until \(position), because of an error in GStreamer"
      warnings.append(Warning(.damaged, "damaged: \(what): \(failure.cause)", span: place))
    }
    warnings += reading.warnings + reading.audio.flatMap(\.warnings)
    let shown = zip(streams.videos, reading.videos).enumerated().filter { $1.1.packets.contains { !$0.isHidden } }
    if !holdsAlpha, shown.contains(where: { $1.1.caps.description.contains("codec-alpha=(boolean)true") }) {
      warnings.append(
        Warning(
          .detailLeftOut,
          "left out: the video's transparency; use .webp, .apng or .png, or .mkv with \(setting: .keepsAlpha), to "
            + "keep it"
        ))
    }
    if shown.count < reading.videos.count {
      warnings.append(Warning(.streamLeftOut, "left out: a video stream without frames"))
    }
    if shown.isEmpty && audio.isEmpty {
      throw RetrogradeError(.damagedInput, about: topology.source, "contains no video or audio that can be read")
    }
    let tags = topology.fileTags
    var videos: [(path: StreamPath, index: VideoIndex, recipe: DecodingRecipe)] = []
    for (_, (path, index)) in shown {
      do {
        let name = IndexingPipeline.videoName(videos.count)
        let recipe =
          takesPackets(index)
          ? DecodingRecipe(packetsOf: index, path, in: topology, name: name)
          : try DecodingRecipe(index, path, in: topology, name: name, wantsAlpha: holdsAlpha)
        videos.append((path, index, recipe))
      } catch let error as RetrogradeError where !videos.isEmpty {
        // The first video must be decodable. A later video that can't be decoded is left out.
        warnings.append(Warning(.streamLeftOut, "left out: another video stream (\(error.message))"))
      }
    }
    var result = SourceIndex(
      decoding: topology.description(streams.audio + videos.map { ($0.recipe.path ?? $0.path, $0.recipe.tail) }),
      packets: videos.first.map { topology.description([($0.path, "queue")]) }, recipe: videos.first?.recipe,
      video: videos.first?.index, audio: audio, tags: tags, warnings: warnings)
    result.furtherVideos = videos.dropFirst().map { ($0.index, $0.recipe) }
    result.subtitles = reading.subtitles.filter { !$0.cues.isEmpty }
    result.chapters = !playback.wants(.chapters) ? [] : topology.chapters(until: result.presentationEnd)
    for warning in result.warnings { Log.index.info("\(topology.source): \(warning.message)") }
    return result
  }
}

extension Topology {
  /// Returns the video streams to play.
  func videos(_ playback: PlaybackOptions) -> [StreamPath] { wanted(.video, playback) { $0.kind == .video } }

  /// Returns the streams of one kind to play.
  fileprivate func wanted(
    _ kind: StreamKind, _ playback: PlaybackOptions, _ isOfKind: (StreamPath) -> Bool
  ) -> [StreamPath] {
    streams.filter(isOfKind).enumerated().filter { playback.wants(kind, $0.offset) }.map(\.element)
  }
}

/// Streams that a pass reads, each with the last elements of its pipeline branch.
struct ChosenStreams: Sendable {
  /// Streams in the order video, text, audio.
  var all: [(stream: StreamPath, tail: String)]
  var videos: [StreamPath]
  /// Audio streams to decode.
  var tracks: [AudioIndexer]
  /// Audio streams read directly from the file, without a pass; empty if any audio is decoded.
  var stored: [(stream: StreamPath, tail: String, track: AudioTrack)]
  var texts: [StreamPath]
  var warnings: [Warning]

  /// All audio streams, with the last elements of their branches.
  var audio: [(stream: StreamPath, tail: String)] {
    all.filter { $0.stream.kind == .audio } + stored.map { ($0.stream, $0.tail) }
  }
}
