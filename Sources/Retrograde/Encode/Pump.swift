import GStreamer
import RetrogradeEngine

/// Gives what is played to the writer: each stream on a thread of its own.
struct Pump: Sendable {
  let timing: Timing
  let gauge: MemoryGauge
  let cancellation: Cancellation
  let report: @Sendable (Progress) -> Void

  struct Counts {
    var frames = 0
    var samples: [Int] = []
    var warnings: [Warning] = []
    /// From the earliest start of what was written to the latest end.
    var span: TimeSpan?
    var duration = ClockTime.zero
  }

  /// - Parameters:
  ///   - videos: progress is that of the first.
  ///   - isPadded: whether sound that starts late is to be preceded by silence.
  func run(
    _ legs: Legs, _ videos: [VideoSource], _ audio: [AudioTrack], _ subtitles: [SubtitleTrack] = [],
    _ writer: MediaWriter, isPadded: Bool, _ drawing: FrameDrawing = FrameDrawing(), _ copy: ForwardCopy? = nil
  ) throws -> Counts {
    try cancellation.onCancel({ writer.abort() }) {
      defer { writer.close() }
      try writer.start()
      let lead = videos.isEmpty ? .zero : drawing.lead
      let cues = try zip(subtitles, writer.texts).map { try give($0, legs, writer, $1, lead: lead) }
      let soundWorkers = try audio.enumerated().map { index, track in
        try Worker("mirror audio \(index)") {
          try abortingOnFailure(writer) {
            try play(
              track, legs, writer, writer.audio[index], lead: lead, isPadded: isPadded,
              isMain: videos.isEmpty && index == 0)
          }
        }
      }
      let pictureWorkers = try zip(videos, writer.videos).enumerated().map { index, pair in
        try Worker("mirror video \(index)") {
          try abortingOnFailure(writer) {
            if index == 0, let copy { return try play(copy, legs, writer, pair.1) }
            return try play(pair.0, legs, writer, pair.1, drawing, isMain: index == 0)
          }
        }
      }
      let pictures = pictureWorkers.map { worker in Result { try worker.join() } }
      let samples = soundWorkers.map { worker in Result { try worker.join() } }
      try cancellation.check()
      let failures = (pictures.map { $0.map { _ in } } + samples.map { $0.map { _ in } }).compactMap {
        result -> (any Error)? in
        if case .failure(let error) = result { error } else { nil }
      }
      // A thread that was woken because another failed says only that it was cancelled.
      if let error = failures.first(where: { ($0 as? RetrogradeError)?.code != .cancelled }) { throw error }
      let heard = samples.map { (try? $0.get()) ?? 0 }
      let shown = pictures.compactMap { try? $0.get() }
      let written = try writer.finish(.init(frames: shown.map(\.count), samples: heard, cues: cues))
      if let error = failures.first { throw error }
      return Counts(
        frames: written.counts.frames.first ?? 0, samples: written.counts.samples,
        warnings: (shown.flatMap(\.warnings) + written.warnings).unique, span: written.span)
    }
  }

