import Containers
import GStreamer
import MediaTime
import Quirks

/// Pipeline for one or more indexing passes of a source, and the threads that read its streams.
final class IndexingPipeline {
  /// Result of one pass.
  struct Reading {
    var videos: [VideoIndex] = []
    var subtitles: [SubtitleTrack] = []
    var audio: [(track: AudioTrack?, anchor: AudioAnchor?, warnings: [Warning])] = []
    /// Reason for the end of the pass (`end`), last position of the pass (`position`), and first
    /// error that an element posted (`failure`).
    var end: IndexingPass.End
    var position: ClockTime
    var failure: GStreamerError?
    var warnings: [Warning] = []
  }

  private let indexer: Indexer
  private let streams: ChosenStreams
  private let pipeline: Pipeline
  private let gate: RangeGate?
  private let disk: DiskWatch
  private let late: LateStreams
  private let skipped: [SkippedStart]
  private var tally = StreamTally()
  private var isStarted = false
  /// Longest wait for a bus message; the end of a pass is noticed at most this much later.
  private let step: ClockTime

  private var topology: Topology { indexer.topology }

  /// - Parameter gate: gate that ends the streams of each pass; nil if the streams end where the
  ///   source ends.
  init(_ indexer: Indexer, _ streams: ChosenStreams, gate: RangeGate? = nil) throws {
    self.indexer = indexer
    self.streams = streams
    self.gate = gate
    let topology = indexer.topology
    step = ClockTime(nanoseconds: gate == nil ? 50_000_000 : 5_000_000)
    let pipeline: Pipeline
    do {
      pipeline = try Pipeline(topology.description(streams.all))
    } catch let error as GStreamerError {
      throw RetrogradeError.reading(topology.source, error)
    }
    self.pipeline = pipeline
    if let gate {
      // Watch the streams in order, and before other pad probes change the GStreamer segments.
      for (number, (stream, _)) in streams.all.enumerated() {
        guard let sink = pipeline.element(streams.sinkName(number)), gate.watch(sink, stream.kind) else {
          throw InexactRange(reason: "no demuxer leads to its stream \(number)")
        }
      }
    }
    // If a decoder reads the file directly, no packets enter the decoder, so there is nothing to
    // watch.
    if !topology.streams.contains(where: \.isFile) { streams.tracks.forEach { $0.watch(pipeline) } }
    // Prepare the pipeline before `read` starts it. `read` starts the pipeline before the reader
    // threads, because an appsink that has not started reports its end.
    topology.prepare(pipeline)
    for (number, stream) in streams.videos.enumerated() where stream.declaresDurations {
      pipeline.element(IndexingPipeline.videoName(number)).map(pipeline.keepDemuxedDurations)
    }
    if gate == nil {
      for number in streams.videos.indices {
        try? pipeline.appSink(IndexingPipeline.videoName(number)).takeBuffersOutsideSegments()
      }
    }
    disk = DiskWatch(pipeline, reading: topology.source)
    late = topology.lateStreams(pipeline, after: tally.samples)
    skipped = streams.videos.compactMap { SkippedStart($0, in: pipeline) }
  }

  /// Stops the pipeline.
  func stop() { pipeline.set(.null) }

  /// Seeks to the last keyframe at or before `time` for another pass. All streams must already have
  /// ended.
  /// - Returns: false if the seek fails.
  func seek(toKeyframeBefore time: ClockTime) throws -> Bool {
    streams.tracks.forEach { $0.resetNotes() }
    tally = StreamTally()
    return try pipeline.appSink(streams.sinkName(0)).seek(toKeyframeBefore: time)
  }

  /// Reads all streams until the gate or the source ends them.
  /// - Parameter fits: wanted part of each audio stream; empty for the whole streams.
  func read(_ fits: [AudioFit] = []) throws -> Reading {
    let (tally, indexer) = (tally, indexer)
    if !isStarted { pipeline.set(.playing) }
    isStarted = true
    let videoWorkers = try streams.videos.enumerated().map { number, video in
      let reader = StreamReader(try pipeline.appSink(IndexingPipeline.videoName(number)), tally, indexer.priorityGate)
      return try Worker("index video") { try reader.read { try IndexingPipeline.indexVideo(indexer, video, $0) } }
    }
    let textWorkers = try streams.texts.enumerated().map { number, text in
      let reader = StreamReader(try pipeline.appSink("text\(number)"), tally, indexer.priorityGate)
      return try Worker("index text") { try reader.read { try IndexingPipeline.indexText(text, $0) } }
    }
    let trackWorkers = try streams.tracks.enumerated().map { number, track in
      let reader = StreamReader(try pipeline.appSink(track.name), tally, indexer.priorityGate)
      let fit = number < fits.count ? fits[number] : AudioFit()
      return try Worker("index \(track.name)") { try reader.read { try track.run($0, fit) } }
    }
    let (end, failure) = watch(tally)
    // After a failure or a cancellation, the remaining data of other streams is not needed.
    if end == .cancelled || end == .readerFailed { pipeline.set(.null) }
    tally.isOver.cancel()
    var reading = Reading(end: end, position: tally.latestTime.time, failure: failure)
    reading.videos = try videoWorkers.map { try $0.join() }
    let texts = try textWorkers.map { try $0.join() }
    reading.subtitles = texts.map(\.track)
    reading.audio = try trackWorkers.map { try $0.join() }
    try indexer.cancellation.check()
    reading.warnings = skipped.compactMap(\.warning) + late.warnings + texts.compactMap(\.warning)
    return reading
  }

