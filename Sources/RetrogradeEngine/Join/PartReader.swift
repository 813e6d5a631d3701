import GStreamer
import MediaTime
import Synchronization

/// Reads a stretch of joined videos, frame by frame, in one direction. While one of them is read, the first window of the next one is
/// decoded already.
final class PartReader: Sendable {
  private struct Open: Sendable {
    var part: VideoPart
    var reader: VideoReader
    var converter: FrameConverter?
  }

  private struct State {
    /// Those to be opened, in the order of play, and which of their frames are wanted, by their places among all.
    var left: [(part: VideoPart, frames: Range<Int>)]
    /// What is read, and what comes after it.
    var open: [Open] = []
    var warnings: [Warning] = []
  }

  /// How many are open at a time: each may take as much memory as one that is read by itself.
  static let most = 2

  private let direction: Direction
  private let cancellation: Cancellation
  private let state: Mutex<State>

  /// - Parameter frames: what to read, by their places among all.
  init(_ parts: [VideoPart], _ frames: Range<Int>, _ direction: Direction, _ cancellation: Cancellation) {
    self.direction = direction
    self.cancellation = cancellation
    let wanted = parts.map { ($0, $0.frames.clamped(to: frames)) }.filter { !$0.1.isEmpty }
    state = Mutex(State(left: direction == .forward ? wanted : wanted.reversed()))
  }

  /// The next frame, and its place among all; nil after the last.
  func next() throws -> (buffer: Buffer, number: Int)? {
    while let open = try current() {
      guard let frame = try open.reader.next() else {
        state.withLock { _ = $0.open.removeFirst() }
        try close(open)
        continue
      }
      let number = frame.number + open.part.frames.lowerBound
      guard let converter = open.converter else { return (frame.buffer, number) }
      do {
        return (try converter.convert(frame.buffer, open.part.video.caps), number)
      } catch let error as GStreamerError {
        throw RetrogradeError.reading(open.part.name, error)
      }
    }
    return nil
  }

  /// Ends the reading, whether or not everything was read.
  /// - Returns: what was found out on the way.
  func close() throws -> [Warning] {
    let rest = state.withLock { state in
      defer { (state.open, state.left) = ([], []) }
      return state.open
    }
    for open in rest { try close(open) }
    return state.withLock { $0.warnings }
  }

  private func close(_ open: Open) throws {
    let found = try open.reader.close() + open.part.video.changes.warnings
    open.part.video.rest()
    state.withLock { $0.warnings += open.part.told(found) }
  }

  private func current() throws -> Open? {
    while let (part, frames) = state.withLock({ state in
      state.open.count < PartReader.most && !state.left.isEmpty ? state.left.removeFirst() : nil
    }) {
      let converter = try part.fit.map { fit in
        do {
          return try FrameConverter(part.video.caps, fit.elements, to: fit.form, cancellation)
        } catch let error as GStreamerError {
          throw RetrogradeError.reading(part.name, error)
        }
      }
      let reader = try VideoReader(part.video, over: part.span(of: frames), direction, cancellation)
      state.withLock { $0.open.append(Open(part: part, reader: reader, converter: converter)) }
    }
    return state.withLock { $0.open.first }
  }
}
