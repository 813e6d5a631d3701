import GStreamer
import MediaTime
import Quirks
import RetrogradeEngine
import Synchronization

/// Runs the decoding half of a pipeline file, and indexes or stores the output of its appsinks,
/// which will be reversed.
///
/// If possible, the video is indexed by its packets, and later decoded in short ranges, like any
/// file. This requires that the description names all elements from the decoder to the appsink, and
/// that these elements are known to process each frame alone. Otherwise (live sources, decodebin,
/// temporal filters) all frames are decoded once, forwards, into a temporary file (the spool).
struct PipelineIndexer: Sendable {
  /// Name in messages.
  let name: String
  /// Pipeline in `gst-launch-1.0` syntax.
  let decoding: String
  /// The only file that the pipeline reads; nil if the pipeline reads no file, or several.
  var source: PipelineSource?
  /// Translates a GStreamer error for the author of the pipeline.
  let failure: @Sendable (GStreamerError) -> RetrogradeError
  /// Control of a live recording; nil to read the sources to their ends.
  var recording: RecordingControl?
  let rate: FrameRateLimit
  let resources: Resources
  let gauge: MemoryGauge
  let cancellation: Cancellation
  /// Gets the progress, as positions in stream time.
  let progress: @Sendable (IndexProgress) -> Void

  struct Result: Sendable {
    var video: (name: String, source: VideoSource)?
    var audio: [(name: String, track: AudioTrack)] = []
    var tags: TagList?
    /// Language of the first audio stream, without region and script; nil if undefined.
    var language: String?
    var warnings: [Warning] = []
    /// True if no element is known to change the length of a stream. If so, a stream that is
    /// shorter than the file declares has lost data.
    var isWhole = true
  }

  /// Elements that process each frame alone, without memory of previous frames, so that decoding
  /// can start at any keyframe.
  private static let frameByFrame: Set = [
    "videoconvert", "videoscale", "videoconvertscale", "videocrop", "videoflip", "videobox", "videobalance", "gamma",
    "capsfilter", "queue",
  ]

  /// Longest time without progress.
  private static let longestStall = ClockTime(seconds: 60)

  /// The pipeline, in messages.
  private var reading: String { recording == nil ? "the first half of the pipeline file" : "the source" }

  func run() throws -> Result {
    let pipeline = try make()
    defer { pipeline.set(.null) }
    let sinks = pipeline.elements(ofFactory: "appsink")
    let decoders = DecoderWatch(pipeline)
    defer { decoders.releaseElements() }
    let tally = StreamTally()
    var isWhole = true
    let jobs = try sinks.map { element -> Job in
      let reader = StreamReader(try pipeline.appSink(element.name), tally)
      if let packets = PipelineIndexer.packets(before: element) {
        // Collect packets instead of frames, because the index needs no decoded frames.
        Log.index.info("\(name): appsink \(element.name): is indexed by its packets; its frames come out one by one")
        let isAsDecoded =
          element.upstream.dropFirst().first { !["queue", "capsfilter"].contains($0.factoryName) }?
          .isOfClass("Decoder") ?? false
        let declares = StreamPath.declaringDemuxers.contains { !pipeline.elements(ofFactory: $0).isEmpty }
        if declares { pipeline.keepDemuxedDurations(to: element) }
        let collector = PacketCollector(packets, declaresDurations: declares, isAsDecoded: isAsDecoded)
        return Job(name: element.name, reader: reader) {
          (collector.run($0, of: source?.stream(of: .video, before: element)), [])
        }
      }
      Log.index.info(
        "\(name): appsink \(element.name): is decoded once, forwards: it is audio, live, or what stands before it may hold frames"
      )
      let tracks = AudioIndexer(name: element.name, codec: nil, tags: nil, spoolDirectory: resources.spoolDirectory)
      tracks.watch(pipeline)
      isWhole = isWhole && AudioIndexer.chain(before: element) != nil
      return Job(name: element.name, reader: reader) {
        try collect($0, tracks, element) { decoders.clock(for: element) }
      }
    }
    pipeline.set(.playing)
    let workers = try jobs.map { job in
      (job.name, try Worker("index \(job.name)") { try job.run() })
    }
    try wait(pipeline, tally, sinks)
    var result = Result(isWhole: isWhole)
    for (name, worker) in workers {
      let (found, warnings) = try worker.join()
      result.warnings += warnings
      let pad = (try? pipeline.appSink(name))?.pad
      if let tags = pad?.tags(global: true) { result.tags = result.tags?.merging(tags) ?? tags }
      if case .audio = found, result.audio.isEmpty { result.language = pad?.tags(global: false)?.language?.plain }
      try add(found, name, to: &result)
    }
    try cancellation.check()
    guard result.video != nil || !result.audio.isEmpty else {
      // A sink that never started reports the end of its stream. This report may be read before the
      // pipeline's error message, so look for an error message first.
      while let message = pipeline.nextMessage() { if case .failed(let error) = message { throw failure(error) } }
      throw RetrogradeError(.damagedInput, about: name, "\(reading) produced no data")
    }
    return result
  }

