import GStreamer

/// Reads the video backwards: decides how, decodes window after window on a thread of its own, and hands the frames out
/// last first, with the time that each was shown in the source.
final class VideoReader: Sendable {
  /// Frames, to be popped from the end, and when they are shown in the source.
  struct Part: Sendable {
    var window: DecodedWindow
    var spans: [TimeSpan]
  }

  let caps: Caps
  let description: String
  let plan: Plan
  /// When the video is shown; known exactly before the first frame is given out.
  let timeline: VideoTimeline
  let warnings: [String]
  private let parts: Handoff<Part>
  private let worker: Worker<[String]>

  /// Decodes the first part, and starts with the next.
  ///
  /// - Parameter range: what of the source to give out, in stream time.
  init(
    _ index: SourceIndex, _ video: VideoIndex, range: TimeSpan?, options: ReverseOptions, gauge: MemoryGauge,
    cancellation: Cancellation
  ) throws {
    let decoder = try VideoDecoder(video, index.topology, cancellation)
    let context = Context(
      index: index, video: video, range: range, options: options, gauge: gauge, cancellation: cancellation)
    caps = decoder.caps
    description = decoder.description
    let start = try context.begin(decoder)
    plan = start.plan
    timeline = start.timeline
    warnings = start.warnings
    let parts = Handoff<Part>()
    self.parts = parts
    worker = try Worker("decode windows") {
      var warnings: [String] = []
      do {
        guard parts.give(start.first) else { return [] }
        try context.readRest(decoder, start, into: parts, &warnings)
        parts.finish()
      } catch {
        parts.finish(throwing: error)
      }
      return warnings
    }
  }

  func next() throws -> Part? { try parts.take() }

  /// Ends the reading, whether or not everything was read.
  /// - Returns: what was found out on the way.
  func close() throws -> [String] {
    parts.close()
    return try worker.join()
  }
}

/// What reading a video needs to know.
private struct Context: Sendable {
  struct Start: Sendable {
    var plan: Plan
    var timeline: VideoTimeline
    /// The frame of the source at which the timeline starts.
    var firstFrame: Int
    var first: VideoReader.Part
    var warnings: [String]
  }

  let index: SourceIndex
  let video: VideoIndex
  let range: TimeSpan?
  let options: ReverseOptions
  let gauge: MemoryGauge
  let cancellation: Cancellation

  private func planner(_ decoder: VideoDecoder) throws -> Planner {
    let planner = Planner(
      budget: options.memory.bytes, frameBytes: decoder.frameBytes, spoolRoom: Spool.room(in: options.spoolDirectory))
    guard planner.framesPerWindow >= 1 else {
      throw RetrogradeError(
        .usage,
        "a frame of this video takes \(ByteCount(decoder.frameBytes)): --memory must be at least "
          + "\(ByteCount(planner.smallestBudget))")
    }
    return planner
  }

  /// Finds out how the source is to be read, by reading its last window.
  func begin(_ decoder: VideoDecoder) throws -> Start {
    let planner = try planner(decoder)
    if let starts = video.starts {
      let whole = VideoTimeline(starts: starts, end: video.end(afterLast: starts))
      let (frames, timeline) = range.map(whole.clipped) ?? (0..<starts.count, whole)
      if let plan = planner.plan(frames: frames, keyframes: video.keyframes), let window = plan.windows.first {
        do {
          let decoded = try decode(window, plan, decoder, starts)
          let part = VideoReader.Part(window: decoded, spans: spans(window.frames, timeline, frames.lowerBound))
          return Start(plan: plan, timeline: timeline, firstFrame: frames.lowerBound, first: part, warnings: [])
        } catch is VideoDecoder.Mismatch {}
      }
    }
    let (part, timeline, plan, warnings) = try readForward(before: nil, planner)
    return Start(plan: plan, timeline: timeline, firstFrame: 0, first: part, warnings: warnings)
  }

