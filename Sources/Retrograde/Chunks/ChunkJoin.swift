import GStreamer
import MediaTime
import RetrogradeEngine

/// Joins the chunks of a plan into the output, packet by packet, without decoding or encoding.
struct ChunkJoin: Sendable {
  private let folder: WorkFolder
  private let plan: ChunkPlan
  /// `done` event of each chunk.
  private let made: [Journal.Event]
  private let resources: Resources
  private let work: Work

  /// - Parameter made: the `done` event of each chunk.
  init(_ folder: WorkFolder, _ plan: ChunkPlan, _ made: [Journal.Event], _ resources: Resources, _ work: Work) {
    self.folder = folder
    self.plan = plan
    self.made = made
    self.resources = resources
    self.work = work
  }

  /// Returns the numbers of the chunks whose files do not match the size and checksum in the
  /// journal.
  func lost() throws -> [Int] {
    try made.indices.filter { number in
      try work.cancellation.check()
      guard let file = made[number].file, let found = Checksum.digest(ofFile: folder.chunkPath(number)) else {
        return true
      }
      return file != Journal.File(bytes: found.size, digest: found.digest)
    }
  }

  /// Writes the output.
  /// - Throws: ``RetrogradeError``.
  func run() throws -> (counts: Feed.Counts, warnings: [Warning]) {
    try Outputs.write(overwrites: plan.options.output.overwrites, inputs: [plan.source.path]) { outputs in
      // Begin the output last: files are renamed in the order in which they are begun, and the
      // output must not exist before all other files are finished.
      if let path = plan.subtitleOutput?.path { try outputs.begin(path, isNumbered: false) }
      try outputs.begin(plan.output)
      let location = try outputs.location(of: plan.output)
      let pipeline = try EncodingPipeline(
        contents { try $0.write(to: location) }, for: plan.output, work.cancellation)
      try plan.checkSource(isRunning: true)
      let counts = try Feed(
        legs: plan.legs, audioLegs: plan.legs, timing: plan.options.playback.timing, videos: [], audio: [],
        subtitles: plan.subtitles.compactMap(\.track),
        isPadded: false, joined: packets(pipeline), pipeline: pipeline, work: work
      ).run()
      try work.cancellation.check()
      let warnings =
        ((plan.warnings + made.flatMap { $0.warnings ?? [] }).map(\.warning) + counts.warnings
        + pipeline.unsupportedContent).unique
      try warnings.check(isStrict: plan.options.output.isStrict, plan.output)
      if plan.options.output.isVerified { try verify(location) }
      // If this run is interrupted from now on, a later run recognises the finished files by this
      // event.
      var event = Journal.Event(.joined)
      event.subtitles = try writeSubtitles(outputs)
      event.output = FileStamp(location)
      try folder.note(event)
      return (counts, warnings)
    }
  }

  /// - Returns: the stamp of the subtitle file; nil if there are no subtitles to write.
  private func writeSubtitles(_ outputs: Outputs) throws -> FileStamp? {
    guard let output = plan.subtitleOutput, let track = output.subtitles.track else { return nil }
    let location = try outputs.location(of: output.path)
    try SubtitleFile.write([track], plan.legs.all, lead: .zero, to: location, for: output.path)
    return FileStamp(location)
  }

  private func verify(_ location: String) throws {
    try Verifier.check(
      [plan.source.path], mirror: location, name: plan.output, plan.options.all(resources),
      isLossless: plan.options.encoding.quality == .lossless, work)
  }

