import GStreamer
import MediaTime
import Quirks
import RetrogradeEngine

/// Pushes the played frames and samples to the encoding pipeline, with a thread for each stream.
struct Feed: Sendable {
  let legs: PlaybackLegs
  /// Order of play of the audio.
  let audioLegs: PlaybackLegs
  let timing: Timing
  /// Videos to play. Progress is reported for the first video.
  let videos: [VideoSource]
  let audio: [AudioTrack]
  var subtitles: [SubtitleTrack] = []
  /// True if silence has to precede audio that starts late.
  let isPadded: Bool
  var drawing = FrameDrawing()
  /// Crop, rotation and scaling of each video's frames, applied after `drawing`.
  var geometries: [FrameGeometry?] = []
  /// Copies the packets of the first video's forward parts, and encodes the backward parts; nil if
  /// all parts are treated alike.
  var copy: ForwardCopy?
  /// Functions that push packets that are already encoded; nil to push frames and samples.
  var joined: PacketPushers?
  /// Number of sample frames in each pushed buffer.
  var audioPartSize = AudioReader.partSize
  let pipeline: EncodingPipeline
  let work: Work

  /// Time by which the title delays everything in `legs`: the duration of the title.
  private var lead: ClockTime { videos.isEmpty ? .zero : drawing.lead }

  /// Duration of the output, with the title.
  private var length: ClockTime { (legs.duration ?? .zero) + lead }

  /// Functions that push all packets of one stream to its appsrc. The first parameter is the number
  /// of the stream among the streams of its kind.
  struct PacketPushers: Sendable {
    var video: @Sendable (Int, AppSource) throws -> MuxedCount.PushedData
    var audio: @Sendable (Int, AppSource) throws -> MuxedCount.PushedData
  }

  struct Counts {
    var frames = 0
    var samples: [Int] = []
    var warnings: [Warning] = []
    /// Warnings about quality that was reduced to meet the size limit. `--strict` ignores these
    /// warnings.
    var qualityReductions: [Warning] = []
    /// Span of the written media, from the earliest start to the latest end.
    var span: TimeSpan?
    var duration = ClockTime.zero
    var streams: [WrittenMedia.Stream] = []
  }

  func run() throws -> Counts {
    defer { pipeline.close() }
    try pipeline.start { done, total in
      work.report(.finishing, done: done, of: total, position: length, duration: length)
    }
    let cues = try zip(subtitles, pipeline.texts).map { try give($0, $1) }
    let audioWorkers = try pipeline.audio.enumerated().map { index, source in
      try Worker("mirror audio \(index)") {
        try abortingOnFailure {
          if let joined { return try joined.audio(index, source) }
          return try play(audio[index], source, isMain: videos.isEmpty && index == 0)
        }
      }
    }
    let videoWorkers = try pipeline.videos.enumerated().map { index, source in
      try Worker("mirror video \(index)") {
        try abortingOnFailure {
          if let joined { return Frames(given: try joined.video(index, source)) }
          if index == 0, let copy { return try play(copy, source) }
          let geometry = geometries.indices.contains(index) ? geometries[index] : nil
          return try play(videos[index], geometry, source, isMain: index == 0)
        }
      }
    }
    let frames = videoWorkers.map { worker in Result { try worker.join() } }
    let samples = audioWorkers.map { worker in Result { try worker.join() } }
    try work.cancellation.check()
    let failures = (frames.map { $0.map { _ in } } + samples.map { $0.map { _ in } }).compactMap {
      result -> (any Error)? in
      if case .failure(let error) = result { error } else { nil }
    }
    // Throw the cause: a thread that stops because another thread failed throws only
    // `CancellationError`.
    if let error = failures.first(where: { !($0 is CancellationError) }) { throw error }
    work.report(.finishing, share: 0, position: length, duration: length)
    let heard = samples.map { (try? $0.get()) ?? .init(count: 0) }
    let shown = frames.compactMap { try? $0.get() }
    let written = try pipeline.finish(.init(videos: shown.map(\.given), audio: heard, texts: cues))
    let missing = written.warnings.map { warning in
      var warning = warning
      warning.span = warning.span.flatMap { legs.source(of: $0, laterBy: pipeline.mirrorStart + lead) }
      return warning
    }
    if let error = failures.first { throw error }
    return Counts(
      frames: written.counts.frames.first ?? 0, samples: written.counts.samples,
      warnings: (shown.flatMap(\.warnings) + missing).unique, qualityReductions: written.qualityReductions,
      span: written.span,
      streams: written.streams)
  }