  /// Waits for the end of the pass.
  /// - Returns: the reason for the end, and the first error that an element posted.
  private func watch(_ tally: StreamTally) -> (end: IndexingPass.End, failure: GStreamerError?) {
    let count = streams.all.count
    var step = step
    var pass = IndexingPass(streams: count, stall: indexer.stall)
    var failure: GStreamerError?
    var silence = ClockTime.zero
    while true {
      var sight = IndexingPass.Snapshot(tally, indexer.cancellation)
      sight.silence = silence
      sight.isReading = disk.isReading
      sight.isStreaming = !pass.hasFailed || pipeline.isStreaming
      if let end = pass.end(seeing: sight) {
        Log.index.info(
          "\(topology.source): the pass ends: \(end); \(sight.ended) of \(count) streams ended, \(sight.samples) samples came, "
            + "up to \(tally.latestTime.time)")
        // A stream also ends after an element failed. The error is then already on the bus.
        return (end, failure ?? pipeline.pendingFailure)
      }
      let message = pipeline.nextMessage(timeout: step)
      // After end of stream, the readers only pull the remaining samples, so poll more often to
      // notice their end soon.
      if case .endOfStream? = message { step = ClockTime(nanoseconds: 1_000_000) }
      silence = message == nil && indexer.priorityGate?.isUrgent != true ? step : .zero
      if case .failed(let error)? = message {
        Log.index.warning("\(topology.source): an element failed: \(error.cause); the pass goes on while others run")
        failure = failure ?? error
        pass.fail()
        disk.noteFailure()
      }
      if message == nil { indexer.progress(IndexProgress(position: tally.latestTime.time, end: pipeline.duration)) }
    }
  }

  static func videoName(_ number: Int) -> String { number == 0 ? "video" : "video\(number)" }

  private static func indexText(
    _ path: StreamPath, _ reader: StreamReader
  ) throws -> (track: SubtitleTrack, warning: Warning?) {
    var track = SubtitleTrack(caps: path.caps, tags: path.tags, disposition: path.disposition, cues: [])
    var open = false
    var openCount = 0
    while let sample = reader.next() {
      if track.cues.isEmpty, let caps = sample.caps { track.caps = caps }
      guard let start = sample.streamTime else { continue }
      // A cue without a duration lasts until the next cue.
      if open, let last = track.cues.indices.last {
        track.cues[last].span.end = max(start, track.cues[last].span.start)
      }
      let bytes = try sample.buffer.withBytes { Array($0) }
      let duration = sample.buffer.duration
      open = duration == nil
      // In MP4 timed text, an empty packet shows no text.
      if bytes.allSatisfy({ $0 == 0 || $0 == 32 || $0 == 10 }) { continue }
      openCount += open ? 1 : 0
      track.cues.append(
        Cue(span: TimeSpan(start: start, end: start + (duration ?? ClockTime(seconds: 5))), bytes: bytes))
    }
    // Read the tags last, because they may arrive late. `path` has further tags, which the demuxer
    // does not provide.
    track.tags = (reader.sink.pad?.tags(global: false)).merging(path.tags)
    track.cues.sort { $0.span.start < $1.span.start }
    guard openCount > 0 else { return (track, nil) }
    let what = "\(openCount) subtitle\(openCount == 1 ? " without a duration is" : "s without a duration are")"
    return (
      track, Warning(.converted, "changed: \(what) shown until the next one, or for 5 s", count: openCount)
    )
  }