  private func make() throws -> Pipeline {
    do {
      let pipeline = try Pipeline(decoding)
      PipelineIndexer.prepare(pipeline, reading: source)
      return pipeline
    } catch let error as GStreamerError {
      throw failure(error)
    }
  }

  /// Prepares the pipeline: no element waits for a clock, and no buffer is dropped.
  private static func prepare(_ pipeline: Pipeline, reading source: PipelineSource?) {
    // The content of a file must not make the pipeline open other files, unless the author of the
    // pipeline allows network addresses.
    if !pipeline.readsAddresses { pipeline.plugOnlyMedia() }
    if let source {
      source.prepare(pipeline)
    } else {
      if Quirk.matroskademuxStartTime.applies { pipeline.keepMatroskaTimes() }
      pipeline.preferColorsOfStreams()
    }
    pipeline.rejectSpeedWithoutRate()
    for sink in pipeline.elements(ofFactory: "appsink") {
      for (property, value) in [
        ("sync", "false"), ("async", "false"), ("enable-last-sample", "false"), ("max-buffers", "4"), ("drop", "false"),
        ("wait-on-eos", "false"),
      ] { try? sink.set(property, value) }
      // Sample frames can be reversed only in interleaved audio.
      if let raw = Caps("video/x-raw; audio/x-raw, layout=(string)interleaved") {
        (try? pipeline.appSink(sink.name))?.setDefaultCaps(raw)
      }
    }
  }

  /// Waits for the end of the indexing pass.
  private func wait(_ pipeline: Pipeline, _ tally: StreamTally, _ sinks: [Element]) throws {
    defer { tally.isOver.cancel() }
    let step = ClockTime(nanoseconds: 50_000_000)
    // Cameras may be slow, so a pipeline counts as stuck only after a minute without progress.
    var pass = IndexingPass(streams: sinks.count, stall: PipelineIndexer.longestStall)
    var silence = ClockTime.zero
    var hasEnded = false
    while true {
      var sight = IndexingPass.Snapshot(tally, cancellation)
      sight.silence = silence
      // If the source lacks a stream, the stream's appsink is never linked, and reports no end.
      // Count such appsinks, so that the pass does not wait for them.
      if silence > .zero { sight.unlinked = sinks.count { $0.upstream.last?.isOpenEnded ?? false } }
      let end = pass.end(seeing: sight)
      if let end {
        Log.index.info(
          "\(name): the pass ends: \(end); \(sight.ended) of \(sinks.count) streams ended, \(sight.samples) samples came, up to "
            + "\(tally.latestTime.time)")
      }
      switch end {
      case nil: break
      case .streamsEnded, .restIsMissing: return
      case .cancelled, .readerFailed, .pipelineFailed:
        pipeline.set(.null)  // Unblocks the readers.
        return
      case .stalled:
        throw RetrogradeError(
          .damagedInput, about: name, "\(reading) made no progress for \(PipelineIndexer.longestStall)")
      }
      if !hasEnded, recording?.isOver ?? false {
        Log.index.info("\(name): enough was recorded: its sources are told to end")
        hasEnded = true
        pipeline.endSources()
      }
      let message = pipeline.nextMessage(timeout: step)
      silence = message == nil ? step : .zero
      switch message {
      case .failed(let error) where recording?.isWindowClosed(error) ?? false:
        recording?.stop()
      case .failed(let error):
        throw failure(error).withCode(
          error.kind == .missingPlugin ? .missingPlugin : error.kind == .inputOutput ? .noInput : .damagedInput)
      case nil: progress(IndexProgress(position: tally.latestTime.time, end: pipeline.duration))
      default: break
      }
    }
  }

