import GStreamer
import MediaTime
import RetrogradeEngine
import Synchronization

/// Encodes the chunks of a plan. The source is opened once for all chunks.
final class ChunkMaker: Sendable {
  private let folder: WorkFolder
  private let plan: ChunkPlan
  private let resources: Resources
  private let work: Work
  private let opened = Mutex<OpenedSource?>(nil)
  /// Indexes of the videos, by stream number.
  private let indexes = Mutex<[Int: VideoIndex]>([:])

  /// - Parameter resources: limits for one chunk, since several chunks may be made at once.
  init(_ folder: WorkFolder, _ plan: ChunkPlan, _ resources: Resources, _ work: Work) {
    self.folder = folder
    self.plan = plan
    self.resources = resources
    self.work = work
  }

  /// Makes chunk `number`. The chunk's file appears complete, or not at all.
  ///
  /// - Parameter shown: called with the number of frames pushed to the encoder so far.
  /// - Returns: the event to add to the journal.
  /// - Throws: ``RetrogradeError``.
  func make(_ number: Int, shown: @Sendable (Int) -> Void) throws -> Journal.Event {
    let watch = Stopwatch()
    let chunk = plan.chunks[number]
    let path = folder.chunkPath(number)
    return try Outputs.write(overwrites: true, inputs: [plan.source.path]) { outputs in
      // All chunks must be made from the same source, so check that the source has not changed.
      try plan.checkSource(isRunning: true)
      try outputs.begin(path)
      let location = try outputs.location(of: path)
      var event = Journal.Event(.done, number)
      if chunk.kind == .audio {
        let (heard, warnings) = try audio(chunk, location, path)
        (event.heard, event.warnings) = (heard, warnings.map(Notice.init))
      } else {
        let warnings = try ClearedMemory.during { try video(number, location, path, shown) }
        event.warnings = warnings.map(Notice.init)
      }
      let content = try PacketFile(path: location).content(for: path, work.cancellation)
      guard chunk.kind == .audio || content.packets == chunk.frames else {
        throw RetrogradeError(
          .internalFailure, about: path, "contains \(content.packets) frames instead of \(chunk.frames)")
      }
      guard let (digest, size) = Checksum.digest(ofFile: location) else {
        throw RetrogradeError(.inputOutput, about: path, "can't be read back")
      }
      (event.content, event.file) = (content, Journal.File(bytes: size, digest: digest))
      event.seconds = watch.elapsed.seconds
      return event
    }
  }

  private func settings(_ change: (inout PlaybackOptions) -> Void = { _ in }) throws -> PlaybackSettings {
    var playback = plan.options.playback
    change(&playback)
    return PlaybackSettings(
      playback, count: playback.count, for: try OutputRequirements(of: plan.output, plan.options.encoding),
      resources: resources, gauge: work.gauge, cancellation: work.cancellation)
  }

  private func source(_ settings: PlaybackSettings) throws -> OpenedSource {
    try opened.withLock { opened in
      if let opened { return opened }
      let new = try OpenedSource(plan.source.path, settings)
      opened = new
      return new
    }
  }

  private func index(_ stream: Int) throws -> VideoIndex {
    try indexes.withLock { indexes in
      if let known = indexes[stream] { return known }
      let index = try folder.index(stream, of: plan)
      indexes[stream] = index
      return index
    }
  }

