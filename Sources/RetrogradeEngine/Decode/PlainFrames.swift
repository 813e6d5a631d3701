package import GStreamer
package import MediaTime

/// Times and hashes of a video's frames by a plain decode: once, from the beginning to the end, with no seek
/// and in the decoder's own memory.
///
/// Windows may come out wrong with the right count and the right times. Only this comparison tells.
package struct PlainFrames: Sendable {
  package struct Frame: Sendable {
    /// In stream time.
    package var time: ClockTime
    /// nil if the decoder says that the frame is damaged, or failed before it: it may come out another way each time.
    package var hash: UInt64?

    package init(time: ClockTime, hash: UInt64?) { (self.time, self.hash) = (time, hash) }
  }

  /// Ascending.
  private let frames: [Frame]
  /// When the frames start that these are compared with.
  private let starts: [ClockTime]
  private let tolerance: ClockTime

  /// - Parameter starts: when the frames start that they are compared with, ascending.
  package init(_ frames: [Frame], comparedWith starts: [ClockTime]) {
    self.frames = frames
    self.starts = starts
    tolerance = VideoDecoder.tolerance(of: starts[...])
  }

  /// Compares a frame that was given out for one of the source.
  /// - Parameters:
  ///   - hash: of its pixels.
  ///   - number: its place in the source, in display order.
  /// - Returns: true if a frame with that hash starts then; nil if the decoder called that frame damaged, or
  ///   failed before it.
  package func holds(_ hash: UInt64, number: Int) -> Bool? {
    let time = time(of: number)
    let first = frames.endOfPrefix { $0.time < time - tolerance }
    let near = frames[first...].prefix { $0.time <= time + tolerance }
    if near.contains(where: { $0.hash == hash }) { return true }
    return near.contains { $0.hash == nil } ? nil : false
  }

  /// When a frame of the source starts.
  package func time(of number: Int) -> ClockTime { starts[number] }
}

extension VideoSource {
  /// Decodes the video plainly, as far as it is shown.
  /// - Parameters:
  ///   - inThreadsOfWindows: use as many threads as the decoder of windows.
  ///   - report: told the time of each frame.
  /// - Returns: nil where it can't be decoded so: nothing but the frames themselves is there.
  package func plainFrames(
    inThreadsOfWindows: Bool = false, _ cancellation: Cancellation, report: (ClockTime) -> Void
  ) throws -> PlainFrames? {
    let use: DecoderOutput.Use = inThreadsOfWindows ? .plainInThreadsOfWindows : .plain
    guard let frames = try decodedPlainly(use, cancellation, report: report) else { return nil }
    return PlainFrames(frames, comparedWith: timeline.starts)
  }

  private func decodedPlainly(
    _ use: DecoderOutput.Use, _ cancellation: Cancellation, report: (ClockTime) -> Void
  ) throws -> [PlainFrames.Frame]? {
    if !parts.isEmpty {
      var all: [PlainFrames.Frame] = []
      for part in parts {
        // The fitted frames of a part are not those that its decoder gives.
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
      // The index has a warning of it.
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