  /// Stops the writing where one stream fails: the muxer would wait for it, and the other streams for the muxer.
  private func abortingOnFailure<Value>(_ writer: MediaWriter, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      writer.abort()
      throw error
    }
  }

  /// Gives all of a stream of subtitles to the writer, which waits for none of it.
  /// - Returns: how many cues those are.
  private func give(
    _ track: SubtitleTrack, _ legs: Legs, _ writer: MediaWriter, _ source: AppSource, lead: ClockTime
  ) throws -> Int {
    var cues = track.renumbered(track.played(legs.all))
    // qtmux 1.22 has a text end where the next begins, and makes up the end of the last.
    if writer.hasMovieHeader, let end = cues.map(\.span.end).max() {
      cues.append(
        Cue(span: TimeSpan(start: end, end: end + ClockTime(nanoseconds: 1_000_000)), bytes: [UInt8(ascii: " ")]))
    }
    for cue in cues {
      let buffer = try Buffer(size: cue.bytes.count) { $0.copyBytes(from: cue.bytes) }
      buffer.stamp(pts: writer.mirrorStart + lead + cue.span.start, duration: cue.span.duration)
      try writer.push(buffer, to: source)
    }
    writer.end(source)
    return cues.count
  }

  private struct Pictures: Sendable {
    var count = 0
    var warnings: [Warning] = []
  }

  /// Gives the frames of the video to the writer.
  private func play(
    _ video: VideoSource, _ legs: Legs, _ writer: MediaWriter, _ source: AppSource, _ drawing: FrameDrawing,
    isMain: Bool
  ) throws -> Pictures {
    var pictures = Pictures()
    var caps: Caps?
    let watch = Stopwatch()
    let total = legs.all.reduce(0) { $0 + video.shown.timeline.clipped(to: $1.span).frames.count }
    let player = VideoPlayer(video, legs, timing: timing, cancellation)
    let painter = FramePainter(video.caps, orientation: video.video.tags?.string("image-orientation"))
    try drawing.title(painter, rate: video.shown.timeline.frameRate) { frame, shown in
      frame.stamp(pts: writer.mirrorStart + shown.start, duration: shown.duration)
      try writer.push(frame, to: source)
      pictures.count += 1
    }
    while var frame = try player.next(offset: writer.mirrorStart + drawing.lead) {
      if let caps, !caps.isEqual(frame.caps) { source.setCaps(frame.caps) }
      caps = frame.caps
      frame.shown = TimeSpan(start: frame.shown.start + drawing.lead, end: frame.shown.end + drawing.lead)
      if let overlay = drawing.overlay {
        let moment = OverlayFrame(
          time: frame.shown.start, sourceTime: frame.source.start, direction: frame.direction, number: pictures.count)
        frame.buffer = try painter.paint(frame.buffer) { try overlay($0, moment) }
      }
      try writer.push(frame.buffer, to: source)
      pictures.count += 1
      if isMain, pictures.count % 8 == 0 || pictures.count == total {
        report(
          Progress(
            stage: .reversing, done: pictures.count, total: max(total, pictures.count), position: frame.shown.end,
            duration: legs.duration ?? .zero, elapsed: watch.elapsed, memoryHeld: gauge.now))
      }
    }
    pictures.warnings = player.warnings
    writer.end(source)
    return pictures
  }

  /// Gives packets to the writer.
  private func play(
    _ copy: ForwardCopy, _ legs: Legs, _ writer: MediaWriter, _ source: AppSource
  ) throws -> Pictures {
    let watch = Stopwatch()
    let length = legs.duration ?? .zero
    let count = try copy.run(
      { try writer.push($0, to: source) }, timing: timing, start: writer.mirrorStart, cancellation: cancellation
    ) { count, position in
      report(
        Progress(
          stage: .reversing, done: count, total: 0, position: position, duration: length, elapsed: watch.elapsed,
          memoryHeld: gauge.now))
    }
    writer.end(source)
    return Pictures(count: count, warnings: [])
  }

  /// Gives a stream of sound to the writer.
  private func play(
    _ track: AudioTrack, _ legs: Legs, _ writer: MediaWriter, _ source: AppSource, lead: ClockTime, isPadded: Bool,
    isMain: Bool
  ) throws -> Int {
    let length = legs.duration ?? .zero
    let watch = Stopwatch()
    var written = 0
    var player = AudioPlayer(track, legs, isPadded: isPadded)
    while let part = try player.next() {
      try cancellation.check()
      part.buffer.stamp(pts: writer.mirrorStart + lead + part.shown.start, duration: part.shown.duration)
      try writer.push(part.buffer, to: source)
      written += part.count
      if isMain {
        report(
          Progress(
            stage: .reversing, done: written, total: max(written, length.sampleIndex(rate: track.rate)),
            position: part.shown.end, duration: length, elapsed: watch.elapsed, memoryHeld: gauge.now))
      }
    }
    writer.end(source)
    return written
  }
}