  private func video(
    _ number: Int, _ location: String, _ target: String, _ shown: (Int) -> Void
  ) throws -> [Warning] {
    let chunk = plan.chunks[number]
    let stream = plan.videos[chunk.stream]
    let settings = try settings()
    let video = try source(settings).video(
      chunk.stream, try index(chunk.stream), range: plan.range, part: chunk.source, settings)
    guard let raw = Caps(stream.caps) else { throw damagedPlan }
    // An encoder uses the field order of the first caps throughout, so these caps must have the
    // field order of the chunk's first leg. `raw` has the field order of the plan's first leg,
    // which may play in the other direction.
    let leg = plan.legs.number(at: chunk.span.start).flatMap { plan.legs[$0] }
    let isTurned = leg.map { $0.direction != plan.legs[0]?.direction } ?? false
    let pipeline = try EncodingPipeline(
      EncodingPipeline.Contents(
        description: stream.encoding,
        videos: [
          .init(
            name: stream.name, caps: isTurned ? raw.mirroredFields : raw,
            encoderOptions: stream.settings.merging(chunk.settings) { $1 })
        ], audio: [], encoder: stream.encoder
      ) { try $0.write(to: location) }, for: target, work.cancellation)
    defer { pipeline.close() }
    try pipeline.start()
    let player = VideoPlayer(
      video, plan.legs, from: chunk.span.start, to: chunk.span.end, timing: plan.options.playback.timing,
      work.cancellation)
    var given = MuxedCount.PushedData(count: 0)
    let sink = pipeline.videos[0]
    // Check the fonts, because the plan may come from another machine that has fonts which this one
    // lacks.
    try plan.options.lettering.check()
    let geometry = try FrameGeometry(
      video.caps, orientation: video.video.tags?.string("image-orientation"), plan.options.encoding.framing,
      for: Container.of(plan.output, format: plan.options.encoding.format))
    let (painter, painting) = (FramePainter(video, geometry), plan.options.lettering.overlay)
    let first = plan.firstFrame(of: number)
    while var frame = try player.next(offset: .zero - chunk.span.start) {
      sink.setFieldOrder(of: frame.caps)
      try frame.paint(painter, painting, number: first + given.count)
      try pipeline.push(frame.buffer, to: sink)
      given.add(1, frame.buffer)
      shown(given.count)
    }
    pipeline.end(sink)
    let written = try pipeline.finish(.init(videos: [given]))
    guard given.count == chunk.frames else {
      throw RetrogradeError(
        .damagedInput, about: plan.source.path,
        "should have \(chunk.frames) frames from \(chunk.source.start) to \(chunk.source.end), according to the plan, "
          + "but has \(given.count)"
      )
    }
    return player.warnings + written.warnings
  }

  private func audio(
    _ chunk: ChunkPlan.Chunk, _ location: String, _ target: String
  ) throws -> (Journal.AudioFacts, [Warning]) {
    let stream = plan.audio[chunk.stream]
    // Open the whole source, so that sample positions do not depend on the played range.
    let settings = try settings {
      $0.noVideo = true
      ($0.start, $0.end, $0.score) = (nil, nil, nil)
    }
    let source = try PlayableSource(try OpenedSource(plan.source.path, settings), settings) { _ in }
    let tracks = source.index.audio.filter { !$0.frames(during: plan.legs.presentation.span).isEmpty }
    guard tracks.indices.contains(chunk.stream), let caps = Caps(stream.caps) else { throw damagedPlan }
    let track = tracks[chunk.stream]
    var contents = EncodingPipeline.Contents(
      description: stream.encoding, videos: [],
      audio: [.init(name: "audio\(chunk.stream)", caps: caps, sampleCount: stream.sampleCount)]
    ) { try $0.write(to: location) }
    contents.hasEditLists = plan.hasEditLists
    let pipeline = try EncodingPipeline(contents, for: target, work.cancellation)
    defer { pipeline.close() }
    try pipeline.start()
    var player = AudioPlayer(
      track, plan.legs,
      isPadded: try Container.of(plan.output, format: plan.options.encoding.format).needsAudioFromStart)
    var given = MuxedCount.PushedData(count: 0)
    let sink = pipeline.audio[0]
    while let part = try player.next() {
      try work.cancellation.check()
      part.buffer.stamp(pts: pipeline.mirrorStart + part.shown.start, duration: part.shown.duration)
      try pipeline.push(part.buffer, to: sink)
      given.add(part.count, part.buffer)
    }
    pipeline.end(sink)
    let written = try pipeline.finish(.init(audio: [given]))
    let heard = Journal.AudioFacts(
      samples: written.counts.samples.first ?? 0, span: given.span, priming: pipeline.priming,
      origin: pipeline.mirrorStart)
    return (heard, written.warnings)
  }

  private var damagedPlan: RetrogradeError {
    RetrogradeError(
      .damagedInput, about: folder.path, "the plan in this work folder does not match the source",
      remedy: "remove the folder, and start again")
  }
}

extension Pipeline {
  /// Sets the path of the sink named `file`.
  /// - Returns: `path`.
  func write(to path: String) throws -> String {
    try element("file")?.set("location", path)
    return path
  }
}
