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
  let spoolDirectory: String
  let cancellation: Cancellation
  /// Told how far the pass is, in stream time.
  let progress: @Sendable (ClockTime) -> Void

  /// No packet for this long, nothing being read, and no end: the source makes no progress.
  var stall = ClockTime(seconds: 10)

  func run() throws -> SourceIndex {
    var warnings: [Warning] = []
    func wanted(_ kind: StreamKind, _ streams: [StreamPath]) -> [StreamPath] {
      streams.enumerated().filter { playback.wants(kind, $0.offset) }.map(\.element)
    }
    let videos = wanted(.video, topology.streams.filter { $0.kind == .video })
    let audios = wanted(.audio, topology.streams.filter { $0.kind == .audio })
    let texts = wanted(.subtitles, topology.streams.filter { SubtitleTrack.takes($0.caps) })
    let others = topology.streams.filter { $0.kind == .other && !SubtitleTrack.takes($0.caps) }.map(\.caps.mediaType)
    for type in Set(others).sorted() {
      let count = others.count { $0 == type }
      let what = count == 1 ? "a stream that is" : "\(count) streams that are"
      warnings.append(
        Warning(.streamLeftOut, "left out: \(what) neither video, audio nor text (\(type))", count: count))
    }
    let playable = audios.compactMap { stream in AudioDecoder(for: stream.caps).map { (stream: stream, decoder: $0) } }
    warnings += try undecodable(videos, playable.map(\.stream), besides: others)
    if videos.isEmpty, texts.isEmpty, playable.count == 1, let only = playable.first,
      let track = try StoredSamples.track(only.stream, of: topology)
    {
      Log.index.info("\(topology.source): its samples are read where they lie")
      var result = SourceIndex(
        decoding: topology.description([(only.stream, AudioIndexer.tail(0, only.stream, only.decoder))]), recipe: nil,
        video: nil, audio: [track], tags: topology.fileTags, warnings: warnings)
      result.chapters = !playback.wants(.chapters) ? [] : chapters(until: result.presentationEnd)
      return result
    }
    var chosen: [(stream: StreamPath, tail: String)] = videos.enumerated().map {
      ($1, "appsink name=\(Indexer.videoName($0)) \(Indexer.sink)")
    }
    for (number, text) in texts.enumerated() { chosen.append((text, "appsink name=text\(number) \(Indexer.sink)")) }
    var tracks: [AudioIndexer] = []
    for (stream, decoder) in playable {
      Log.decode.info(
        "\(topology.source): \(stream.caps.codecName): decoded by \(decoder.factory ?? "nothing"), \(decoder.reason)")
      chosen.append((stream, AudioIndexer.tail(tracks.count, stream, decoder)))
      tracks.append(
        AudioIndexer(
          name: "audio\(tracks.count)", codec: stream.caps, tags: stream.tags, spoolDirectory: spoolDirectory,
          trim: stream.trim, disposition: stream.disposition))
    }
    guard !videos.isEmpty || !tracks.isEmpty else {
      if playback.streams != nil {
        throw RetrogradeError(
          .usage,
          about: topology.source,
          "of the streams that were asked for (\(setting: .streams)), none is video or audio in it")
      }
      throw RetrogradeError(
        .missingPlugin,
        about: topology.source,
        "nothing in it can be decoded: "
          + "\(topology.streams.map(\.caps.codecName).joined(separator: ", "))", remedy: "\(PackageHint.all)")
    }
    let result = try index(chosen, videos, tracks, texts, warnings)
    for warning in result.warnings { Log.index.info("\(topology.source): \(warning.message)") }
    return result
  }

  private static func videoName(_ number: Int) -> String { number == 0 ? "video" : "video\(number)" }

  private static let sink = "sync=false async=false enable-last-sample=false max-buffers=64"

  private func index(
    _ chosen: [(stream: StreamPath, tail: String)], _ videos: [StreamPath], _ tracks: [AudioIndexer],
    _ texts: [StreamPath], _ warnings: [Warning]
  ) throws -> SourceIndex {
    var warnings = warnings
    let pipeline: Pipeline
    do {
      pipeline = try Pipeline(topology.description(chosen))
    } catch let error as GStreamerError {
      throw RetrogradeError.reading(topology.source, error)
    }
    defer { pipeline.set(.null) }
    let tally = StreamTally()
    // What reads the file by itself takes no packets.
    if !topology.streams.contains(where: \.isFile) { tracks.forEach { $0.watch(pipeline) } }
    // Before the threads start: an appsink that has not started says that it has ended.
    topology.prepare(pipeline)
    // qtdemux 1.22 takes colours from the container alone. Not told them, the parser reads them from the stream.
    videos.flatMap(\.steps).filter { ["h264parse", "h265parse"].contains($0.factory) }.forEach { step in
      pipeline.element("e\(step.element)")?.staticPad("sink")?.removeFromCaps(["colorimetry"])
    }
    let disk = DiskWatch(pipeline, reading: topology.source)
    let late = topology.lateStreams(pipeline, after: tally.samples)
    let skipped = videos.compactMap { SkippedStart($0, in: pipeline) }
    pipeline.set(.playing)
    let videoWorkers = try videos.enumerated().map { number, video in
      let reader = StreamReader(try pipeline.appSink(Indexer.videoName(number)), tally)
      return try Worker("index video") { try reader.read { try indexVideo(video, $0) } }
    }
    let textWorkers = try texts.enumerated().map { number, text in
      let reader = StreamReader(try pipeline.appSink("text\(number)"), tally)
      return try Worker("index text") { try reader.read { try indexText(text, $0) } }
    }
    let trackWorkers = try tracks.map { track in
      let reader = StreamReader(try pipeline.appSink(track.name), tally)
      return try Worker("index \(track.name)") { try reader.read { try track.run($0) } }
    }
    let (end, failure) = watch(pipeline, disk, tally, streams: chosen.count)
    // Nothing of what the others would still read is wanted.
    if end == .cancelled || end == .readerFailed { pipeline.set(.null) }
    tally.isOver.cancel()
    let found = try videoWorkers.map { try $0.join() }
    let subtitles = try textWorkers.map { try $0.join() }
    let index = found.first
    let audio = try trackWorkers.map { try $0.join() }
    try cancellation.check()
    let position = tally.furthest.time
    let place = TimeSpan(start: position, end: position)
    if end == .stalled {
      warnings.append(
        Warning(
          .damaged, "damaged: the source stops making progress after \(position); the rest is left out", span: place))
    }
    if let failure {
      let isEmpty = (index?.packets.isEmpty ?? true) && audio.allSatisfy { $0.track == nil }
      if isEmpty { throw RetrogradeError.reading(topology.source, failure) }
      // Streams end after an error too, and what an element then gave may be all that it could have given.
      let what =
        failure.kind == .inputOutput
        ? "reading it failed at \(position)" : "read until \(position), and of the file GStreamer says"
      warnings.append(Warning(.damaged, "damaged: \(what): \(failure.cause)", span: place))
    }
    warnings += skipped.compactMap(\.warning) + late.warnings + audio.flatMap(\.warnings)
    let shown = zip(videos, found).enumerated().filter { $1.1.packets.contains { !$0.isHidden } }
    if !holdsAlpha, shown.contains(where: { $1.1.caps.description.contains("codec-alpha=(boolean)true") }) {
      warnings.append(
        Warning(
          .detailLeftOut,
          "left out: the video's transparency; .webp, .apng and .png keep it, and .mkv with \(setting: .quality) lossless \(setting: .keepsAlpha)"
        ))
    }
    if shown.count < found.count {
      warnings.append(Warning(.streamLeftOut, "left out: a video stream without a frame"))
    }
    if shown.isEmpty && audio.allSatisfy({ $0.track == nil }) {
      throw RetrogradeError(.damagedInput, about: topology.source, "no video and no audio can be read from it")
    }
    let tags = topology.fileTags
    var videos: [(path: StreamPath, index: VideoIndex, recipe: DecodingRecipe)] = []
    for (_, (path, index)) in shown {
      do {
        let name = Indexer.videoName(videos.count)
        let recipe =
          takesPackets(index)
          ? DecodingRecipe(packetsOf: index, path, in: topology, name: name)
          : try DecodingRecipe(path, index.caps, in: topology, name: name, wantsAlpha: holdsAlpha)
        videos.append((path, index, recipe))
      } catch let error as RetrogradeError where !videos.isEmpty {
        // One bad extra stream does not fail the run.
        warnings.append(Warning(.streamLeftOut, "left out: a further video stream (\(error.message))"))
      }
    }
    let branches =
      chosen.filter { $0.stream.kind == .audio } + videos.map { (stream: $0.path, tail: $0.recipe.tail) }
    var result = SourceIndex(
      decoding: topology.description(branches),
      packets: videos.first.map { topology.description([($0.path, "queue")]) }, recipe: videos.first?.recipe,
      video: videos.first?.index, audio: audio.compactMap(\.track), tags: tags, warnings: warnings)
    result.furtherVideos = videos.dropFirst().map { ($0.index, $0.recipe) }
    result.subtitles = subtitles.filter { !$0.cues.isEmpty }
    result.chapters = !playback.wants(.chapters) ? [] : chapters(until: result.presentationEnd)
    return result
  }

  /// Waits for the end of the pass.
  /// - Returns: what ended it, and the first error that an element posted.
  private func watch(
    _ pipeline: Pipeline, _ disk: DiskWatch, _ tally: StreamTally, streams: Int
  ) -> (end: IndexingPass.End, failure: GStreamerError?) {
    var step = ClockTime(nanoseconds: 50_000_000)
    var pass = IndexingPass(streams: streams, stall: stall)
    var failure: GStreamerError?
    var silence = ClockTime.zero
    while true {
      var sight = IndexingPass.Sight(tally, cancellation)
      sight.silence = silence
      sight.isReading = disk.isReading
      sight.isStreaming = !pass.hasFailed || pipeline.isStreaming
      if let end = pass.end(seeing: sight) {
        Log.index.info(
          "\(topology.source): the pass ends: \(end); \(sight.ended) of \(streams) streams ended, \(sight.samples) samples came, "
            + "up to \(tally.furthest.time)")
        // Streams end also where reading failed: what says so is on the bus by then.
        return (end, failure ?? pipeline.pendingFailure)
      }
      let message = pipeline.nextMessage(timeout: step)
      // From now on the readers only take what is left.
      if case .endOfStream? = message { step = ClockTime(nanoseconds: 1_000_000) }
      silence = message == nil ? step : .zero
      if case .failed(let error)? = message {
        Log.index.warning("\(topology.source): an element failed: \(error.cause); the pass goes on while others run")
        failure = failure ?? error
        pass.fail()
        disk.noteFailure()
      }
      if message == nil { progress(tally.furthest.time) }
    }
  }

  /// The chapters, each until the next one where the container says no more.
  private func chapters(until end: ClockTime) -> [Chapter] {
    func chapters(_ entries: [TableOfContents.Entry], until end: ClockTime) -> [Chapter] {
      entries.enumerated().compactMap { index, entry in
        let next = index + 1 < entries.count ? entries[index + 1].start : end
        let span = TimeSpan(start: entry.start, end: min(entry.end ?? next, end))
        guard span.start < span.end else { return nil }
        return Chapter(span: span, title: entry.title ?? "", children: chapters(entry.children, until: span.end))
      }
    }
    let own = topology.facts.chapters.map {
      TableOfContents.Entry(start: $0.start, end: $0.end, title: $0.title, children: [])
    }
    return chapters(topology.contents?.entries ?? own, until: end)
  }

  private func indexText(_ path: StreamPath, _ reader: StreamReader) throws -> SubtitleTrack {
    var track = SubtitleTrack(caps: path.caps, tags: path.tags, disposition: path.disposition, cues: [])
    var open = false
    while let sample = reader.next() {
      if track.cues.isEmpty, let caps = sample.caps { track.caps = caps }
      guard let start = sample.streamTime else { continue }
      // One that does not say how long it is shown is shown until the next.
      if open, let last = track.cues.indices.last {
        track.cues[last].span.end = max(start, track.cues[last].span.start)
      }
      let bytes = try sample.buffer.withBytes { Array($0) }
      let duration = sample.buffer.duration
      open = duration == nil
      // Timed text in MP4 says by an empty packet that nothing is shown.
      if bytes.allSatisfy({ $0 == 0 || $0 == 32 || $0 == 10 }) { continue }
      track.cues.append(
        Cue(span: TimeSpan(start: start, end: start + (duration ?? ClockTime(seconds: 5))), bytes: bytes))
    }
    track.tags = reader.sink.pad?.tags(global: false) ?? track.tags
    track.cues.sort { $0.span.start < $1.span.start }
    return track
  }

  private func indexVideo(_ path: StreamPath, _ reader: StreamReader) throws -> VideoIndex {
    var packets: [VideoPacket] = []
    var caps = path.caps
    var turning: PacketTurning?
    var end: ClockTime?
    let isVP8 = caps.mediaType == "video/x-vp8"
    // avidemux 1.22 calls the time when a packet is decoded the time when its frame is shown too.
    let isOnlyDecoded = path.steps.last?.factory == "avidemux" && caps.mediaType == "video/mpeg"
    while let sample = reader.next() {
      if packets.isEmpty, let known = sample.caps { caps = known }
      let buffer = sample.buffer
      if buffer.isHeader && buffer.pts == nil { continue }
      turning = turning ?? PacketTurning(caps)
      try turning?.add(sample)
      end = sample.segment.streamEnd
      let time = sample.streamTime
      // Decoding starts before an edit does; what is decoded only for that is not shown.
      let isOutside = buffer.pts.map { !sample.segment.presents($0) } ?? false
      // VP8 packets say in their first byte whether their frame is shown (RFC 6386, 9.1).
      let isInvisible = try isVP8 && buffer.withBytes { !$0.isEmpty && $0[0] & 0x10 == 0 }
      packets.append(
        VideoPacket(
          time: isOnlyDecoded ? nil : time, decodingTime: buffer.dts.map { sample.segment.streamTime(of: $0) },
          duration: buffer.duration,
          isKeyframe: buffer.isKeyframe, bytes: buffer.size,
          isHidden: isInvisible || isOutside))
      if let time { reader.reach(time) }
    }
    let tags = reader.sink.pad?.tags(global: false)
    var index = VideoIndex(
      caps: caps, tags: path.tags.map { tags?.merging($0) ?? $0 } ?? tags, packets: packets, segmentEnd: end)
    index.disposition = path.disposition
    index.obstacle = holdsImages ? "it is made of images" : turning?.obstacle(in: packets)
    Log.index.info(
      "\(topology.source): the packets of \(caps.codecName) "
        + (index.obstacle.map { "stay in their order: \($0)" } ?? "can stand in any order"))
    return index
  }
}
