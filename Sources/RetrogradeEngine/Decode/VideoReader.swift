import GStreamer
import MediaTime
import Synchronization

/// A decoded frame, and its display time in the source.
struct SourceFrame: Sendable {
  var buffer: Buffer
  var span: TimeSpan
  /// Number of the frame in the source, in display order.
  var number: Int
}

/// Reads a part of the video, frame by frame, in one direction.
///
/// Backwards, a separate thread decodes the next window while the frames of the current window are
/// output. Forwards, the decoder's own thread is a frame or two ahead.
final class VideoReader: Sendable {
  /// A decoded window, and the display times of its frames. Frames are popped from the window's
  /// end.
  private struct Part: Sendable {
    var window: DecodedWindow
    /// Number in the source of the window's first frame.
    var firstFrame: Int
    var spans: [TimeSpan]
  }

  private struct State {
    var part: Part?
    /// Frames that are not yet output. Used only if frames come from the store.
    var left: Range<Int>
    var forward: ForwardDecoding?
  }

  let frames: Range<Int>
  private let source: VideoSource
  private let direction: Direction
  private let timeline: VideoTimeline
  private let cancellation: Cancellation
  private let parts = Handoff<Part>()
  private let worker: Worker<[Warning]>?
  /// Reader of a video that is joined from several videos; nil for a single video.
  private let joined: PartReader?
  private let state: Mutex<State>

  /// - Parameters:
  ///   - span: part of the video to read, in stream time.
  ///   - isLast: true if nothing will be read from `source` after this part.
  init(
    _ source: VideoSource, over span: TimeSpan, _ direction: Direction, isLast: Bool = false,
    _ cancellation: Cancellation
  ) throws {
    self.source = source
    self.direction = direction
    self.cancellation = cancellation
    (frames, timeline) = source.timeline.clipped(to: span)
    state = Mutex(State(left: frames))
    joined = source.parts.isEmpty ? nil : PartReader(source.parts, frames, direction, cancellation)
    guard direction == .backward, source.store == nil, joined == nil, !frames.isEmpty else {
      worker = nil
      return
    }
    let parts = parts
    let (frames, timeline) = (frames, timeline)
    worker = try Worker("decode windows") {
      var warnings: [Warning] = []
      do {
        let decoder = try VideoReader.readWindows(source, frames, timeline, into: parts, &warnings, cancellation)
        if let decoder { source.recycle(decoder, isLast: isLast) }
        parts.finish()
      } catch {
        parts.finish(throwing: error)
      }
      return warnings
    }
  }

  /// Returns the next frame; nil after the last one.
  func next() throws -> SourceFrame? {
    if let joined { return try nextJoined(joined) }
    if let store = source.store { return try nextStored(store) }
    return try direction == .backward ? nextOfWindow() : nextForward()
  }

  /// Ends reading, even if some frames were not read.
  /// - Returns: warnings so far.
  func close() throws -> [Warning] {
    parts.close()
    let forward = state.withLock { state in
      state.part = nil
      return state.forward.take()
    }
    forward?.end()
    return try (worker?.join() ?? []) + (forward?.warnings ?? []) + (joined?.close() ?? [])
  }

  private func nextJoined(_ reader: PartReader) throws -> SourceFrame? {
    while let (buffer, number) = try reader.next() {
      // A source that can't be read in windows may have frames that the index lacks. Skip such
      // frames.
      guard frames.contains(number) else { continue }
      return SourceFrame(buffer: buffer, span: timeline.span(of: number - frames.lowerBound), number: number)
    }
    return nil
  }

  private func nextStored(_ store: DecodedWindow) throws -> SourceFrame? {
    let number: Int? = state.withLock { direction == .forward ? $0.left.popFirst() : $0.left.popLast() }
    try cancellation.check()
    guard let number else { return nil }
    return SourceFrame(
      buffer: try store.frame(at: number), span: timeline.span(of: number - frames.lowerBound), number: number)
  }

  private func nextOfWindow() throws -> SourceFrame? {
    while true {
      if let part = state.withLock({ $0.part }) {
        let count = part.window.count
        if let buffer = try part.window.pop() {
          return SourceFrame(buffer: buffer, span: part.spans[count - 1], number: part.firstFrame + count - 1)
        }
        state.withLock { $0.part = nil }
      }
      guard let part = try parts.take() else { return nil }
      state.withLock { $0.part = part }
    }
  }

  private func nextForward() throws -> SourceFrame? {
    guard !frames.isEmpty else { return nil }
    let known = state.withLock { $0.forward }
    let decoding = try known ?? ForwardDecoding(source, frames, cancellation)
    if known == nil { state.withLock { $0.forward = decoding } }
    guard let (buffer, number) = try decoding.next() else { return nil }
    return SourceFrame(buffer: buffer, span: timeline.span(of: number - frames.lowerBound), number: number)
  }

