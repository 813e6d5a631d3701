import GStreamer
import MediaTime
import Synchronization

/// Reads a range of frames of joined videos, one by one, in one direction. Only one of the videos
/// is open at a time, so no more memory is used than for a single video.
final class PartReader: Sendable {
  private struct Open: Sendable {
    var part: VideoPart
    /// Frames to read from this video, numbered in the joined video.
    var frames: Range<Int>
    var reader: VideoReader
    var converter: FrameConverter?

    /// Number of frames left to read from this video after frame `number`.
    func left(after number: Int, _ direction: Direction) -> Int {
      direction == .forward ? frames.upperBound - 1 - number : number - frames.lowerBound
    }
  }

  private struct State {
    /// Videos still to open, in order of play, each with the frames to read, numbered in the joined
    /// video.
    var left: ArraySlice<(VideoPart, Range<Int>)>
    var open: Open?
    var warnings: [Warning] = []
  }

  /// Number of frames at the end of each video that are output in new buffers, which do not belong
  /// to the decoder's buffer pool. While any buffer of the pool is in use, the pool frees no memory
  /// (gstbufferpool.c, `gst_buffer_pool_set_active`). Encoders keep fewer frames than this for
  /// lookahead, so after the end of the video, no buffer of the pool is in use.
  private static let mostHeld = 128

  private let direction: Direction
  private let cancellation: Cancellation
  private let state: Mutex<State>

  /// - Parameter frames: frames to read, numbered in the joined video.
  init(_ parts: [VideoPart], _ frames: Range<Int>, _ direction: Direction, _ cancellation: Cancellation) {
    self.direction = direction
    self.cancellation = cancellation
    let wanted = parts.map { ($0, $0.frames.clamped(to: frames)) }.filter { !$0.1.isEmpty }
    state = Mutex(State(left: direction == .forward ? wanted[...] : wanted.reversed()[...]))
  }

  /// Returns the next frame and its number in the joined video; nil after the last.
  func next() throws -> (buffer: Buffer, number: Int)? {
    while let open = try state.withLock({ $0.open }) ?? openNext() {
      guard let frame = try open.reader.next() else {
        try closeOpen()
        continue
      }
      let number = frame.number + open.part.frames.lowerBound
      guard let converter = open.converter else {
        let isHeldLonger = open.left(after: number, direction) < PartReader.mostHeld
        return (isHeldLonger ? frame.buffer.shallowCopy() : frame.buffer, number)
      }
      do {
        return (try converter.convert(frame.buffer, open.part.video.caps), number)
      } catch let error as GStreamerError {
        throw RetrogradeError.reading(open.part.name, error)
      }
    }
    return nil
  }

  /// Stops reading, even before the last frame.
  /// - Returns: warnings from reading.
  func close() throws -> [Warning] {
    state.withLock { $0.left = [] }
    try closeOpen()
    return state.withLock { $0.warnings }
  }

  private func closeOpen() throws {
    guard let open = state.withLock({ $0.open.take() }) else { return }
    let found = try open.reader.close() + open.part.video.changes.warnings
    open.part.video.releaseDecoders()
    state.withLock { $0.warnings += open.part.inJoinedTime(found) }
  }

  private func openNext() throws -> Open? {
    guard let (part, frames) = state.withLock({ $0.left.popFirst() }) else { return nil }
    let converter = try part.fit.map { fit in
      do {
        return try FrameConverter(part.video.caps, fit.elements, to: fit.form, cancellation)
      } catch let error as GStreamerError {
        throw RetrogradeError.reading(part.name, error)
      }
    }
    let reader = try VideoReader(part.video, over: part.span(of: frames), direction, cancellation)
    let open = Open(part: part, frames: frames, reader: reader, converter: converter)
    state.withLock { $0.open = open }
    return open
  }
}