  private static func indexVideo(_ indexer: Indexer, _ path: StreamPath, _ reader: StreamReader) throws -> VideoIndex {
    var packets: [VideoPacket] = []
    var caps = path.caps
    var turning: PacketReversal?
    var pictures = PictureBytes(caps)
    var known: Caps?
    /// Number of packets up to the last presented one. Later packets are not needed to decode any
    /// presented packet.
    var wantedCount = 0
    var end: ClockTime?
    var decoder: String?
    var needsItsContainer = false
    var pixelFormat: FFV1PixelFormat?
    var misreadKind: String?
    var isFields = false
    var (details, metadata, hasTimecode): ([ContainerDetail], [String], Bool) = ([], [], false)
    var (crop, declaresViews): (PictureCrop?, Bool) = (nil, false)
    let isOnlyDecoded =
      Quirk.avidemuxKeyframeTimes.applies && path.steps.last?.factory == "avidemux" && caps.mediaType == "video/mpeg"
    while let sample = reader.next() {
      if packets.isEmpty, let first = sample.caps { caps = path.completing(first) }
      let buffer = sample.buffer
      if buffer.isCodecHeader { continue }
      if packets.isEmpty {
        isFields = caps.mediaType == "video/x-h265" && buffer.isField
        try buffer.withBytes { bytes in
          decoder = DecodingRecipe.decoder(of: caps, startingWith: bytes)
          needsItsContainer = path.isBoxed && JPEG2000Packet(bytes)?.mayBeRGB ?? true
          misreadKind = MisreadVideo.misreadKind(caps, firstPacket: bytes)
          if caps.mediaType == "video/x-ffv" {
            pixelFormat = FFV1PixelFormat(configuration: caps.buffer("codec_data"), firstPacket: bytes)
          }
        }
      }
      if let now = sample.caps, !(known?.isEqual(now) ?? false) {
        pictures = PictureBytes(now)
        known = now
      }
      turning = turning ?? PacketReversal(caps)
      try turning?.add(sample)
      end = sample.segment.streamEnd
      var packet = try VideoPacket(buffer, sample.segment, caps)
      packet.pictureBytes = try buffer.withBytes { pictures.count(in: $0) }
      if packet.isKeyframe, !packets.isEmpty, try buffer.withBytes({ pictures.recoversLater(in: $0) }) {
        packet.isKeyframe = false
      }
      if packets.isEmpty {
        (details, metadata, hasTimecode) = try buffer.withBytes {
          (pictures.details(in: $0), pictures.dynamicMetadata(in: $0), pictures.hasTimecode(in: $0))
        }
        (crop, declaresViews) = try buffer.withBytes { (pictures.crop(in: $0), pictures.declaresViews(in: $0)) }
      } else if let first = crop, first.hidesLeft,
        let other = try buffer.withBytes({ pictures.crop(in: $0) }), other != first
      {
        // The same columns are cut from all frames, which would cut visible ones.
        crop = nil
      }
      if isOnlyDecoded { packet.time = nil }
      packets.append(packet)
      if !buffer.isOutside(sample.segment) { wantedCount = packets.count }
      if let time = sample.streamTime { reader.reach(time) }
    }
    packets.removeLast(packets.count - wantedCount)
    // An edit may begin within a frame. Like FFmpeg, keep the rest of such a frame only if all
    // frames are independent.
    if packets.contains(where: \.isCut), !packets.allSatisfy(\.isKeyframe) {
      for number in packets.indices where packets[number].isCut { packets[number].isHidden = true }
      details.append(ContainerDetail(file: "the partial frame at the start of an edit"))
    }
    if let track = path.unstampedTrack, packets.allSatisfy({ $0.time == nil }) {
      let times = indexer.topology.facts.blockTimes(ofTrack: track) { indexer.cancellation.isCancelled }
      if times.count == packets.count { for (number, time) in times.enumerated() { packets[number].time = time } }
    }
    var index = VideoIndex(
      caps: caps,
      tags: (reader.sink.pad?.tags(global: false)).merging(path.tags).oriented(path.orientation), packets: packets,
      segmentEnd: end,
      declaresDurations: path.declaresDurations)
    index.disposition = path.disposition
    index.decoder = decoder
    index.needsItsContainer = needsItsContainer
    index.pixelFormat = pixelFormat
    index.misreadKind = misreadKind
    index.isFields = isFields
    index.dynamicMetadata = metadata.unique
    index.crop = crop
    index.declaresViews = declaresViews
    index.hasTimecode = hasTimecode
    index.details = details
    index.obstacle = indexer.holdsImages ? "it is made of images" : turning?.obstacle(in: packets)
    Log.index.info(
      "\(indexer.topology.source): the packets of \(caps.codecName) "
        + (index.obstacle.map { "stay in their order: \($0)" } ?? "can stand in any order"))
    return index
  }
}

extension StreamPath {
  /// Returns the caps with values that the demuxer does not provide:
  /// - `variant` of ProRes; `matroskademux` names this value `format`;
  /// - frame rate 10⁹ for H.264 in transport and program streams, if the caps contain no rate
  ///   (`Quirk.h264parseTimeBase`). `FrameSpacing` replaces this implausible rate with the measured
  ///   one.
  fileprivate func completing(_ caps: Caps) -> Caps {
    if caps.mediaType == "video/x-prores", !caps.has("variant"), let variant = caps.string("format") {
      return caps.removing(["format"]).setting("variant", variant)
    }
    guard caps.mediaType == "video/x-h264", caps.fraction("framerate")?.numerator == 0,
      steps.contains(where: { ["tsdemux", "mpegpsdemux"].contains($0.factory) })
    else { return caps }
    return caps.setting("framerate", "(fraction)1000000000/1")
  }
}

extension ChosenStreams {
  /// Returns the name of the appsink at the end of stream `number`, counted over all streams.
  fileprivate func sinkName(_ number: Int) -> String {
    if number < videos.count { return IndexingPipeline.videoName(number) }
    let rest = number - videos.count
    return rest < texts.count ? "text\(rest)" : tracks[rest - texts.count].name
  }
}