  /// Returns the decoder's sink pad, if the packets that enter through that pad are enough to index
  /// the video of `sink`; nil otherwise.
  private static func packets(before sink: Element) -> Pad? {
    let rest = sink.upstream.dropFirst().drop { element in element.factoryName.map(frameByFrame.contains) ?? false }
    guard let decoder = rest.first, decoder.isOfClass("Decoder"), decoder.isOfClass("Video"),
      // A parser or demuxer must mark the keyframes. A decoder that is not linked yet will be
      // linked to a demuxer.
      decoder.isOpenEnded || rest.dropFirst().contains(where: { $0.isOfClass("Parser") || $0.isOfClass("Demuxer") })
    else { return nil }
    return decoder.staticPad("sink")
  }

  private func collect(
    _ reader: StreamReader, _ tracks: AudioIndexer, _ sink: Element, _ watched: () -> PacketTimestamps?
  ) throws -> (PipelineFound, [Warning]) {
    guard let first = reader.next() else { return (.nothing, []) }
    guard first.caps?.mediaType == "video/x-raw" else {
      let known = source?.stream(of: .audio, before: sink).map { AudioIndexer(tracks, of: $0) } ?? tracks
      let (track, warnings) = try known.run(reader, first: first, watched: watched())
      return (track.map { .audio($0) } ?? .nothing, warnings)
    }
    return (try collectFrames(reader, first, of: source?.stream(of: .video, before: sink)), [])
  }

  private func collectFrames(_ reader: StreamReader, _ first: Sample, of path: StreamPath?) throws -> PipelineFound {
    var video = try RecordedVideo(like: first, rate: rate, resources, gauge)
    var next: Sample? = first
    // Also pull the buffers outside the recording, because a blocked source does not react to a
    // request to end.
    while let sample = next {
      switch recording?.takes(sample) {
      case .later?, .never?: break
      case .now?, nil:
        try video.add(sample)
        if let time = video.position { reader.reach(time) }
        recording?.didKeepFrames(video.count)
      }
      next = reader.next()
    }
    guard video.count > 0 else { return .nothing }
    return .frames(
      try video.source(
        tags: (reader.sink.pad?.tags(global: false)).merging(path?.tags), disposition: path?.disposition,
        description: decoding))
  }

  private func add(_ found: PipelineFound, _ name: String, to result: inout Result) throws {
    switch found {
    case .nothing:
      result.warnings.append(Warning(.streamLeftOut, "left out: the stream of appsink \(name), which received no data"))
    case .audio(let track):
      result.audio.append((name, track))
    case .packets, .frames:
      guard result.video == nil else {
        throw RetrogradeError(
          .usage, about: self.name, "has two appsinks with video frames, but only one can be reversed")
      }
      if case .frames = found { result.isWhole = false }
      result.video = (name, try source(found, name))
    }
  }