  /// Stops the pipeline if a stream fails. Without the stop, the muxer would wait for that stream,
  /// and the other streams would wait for the muxer.
  private func abortingOnFailure<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      pipeline.abort()
      throw error
    }
  }

  /// Pushes all cues of a subtitle stream at once. This does not block, since the appsrc's queue
  /// has no limit.
  private func give(_ track: SubtitleTrack, _ source: AppSource) throws -> MuxedCount.PushedData {
    var cues = track.renumbered(track.played(legs.all))
    if pipeline.hasMP4Header, Quirk.qtmuxOverlappingText.applies {
      for (index, next) in cues.dropFirst().map(\.span.start).enumerated() where cues[index].span.end > next {
        let start = cues[index].span.start
        cues[index] = Cue(span: TimeSpan(start: start, end: max(start, next)), bytes: cues[index].bytes)
      }
    }
    // MP4 shows each text until the next text, so a blank text ends the last cue.
    if pipeline.hasMP4Header, let end = cues.map(\.span.end).max() {
      cues.append(
        Cue(span: TimeSpan(start: end, end: end + ClockTime(nanoseconds: 1_000_000)), bytes: [UInt8(ascii: " ")]))
    }
    var given = MuxedCount.PushedData(count: 0)
    for cue in cues {
      let buffer = try Buffer(size: cue.bytes.count) { $0.copyBytes(from: cue.bytes) }
      buffer.stamp(pts: pipeline.mirrorStart + lead + cue.span.start, duration: cue.span.duration)
      try pipeline.push(buffer, to: source)
      given.add(1, buffer)
    }
    pipeline.end(source)
    return given
  }

  private struct Frames: Sendable {
    var given = MuxedCount.PushedData(count: 0)
    var warnings: [Warning] = []
  }

  /// Pushes the frames of a video to the pipeline.
  private func play(
    _ video: VideoSource, _ geometry: FrameGeometry?, _ source: AppSource, isMain: Bool
  ) throws -> Frames {
    var frames = Frames()
    let watch = Stopwatch()
    let rate = video.shown.timeline.frameRate
    let total =
      drawing.titleFrames(rate: rate) + (VideoPlayer.frameCount(video, legs, timing: timing) ?? 0)
    let player = VideoPlayer(video, legs, timing: timing, work.cancellation)
    let painter = FramePainter(video, geometry)
    let painting = drawing.painting
    let needsPlainLayout = pipeline.needsPlainLayout
    func tell(_ shown: TimeSpan) {
      let count = frames.given.count
      guard isMain, count % 8 == 0 || count == total else { return }
      work.report(
        .reversing, done: count, of: max(total, count), position: shown.end, duration: length, since: watch)
    }
    try drawing.title(painter, rate: rate) { frame, shown in
      frame.stamp(pts: pipeline.mirrorStart + shown.start, duration: shown.duration)
      try pipeline.push(frame, to: source)
      frames.given.add(1, frame)
      tell(shown)
    }
    while var frame = try player.next(offset: pipeline.mirrorStart + drawing.lead) {
      source.setFieldOrder(of: frame.caps)
      frame.shown = TimeSpan(start: frame.shown.start + drawing.lead, end: frame.shown.end + drawing.lead)
      try frame.paint(painter, painting, number: frames.given.count)
      if needsPlainLayout { frame.buffer = try frame.buffer.inPlainLayout(frame.caps) }
      try pipeline.push(frame.buffer, to: source)
      frames.given.add(1, frame.buffer)
      tell(frame.shown)
    }
    frames.warnings = player.warnings
    pipeline.end(source)
    return frames
  }

  /// Pushes copied packets to the pipeline.
  private func play(_ copy: ForwardCopy, _ source: AppSource) throws -> Frames {
    let watch = Stopwatch()
    var given = MuxedCount.PushedData(count: 0)
    given.count = try copy.run(
      {
        try pipeline.push($0, to: source)
        given.add(0, $0)
      }, timing: timing, start: pipeline.mirrorStart, cancellation: work.cancellation
    ) { count, position in
      work.report(.reversing, done: count, position: position, duration: length, since: watch)
    }
    pipeline.end(source)
    return Frames(given: given)
  }

  /// Shortest time between two progress reports for audio.
  private static let reportInterval = ClockTime(nanoseconds: 20_000_000)

  /// Pushes an audio stream to the pipeline.
  private func play(_ track: AudioTrack, _ source: AppSource, isMain: Bool) throws -> MuxedCount.PushedData {
    let watch = Stopwatch()
    var given = MuxedCount.PushedData(count: 0)
    var player = AudioPlayer(track, audioLegs, isPadded: isPadded, partSize: audioPartSize)
    let total = isMain ? player.sampleCount ?? 0 : 0
    var told = ClockTime.zero
    while let part = try player.next() {
      try work.cancellation.check()
      part.buffer.stamp(pts: pipeline.mirrorStart + lead + part.shown.start, duration: part.shown.duration)
      try pipeline.push(part.buffer, to: source)
      given.add(part.count, part.buffer)
      let elapsed = watch.elapsed
      // Limit the reports: without encoding, thousands of buffers are pushed per second.
      if isMain, told == .zero || given.count == total || elapsed >= told + Feed.reportInterval {
        told = elapsed
        work.report(
          .reversing, done: given.count, of: max(given.count, total),
          position: part.shown.end, duration: length, since: watch)
      }
    }
    pipeline.end(source)
    return given
  }
}

extension MuxedCount.PushedData {
  /// Adds a pushed buffer with `count` frames or sample frames.
  mutating func add(_ count: Int, _ buffer: Buffer) {
    self.count += count
    guard let start = buffer.pts else { return }
    let end = start + (buffer.duration ?? .zero)
    span = TimeSpan(start: min(span?.start ?? start, start), end: max(span?.end ?? end, end))
  }
}

extension PlaybackLegs {
  /// Returns the range of the source that is played during `span`; nil if nothing is played then.
  /// `span` is in timestamps of the output; playback starts at the timestamp `offset`.
  fileprivate func source(of span: TimeSpan, laterBy offset: ClockTime) -> TimeSpan? {
    let spans = all.compactMap { $0.clipped(from: span.start - offset, to: span.end - offset)?.span }
    return spans.first.map { first in
      spans.reduce(first) { TimeSpan(start: min($0.start, $1.start), end: max($0.end, $1.end)) }
    }
  }
}