  /// Reads all windows after the first.
  func readRest(
    _ decoder: VideoDecoder, _ start: Start, into parts: Handoff<VideoReader.Part>, _ warnings: inout [String]
  ) throws {
    guard start.plan.method == .windows, let starts = video.starts else { return }
    for window in start.plan.windows.dropFirst() {
      do {
        let decoded = try decode(window, start.plan, decoder, starts)
        let part = VideoReader.Part(window: decoded, spans: spans(window.frames, start.timeline, start.firstFrame))
        guard parts.give(part) else { return }
      } catch is VideoDecoder.Mismatch {
        // From here on back to the start, the source does not seek exactly, or is damaged: decode that once, forwards.
        let local = window.frames.upperBound - start.firstFrame
        let boundary = local < start.timeline.count ? start.timeline.starts[local] : nil
        let (part, _, _, found) = try readForward(before: boundary, try planner(decoder))
        warnings += found
        _ = parts.give(part)
        return
      }
    }
  }

  private func decode(
    _ window: Window, _ plan: Plan, _ decoder: VideoDecoder, _ starts: [ClockTime]
  ) throws -> DecodedWindow {
    let spool =
      window.spooled > 0
      ? try Spool(directory: options.spoolDirectory, reserve: window.spooled * plan.frameBytes) : nil
    return try decoder.decode(window, starts: starts, spool: spool, gauge: gauge)
  }

  private func spans(_ frames: Range<Int>, _ timeline: VideoTimeline, _ firstFrame: Int) -> [TimeSpan] {
    frames.map { timeline.span(of: $0 - firstFrame) }
  }

  /// Decodes the source once, forwards, up to `boundary`.
  private func readForward(
    before boundary: ClockTime?, _ planner: Planner
  ) throws -> (VideoReader.Part, VideoTimeline, Plan, [String]) {
    let expected = video.packets.count { !$0.isHidden }
    let excess = max(0, expected - planner.framesPerWindow)
    let spool = try Spool(directory: options.spoolDirectory, reserve: excess * planner.frameBytes)
    let decoder = try VideoDecoder(video, index.topology, cancellation)
    let (window, starts, damage) = try decoder.decodeForward(
      before: boundary, given: index.topology.isGIF ? video.starts : nil, held: planner.framesPerWindow, spool: spool,
      gauge: gauge, onFrame: { _ in })
    var warnings: [String] = []
    if let damage {
      if options.isStrict { throw damage }
      warnings.append("damaged: \(damage.message)")
    }
    warnings += missing(starts, before: boundary)
    if options.isStrict, let first = warnings.first {
      throw RetrogradeError(.damagedInput, "\(index.topology.source): \(first)")
    }
    let end = boundary ?? video.end(afterLast: starts)
    let whole = VideoTimeline(starts: starts, end: end)
    let (frames, timeline) = range.map(whole.clipped) ?? (0..<starts.count, whole)
    for _ in frames.upperBound..<max(starts.count, frames.upperBound) { _ = try window.pop() }
    guard let plan = planner.forwardPlan(frames: frames) else { throw RetrogradeError(.usage, "--memory is too small") }
    let part = VideoReader.Part(window: window, spans: timeline.starts.indices.map { timeline.span(of: $0) })
    return (part, timeline, plan, warnings)
  }

  /// What the index has and the decoder did not give.
  private func missing(_ decoded: [ClockTime], before boundary: ClockTime?) -> [String] {
    guard let promised = video.starts?.filter({ $0 < boundary ?? ClockTime(nanoseconds: .max) }) else { return [] }
    let near = Set(decoded.map { $0.nanoseconds / 2_000_000 })
    let lost = promised.filter { time in
      let slot = time.nanoseconds / 2_000_000
      return !near.contains(slot) && !near.contains(slot - 1) && !near.contains(slot + 1)
    }
    guard promised.count > decoded.count, let first = lost.first, let last = lost.last else { return [] }
    return [
      "damaged: \(promised.count - decoded.count) of \(promised.count) frames can't be decoded, between \(first) and \(last)"
    ]
  }
}

extension VideoIndex {
  /// When the video ends whose last frame is the last of `starts`.
  func end(afterLast starts: [ClockTime]) -> ClockTime {
    guard let last = starts.last else { return .zero }
    let own = last + lastDuration
    return segmentEnd.map { $0 > last ? min($0, own) : own } ?? own
  }
}
