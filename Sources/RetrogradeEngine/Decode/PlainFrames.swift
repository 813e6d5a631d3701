package import GStreamer
package import MediaTime

/// Times and hashes of a video's frames from a plain decode: one pass from beginning to end,
/// without seeks, in the decoder's own memory.
///
/// A decoded window may have the right number of frames and the right times, but wrong pixels. Only
/// the comparison with a plain decode shows wrong pixels.
package struct PlainFrames: Sendable {
  package struct Frame: Sendable {
    /// Start in stream time.
    package var time: ClockTime
    /// Hash of the pixels; nil if the decoder reported this frame as damaged, or failed before this
    /// frame. The decoder may output such a frame differently each time.
    package var hash: UInt64?

    package init(time: ClockTime, hash: UInt64?) { (self.time, self.hash) = (time, hash) }
  }

  /// Frames in ascending order of their times.
  private let frames: [Frame]
  /// Frame starts in the source, ascending.
  private let starts: [ClockTime]
  private let tolerance: ClockTime

  /// - Parameter starts: frame starts in the source, ascending.
  package init(_ frames: [Frame], comparedWith starts: [ClockTime]) {
    self.frames = frames
    self.starts = starts
    tolerance = VideoDecoder.tolerance(of: starts[...])
  }

  /// Compares an output frame with the plain decode.
  /// - Parameters:
  ///   - hash: hash of the output frame's pixels.
  ///   - number: number of the frame in the source, in display order.
  /// - Returns: true if the plain decode has a frame with this hash and the same start; nil if the
  ///   decoder reported the frame with this start as damaged, or failed before reaching it.
  package func holds(_ hash: UInt64, number: Int) -> Bool? {
    let time = time(of: number)
    let first = frames.endOfPrefix { $0.time < time - tolerance }
    let near = frames[first...].prefix { $0.time <= time + tolerance }
    if near.contains(where: { $0.hash == hash }) { return true }
    return near.contains { $0.hash == nil } ? nil : false
  }

  /// Returns the start of frame `number` of the source.
  package func time(of number: Int) -> ClockTime { starts[number] }
}

extension VideoSource {
  /// Decodes in one pass all frames that belong to the presentation.
  /// - Parameters:
  ///   - usesWindowThreads: true to use as many threads as for decoded windows.
  ///   - report: called with the time of each frame.
  /// - Returns: nil if there is no plain decode to compare with: the output is packets, the source
  ///   consists of decoded frames only, or a joined video is fitted to another video's format.
  package func plainFrames(
    usesWindowThreads: Bool = false, _ cancellation: Cancellation, report: (ClockTime) -> Void
  ) throws -> PlainFrames? {
    let use: DecoderOutput.Use = usesWindowThreads ? .plainWithWindowThreads : .plain
    guard let frames = try decodedPlainly(use, cancellation, report: report) else { return nil }
    return PlainFrames(frames, comparedWith: timeline.starts)
  }

  private func decodedPlainly(
    _ use: DecoderOutput.Use, _ cancellation: Cancellation, report: (ClockTime) -> Void
  ) throws -> [PlainFrames.Frame]? {
    if !parts.isEmpty {
      var all: [PlainFrames.Frame] = []
      for part in parts {
        // Frames that are fitted to another video's format differ from the decoder's output.
        guard part.fit == nil,
          let own = try part.video.decodedPlainly(use, cancellation, report: { report($0 + part.offset) })
        else { return nil }
        all += own.map { PlainFrames.Frame(time: $0.time + part.offset, hash: $0.hash) }
      }
      return all
    }
    guard let recipe, !arePackets else { return nil }
    let decoder = try VideoDecoder(recipe.ofWhole, FormatChanges(), for: use, cancellation)
    defer { decoder.close() }
    var times: [ClockTime] = []
    var hashes: [UInt64?] = []
    let given = recipe.isTimedByPackets ? video.starts : nil
    var hasFailed = false
    do {
      while let sample = try decoder.next(cancellation) {
        guard let time = FrameCollector.time(of: sample, after: times, given: given) else { continue }
        if time >= timeline.end { break }
        times.append(time)
        hashes.append(sample.buffer.isCorrupted ? nil : try sample.buffer.pixelHash(caps))
        report(time)
      }
    } catch let error as RetrogradeError where error.code != .inputOutput && !times.isEmpty {
      // The index already has a warning about this error.
      hasFailed = true
      Log.decode.warning("\(recipe.source): the plain decode ended early: \(error.message)")
    } catch let error as GStreamerError {
      throw RetrogradeError.reading(recipe.source, error)
    }
    let areUntimed = video.isUntimed || video.isTimedByDecoder
    let starts = FrameCollector.starts(times, stored: areUntimed ? video.starts : nil).times
    let frames = zip(starts, hashes).map { PlainFrames.Frame(time: $0, hash: $1) }
    guard hasFailed, let last = starts.last else { return frames }
    return frames + timeline.starts.filter { $0 > last }.map { PlainFrames.Frame(time: $0, hash: nil) }
  }
}
