import Containers
import GStreamer
import MediaTime

/// Makes the index of a source: one pass over all packets, in which the audio is decoded, once, forwards, into the spool.
///
/// Audio is not read in windows, as frames are: priming, overlap between packets and timestamps rounded to a
/// millisecond make the samples at a window's edges wrong for AAC, AC-3, Opus and MP3.
struct Indexer: Sendable {
  let topology: Topology
  let playback: PlaybackOptions
  /// Whether the output can hold transparency.
  var holdsAlpha = false
  /// Whether its frames are files of their own.
  var holdsImages = false
  /// Which videos the output takes as packets.
  var takesPackets: @Sendable (VideoIndex) -> Bool = { _ in false }
  /// nil: decoded audio is counted, and not kept.
  let spoolDirectory: String?
  let cancellation: Cancellation
  /// Priority of other work over its passes, if there is any.
  var rightOfWay: RightOfWay?
  /// Told how far the pass is.
  let progress: @Sendable (IndexProgress) -> Void

  /// No packet for this long, nothing being read, and no end: the source makes no progress.
  var stall = ClockTime(seconds: 10)

  func run() throws -> SourceIndex {
    let streams = try choose()
    guard !streams.all.isEmpty else { return index(ofStored: streams) }
    let pass = try IndexingPipeline(self, streams)
    defer { pass.stop() }
    return try index(streams, try pass.read())
  }

  /// The index of a source that is nothing but samples which are read where they lie.
  private func index(ofStored streams: ChosenStreams) -> SourceIndex {
    var result = SourceIndex(
      decoding: topology.description(streams.audio), recipe: nil, video: nil,
      audio: streams.stored.map(\.track), tags: topology.fileTags, warnings: streams.warnings)
    result.chapters = !playback.wants(.chapters) ? [] : topology.chapters(until: result.presentationEnd)
    return result
  }

  /// The streams that are read, and warnings about the others.
  func choose() throws -> ChosenStreams {
    var warnings: [Warning] = []
    let videos = topology.videos(playback)
    let audios = topology.wanted(.audio, playback) { $0.kind == .audio }
    let texts = topology.wanted(.subtitles, playback) { SubtitleTrack.takes($0.caps) }
    let others = topology.streams.filter {
      // The container names its tracks of timed metadata itself.
      $0.kind == .other && !SubtitleTrack.takes($0.caps)
        && !$0.steps.contains { $0.factory == "qtdemux" && $0.pad.hasPrefix("meta_") }
    }.map(\.caps.mediaType)
    for type in Set(others).sorted() {
      let count = others.count { $0 == type }
      let what = count == 1 ? "a stream" : "\(count) streams"
      let reason =
        type.contains("subtitle")
        ? "of subtitles that GStreamer does not read"
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
          "none of the streams that \(setting: .streams) names is video or audio in it")
      }
      guard topology.streams.isEmpty || topology.streams.contains(where: { !SubtitleTrack.takes($0.caps) }) else {
        throw RetrogradeError(
          .damagedInput, about: topology.source, "holds subtitles, and neither video nor audio",
          remedy: "\(setting: .subtitles) reverses them with a film")
      }
      if topology.streams.allSatisfy({ ["text/uri-list", "application/sdp"].contains($0.caps.mediaType) }) {
        throw RetrogradeError(namingOthers: topology.source)
      }
      throw RetrogradeError(
        .missingPlugin,
        about: topology.source,
        "nothing in it can be decoded: "
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
          hasEdits: stream.passes("qtdemux")))
    }
    return ChosenStreams(all: chosen, videos: videos, tracks: tracks, stored: [], texts: texts, warnings: warnings)
  }

  private static let sink = "sync=false async=false enable-last-sample=false max-buffers=64"

  /// Index of the source, made from the streams that were read.
  func index(_ streams: ChosenStreams, _ reading: IndexingPipeline.Reading) throws -> SourceIndex {
    var warnings = streams.warnings
    let audio = streams.stored.map(\.track) + reading.audio.compactMap(\.track)
    let position = reading.position
    let place = TimeSpan(start: position, end: position)
    if reading.end == .stalled {
      warnings.append(
        Warning(
          .damaged, "damaged: the source stops making progress after \(position); the rest is left out", span: place))
    }
    if let failure = reading.failure {
      let isEmpty = (reading.videos.first?.packets.isEmpty ?? true) && audio.isEmpty
      if isEmpty { throw RetrogradeError.reading(topology.source, failure) }
      // Streams end after an error too, and the element's output until then may be all that it could have
      // given.
      let what =
        failure.kind == .inputOutput
        ? "reading it failed at \(position)" : "read until \(position), where GStreamer says"
      warnings.append(Warning(.damaged, "damaged: \(what): \(failure.cause)", span: place))
    }
    warnings += reading.warnings + reading.audio.flatMap(\.warnings)
    let shown = zip(streams.videos, reading.videos).enumerated().filter { $1.1.packets.contains { !$0.isHidden } }
    if !holdsAlpha, shown.contains(where: { $1.1.caps.description.contains("codec-alpha=(boolean)true") }) {
      warnings.append(
        Warning(
          .detailLeftOut,
          "left out: the video's transparency; .webp, .apng and .png keep it, and .mkv with \(setting: .keepsAlpha)"
        ))
    }
    if shown.count < reading.videos.count {
      warnings.append(Warning(.streamLeftOut, "left out: a video stream without a frame"))
    }
    if shown.isEmpty && audio.isEmpty {
      throw RetrogradeError(.damagedInput, about: topology.source, "no video and no audio can be read from it")
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
        // One bad extra stream does not fail the run.
        warnings.append(Warning(.streamLeftOut, "left out: a further video stream (\(error.message))"))
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
  /// The video streams that are played.
  func videos(_ playback: PlaybackOptions) -> [StreamPath] { wanted(.video, playback) { $0.kind == .video } }

  /// Streams of a kind that are played.
  fileprivate func wanted(
    _ kind: StreamKind, _ playback: PlaybackOptions, _ isOfKind: (StreamPath) -> Bool
  ) -> [StreamPath] {
    streams.filter(isOfKind).enumerated().filter { playback.wants(kind, $0.offset) }.map(\.element)
  }
}

/// The streams of a source that a pass reads, each with the end of its branch of the pipeline.
struct ChosenStreams: Sendable {
  /// The video, then text, then audio.
  var all: [(stream: StreamPath, tail: String)]
  var videos: [StreamPath]
  /// The audio that is decoded.
  var tracks: [AudioIndexer]
  /// The audio that is read where it lies, which no pass reads; there is none beside such as is decoded.
  var stored: [(stream: StreamPath, tail: String, track: AudioTrack)]
  var texts: [StreamPath]
  var warnings: [Warning]

  /// All audio, with the ends of the branches that decode it.
  var audio: [(stream: StreamPath, tail: String)] {
    all.filter { $0.stream.kind == .audio } + stored.map { ($0.stream, $0.tail) }
  }
}