  /// Decodes the windows of `frames`, and hands them to `parts`, the last window first.
  /// - Returns: the decoder for reuse; nil if it was closed.
  private static func readWindows(
    _ source: VideoSource, _ frames: Range<Int>, _ timeline: VideoTimeline, into parts: Handoff<Part>,
    _ warnings: inout [Warning], _ cancellation: Cancellation
  ) throws -> VideoDecoder? {
    var decoder = try source.takeDecoder(cancellation)
    for window in source.plan(frames).windows {
      do {
        let decoded = try decode(window, of: source, &decoder, cancellation)
        let spans = window.frames.map { timeline.span(of: $0 - frames.lowerBound) }
        guard parts.give(Part(window: decoded, firstFrame: window.frames.lowerBound, spans: spans)) else { break }
      } catch is VideoDecoder.Mismatch {
        // Seeks to this window are inexact, or the source is damaged, and earlier windows may fail
        // too. So decode all frames up to the window's end once, forwards.
        let upper = window.frames.upperBound
        Log.decode.warning(
          "fallback: frames 0 to \(upper - 1) are decoded once, forwards: from here on they are not as the index says")
        let boundary = upper < source.timeline.count ? source.timeline.starts[upper] : nil
        decoder.close()
        let read = try source.readForward(before: boundary, cancellation)
        warnings += read.warnings
        let end = boundary ?? source.video.end(afterLast: read.starts)
        let whole = VideoTimeline(starts: read.starts, end: end)
        let wanted = whole.clipped(
          to: TimeSpan(start: timeline.starts.first ?? .zero, end: min(end, timeline.end)))
        for _ in wanted.frames.upperBound..<max(read.starts.count, wanted.frames.upperBound) {
          _ = try read.window.pop()
        }
        read.window.dropFirst(wanted.frames.lowerBound)
        let spans = wanted.timeline.starts.indices.map { wanted.timeline.span(of: $0) }
        _ = parts.give(Part(window: read.window, firstFrame: wanted.frames.lowerBound, spans: spans))
        return nil
      }
    }
    return decoder
  }

  /// Decodes a window. If the frames or packets differ from the index, decodes it from stored
  /// packets.
  private static func decode(
    _ window: Window, of source: VideoSource, _ decoder: inout VideoDecoder, _ cancellation: Cancellation
  ) throws -> DecodedWindow {
    do {
      return try source.decode(window, decoder, cancellation)
    } catch let mismatch as VideoDecoder.Mismatch {
      guard let other = try source.decoderOfPackets(insteadOf: decoder, cancellation) else { throw mismatch }
      decoder = other
      return try source.decode(window, decoder, cancellation)
    }
  }
}

/// Outputs a range of frames in display order, from a decoder that may output earlier frames first.
private final class ForwardDecoding: Sendable {
  private struct State {
    var decoder: VideoDecoder?
    var next: Int
    var pending: (buffer: Buffer, number: Int)?
    /// Count of the indexed frames that the decoder did not output, and numbers of the first and
    /// the last of these frames; nil if no frame is missing.
    var lost: (count: Int, first: Int, last: Int)?
    var warnings: [Warning] = []

    mutating func lose(_ frames: Range<Int>) {
      guard let first = frames.first, let last = frames.last else { return }
      lost = (frames.count + (lost?.count ?? 0), lost?.first ?? first, last)
    }
  }

  private let source: VideoSource
  private let frames: Range<Int>
  private let cancellation: Cancellation
  private let state: Mutex<State>

  init(_ source: VideoSource, _ frames: Range<Int>, _ cancellation: Cancellation) throws {
    self.source = source
    self.frames = frames
    self.cancellation = cancellation
    state = Mutex(
      State(decoder: try source.decoder(from: frames.lowerBound, cancellation), next: frames.lowerBound))
  }

  /// Returns the next frame, and the number of the indexed frame with the same start.
  func next() throws -> (Buffer, Int)? {
    let starts = source.timeline.starts
    let tolerance = VideoDecoder.tolerance(of: starts[frames])
    while true {
      guard let decoder = state.withLock({ $0.decoder }) else { return nil }
      guard let sample = try next(of: decoder), let time = sample.streamTime,
        let last = frames.last, time <= starts[last] + tolerance
      else {
        end()
        return state.withLock { state in
          state.lose(state.next..<frames.upperBound)
          state.next = frames.upperBound
          return state.pending.take()
        }
      }
      let found: (Buffer, Int)?? = state.withLock { state in
        // The frame that overlaps the start may be output twice, first clipped, then complete. Use
        // the complete frame.
        if let pending = state.pending, time <= starts[pending.number] + tolerance {
          state.pending?.buffer = sample.buffer
          return nil
        }
        var number = state.next
        while number < frames.upperBound, starts[number] + tolerance < time { number += 1 }
        guard number < frames.upperBound, starts[number] - tolerance <= time else { return nil }
        defer { state.pending = (sample.buffer, number) }
        state.lose(state.next..<number)
        state.next = number + 1
        return .some(state.pending.map { ($0.buffer, $0.number) })
      }
      if case .some(.some(let frame)) = found { return frame }
    }
  }

  /// Returns the next sample. If the decoder fails after at least one frame, the frames so far are
  /// kept and the failure becomes a warning, as in backward reading.
  private func next(of decoder: VideoDecoder) throws -> Sample? {
    do {
      return try decoder.next(cancellation)
    } catch let error as RetrogradeError where error.code != .inputOutput {
      let isWithout = state.withLock { state in
        state.warnings.append(Warning(.damaged, "damaged: \(error.message)"))
        state.decoder = nil
        return state.pending == nil
      }
      if isWithout { throw error }
      return nil
    }
  }

  /// Warnings so far.
  var warnings: [Warning] {
    state.withLock { state in
      let starts = source.timeline.starts
      return state.warnings
        + (state.lost.map {
          [.undecodable($0.count, of: frames.count, from: starts[$0.first], to: starts[$0.last])]
        } ?? [])
    }
  }

  func end() {
    guard let decoder = state.withLock({ $0.decoder.take() }), !cancellation.isCancelled else { return }
    source.recycle(decoder)
  }
}