  private func source(_ found: PipelineFound, _ name: String) throws -> VideoSource {
    switch found {
    case .frames(let source):
      return source
    case .packets(let index, let isAsDecoded):
      var recipe = DecodingRecipe(pipeline: decoding, sink: name, source: name) { [source] pipeline in
        PipelineIndexer.prepare(pipeline, reading: source)
        // Only the appsink `name` is read, so the full queues of the other appsinks must not block
        // the pipeline.
        for other in pipeline.elements(ofFactory: "appsink") where other.name != name {
          try? other.set("max-buffers", "1")
          try? other.set("drop", "true")
        }
      }
      // If a filter follows the decoder, it may change size and colours, so the caps of the packets
      // do not describe the frames.
      if isAsDecoded { recipe.packetCaps = index.caps }
      recipe.isTimedByPackets = source?.isTimedByPackets ?? false
      recipe.stampsWrongTimes = recipe.isTimedByPackets
      return try VideoSource(
        index, recipe, range: nil, rate: rate, resources: resources, gauge: gauge, cancellation: cancellation)
    case .audio, .nothing:
      throw RetrogradeError(.internalFailure, about: name, "appsink \(name) received no frame")
    }
  }
}

/// Records the packets that enter a decoder, and drops them, so that nothing is decoded. The pad
/// retains the collector; the collector retains no pad, which avoids a cycle.
private final class PacketCollector: Sendable {
  private let packets = Mutex<(list: [VideoPacket], caps: Caps?, end: ClockTime?)>(([], nil, nil))
  private let declaresDurations: Bool
  private let isAsDecoded: Bool

  /// - Parameters:
  ///   - pad: sink pad of the decoder.
  ///   - declaresDurations: true if the durations of the packets come from the container.
  ///   - isAsDecoded: true if the frames are not changed after the decoder.
  init(_ pad: Pad, declaresDurations: Bool, isAsDecoded: Bool) {
    self.isAsDecoded = isAsDecoded
    self.declaresDurations = declaresDurations
    pad.dropBuffers { [self] buffer, pad in
      if buffer.isCodecHeader { return }
      let segment = pad.segment
      guard let caps = pad.caps, let packet = try? VideoPacket(buffer, segment, caps) else { return }
      packets.withLock { state in
        state.caps = state.caps ?? caps
        state.end = segment.streamEnd
        state.list.append(packet)
      }
    }
  }

  func run(_ reader: StreamReader, of path: @autoclosure () -> StreamPath?) -> PipelineFound {
    while reader.next() != nil {}
    let (list, caps, end) = packets.withLock { ($0.list, $0.caps, $0.end) }
    guard let caps, !list.isEmpty else { return .nothing }
    // After the last packet, all pads are linked, so the elements between file and decoder are
    // known.
    let path = path()
    var index = VideoIndex(
      caps: caps, tags: (reader.sink.pad?.tags(global: false)).merging(path?.tags), packets: list, segmentEnd: end,
      declaresDurations: declaresDurations)
    index.disposition = path?.disposition
    return .packets(index, isAsDecoded: isAsDecoded)
  }
}

/// Job of one thread: reads one appsink.
private struct Job: Sendable {
  let name: String
  let reader: StreamReader
  let work: @Sendable (StreamReader) throws -> (PipelineFound, [Warning])

  /// Reads the appsink until end of stream. If reading fails, the other jobs stop, and this job
  /// drains its appsink until the pipeline stops. Without draining, a full queue could block a
  /// source, and a blocked source can't be stopped (`Quirk.coreHeldSourceEnd`).
  func run() throws -> (PipelineFound, [Warning]) {
    do {
      return try reader.read(work)
    } catch {
      reader.sink.drain()
      throw error
    }
  }
}

/// Content that was read from one appsink.
private enum PipelineFound: Sendable {
  case packets(VideoIndex, isAsDecoded: Bool)
  case frames(VideoSource)
  case audio(AudioTrack)
  case nothing
}