  private func contents(
    _ prepare: @escaping @Sendable (Pipeline) throws -> String
  ) throws -> EncodingPipeline.Contents {
    let videos = try plan.videos.enumerated().map { number, video in
      let chunks = plan.chunks(.video, number)
      let packets = chunks.compactMap { made[$0].content?.caps }.compactMap { Caps($0) }
      // The output has one codec header, so chunks with different headers can't be joined. Chunks
      // encoded with the same settings have equal headers, except for the field order. The field
      // order may differ, because each frame declares its own order too.
      let headers = Set(packets.map { $0.removing(["field-order"]).description })
      guard headers.count == 1, let own = packets.first, let raw = Caps(video.caps) else {
        throw RetrogradeError(
          .internalFailure, about: plan.output,
          "the video chunks can't be joined, since they have \(headers.count) different codec headers",
          remedy: "leave out \(setting: .work)")
      }
      return EncodingPipeline.Stream(
        name: video.name, caps: raw, disposition: video.disposition,
        orientation: video.orientation, fieldOrder: video.fieldOrder, title: video.title,
        comments: video.comments, packets: PacketOutput.named(own))
    }
    let audio = try plan.audio.enumerated().map { number, stream in
      guard let made = made(audio: number), let packets = (made.content?.caps).flatMap({ Caps($0) }),
        let raw = Caps(stream.caps)
      else {
        throw RetrogradeError(
          .internalFailure, about: plan.output, "the chunk of audio stream \(number) has no codec header")
      }
      return EncodingPipeline.Stream(
        name: "audio\(number)", caps: raw, disposition: stream.disposition, title: stream.title,
        comments: stream.comments, packets: packets)
    }
    let heard = plan.audio.indices.compactMap { made(audio: $0)?.heard }
    var contents = EncodingPipeline.Contents(
      description: plan.joining, videos: videos, audio: audio,
      texts: plan.subtitles.enumerated().compactMap { number, track in
        Caps(track.caps).map {
          .init(
            name: "text\(number)", caps: $0, disposition: track.disposition,
            title: track.tags.flatMap { TagList($0) }?.string("title"))
        }
      }, chapters: plan.chapters, comments: plan.comments, mp4Tags: plan.mp4Tags,
      tags: plan.tags.flatMap { TagList($0) }, duration: plan.legs.duration,
      prepare: prepare)
    contents.lead = (clocks.compactMap { $0?.lead } + heard.map(\.origin)).max() ?? .zero
    contents.priming = AudioPriming(leadIn: .zero, samples: heard.map { $0.priming.samples.first ?? 0 })
    contents.origin = plan.origin
    return contents
  }

  private func made(audio number: Int) -> Journal.Event? { plan.chunks(.audio, number).first.map { made[$0] } }

  /// DTS generator of each video stream; nil for Matroska and WebM, which store no DTS.
  private var clocks: [DTSGenerator?] {
    plan.videos.enumerated().map { number, video in
      guard !["matroskamux", "webmmux"].contains(where: plan.joining.hasPrefix) else { return nil }
      let depth = plan.chunks(.video, number).compactMap { made[$0].content?.reordering }.max() ?? 0
      return DTSGenerator(depth: depth, step: video.step)
    }
  }

  private func packets(_ pipeline: EncodingPipeline) -> Feed.PacketPushers {
    let watch = Stopwatch()
    let clocks = clocks
    let (start, total) = (pipeline.mirrorStart, plan.frameCount)
    return Feed.PacketPushers(
      video: { number, sink in
        var clock = clocks[number]
        var given = MuxedCount.PushedData(count: 0)
        for chunk in plan.chunks(.video, number) {
          let stream = try PacketFile(path: folder.chunkPath(chunk)).open(for: plan.output)
          defer { stream.stop() }
          let offset = start + plan.chunks[chunk].span.start
          while let sample = try stream.next(work.cancellation) {
            guard let time = sample.streamTime else { continue }
            let shown = time + offset
            let packet = sample.buffer.retimed(
              pts: shown, dts: clock?.next(shownAt: shown), duration: sample.buffer.duration ?? .zero)
            try pipeline.push(packet, to: sink)
            given.add(1, packet)
          }
          if number == 0 {
            work.report(
              .joining, done: given.count, of: total, position: plan.chunks[chunk].span.end,
              duration: plan.legs.duration ?? .zero, since: watch)
          }
        }
        pipeline.end(sink)
        return given
      },
      audio: { number, sink in
        guard let chunk = plan.chunks(.audio, number).first, let heard = made[chunk].heard else {
          return MuxedCount.PushedData(count: 0)
        }
        let stream = try PacketFile(path: folder.chunkPath(chunk)).open(for: plan.output)
        defer { stream.stop() }
        while let sample = try stream.next(work.cancellation) {
          guard let time = sample.streamTime else { continue }
          let shown = time + start - heard.origin
          try pipeline.push(
            sample.buffer.retimed(pts: shown, dts: shown, duration: sample.buffer.duration ?? .zero), to: sink)
        }
        pipeline.end(sink)
        return MuxedCount.PushedData(
          count: heard.samples,
          span: heard.span.map { TimeSpan(start: $0.start + start, end: $0.end + start) })
      })
  }
}
