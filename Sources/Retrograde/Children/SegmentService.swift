import Containers
import FoundationEssentials
import Glibc
import MediaTime
import RetrogradeEngine
import Synchronization

/// Responds to the parent process's requests for segments, pictures and waveforms of a source. Used
/// in a child process.
final class SegmentService: Sendable {
  private let output: Int32
  private let writing = Mutex(())
  private let cancellations = Mutex<[UInt32: Cancellation]>([:])
  private let encoder: @Sendable () -> JSONEncoder

  init(output: Int32, _ encoder: @escaping @Sendable () -> JSONEncoder) {
    (self.output, self.encoder) = (output, encoder)
  }

  /// Opens the source, and responds to requests. Blocks until standard input is closed.
  func run(_ path: String, _ settings: SegmentedMirror.Settings, _ lines: ChildLines) {
    let opening = Cancellation()
    cancellations.withLock { $0[0] = opening }
    let mirror = Mutex<SegmentedMirror?>(nil)
    do {
      let worker = try Worker("open") { [self] in
        answer(0) {
          let made = try SegmentedMirror(path, settings, opening) { [self] _ in
            send(ChildFrame(request: 0, kind: .progress))
          }
          mirror.withLock { $0 = made }
          try sendOpened(of: made)
        }
      }
      read(lines) { request in
        // The parent sends no requests before the source is open.
        guard let mirror = mirror.withLock({ $0 }) else { return }
        self.make(request, mirror)
      }
      _ = worker
    } catch {
      answer(0) { throw error }
    }
    for cancellation in cancellations.withLock({ Array($0.values) }) { cancellation.cancel() }
  }

  private func read(_ lines: ChildLines, _ take: (SegmentRequest) -> Void) {
    var lines = lines
    while lines.isOpen {
      for line in lines.read(from: STDIN_FILENO) {
        guard let request = try? JSONDecoder().decode(SegmentRequest.self, from: Data(line)) else { continue }
        if case .cancel = request.part {
          cancellations.withLock { $0[request.number] }?.cancel()
        } else {
          take(request)
        }
      }
    }
  }

  private func sendOpened(of mirror: SegmentedMirror) throws {
    for times in [mirror.frameStarts, mirror.frameTimes] {
      let bytes = times.map(\.nanoseconds).withUnsafeBytes { Array($0) }
      send(ChildFrame(request: 0, kind: .bytes, bytes: bytes))
    }
    let renditions = mirror.renditions.indices
    let opened = SegmentsOpened(
      renditions: mirror.renditions,
      initializations: try renditions.map { try mirror.initialization($0, Cancellation()) },
      pieces: renditions.map { rendition in
        mirror.renditions[rendition].segments.indices.map { mirror.pieces(ofSegment: $0, of: rendition) }
      },
      duration: mirror.duration, chapters: mirror.chapters, subtitles: mirror.subtitles, warnings: mirror.warnings)
    send(ChildFrame(request: 0, kind: .opened, bytes: Array(try encoder().encode(opened))))
  }

  private func make(_ request: SegmentRequest, _ mirror: SegmentedMirror) {
    let cancellation = Cancellation()
    cancellations.withLock { $0[request.number] = cancellation }
    do {
      _ = try Worker("make") { [self] in
        defer { cancellations.withLock { $0[request.number] = nil } }
        answer(request.number) { try make(request.part, mirror, cancellation) { self.give($0, request.number) } }
      }
    } catch {
      answer(request.number) { throw error }
    }
  }

  private func make(
    _ part: SegmentRequest.Part, _ mirror: SegmentedMirror, _ cancellation: Cancellation,
    _ give: @escaping @Sendable ([UInt8]) -> Void
  ) throws {
    switch part {
    case .segment(let number, let piece, let rendition):
      try mirror.segment(number, from: piece, of: rendition, cancellation, give)
    case .picture(let time, let height, let isExact):
      give(try mirror.picture(at: time, height: height, isExact: isExact, cancellation))
    case .waveform(let points, let count):
      give(try mirror.waveform(points, of: count, cancellation).withUnsafeBytes { Array($0) })
    case .cancel: break
    }
  }

  private func give(_ bytes: [UInt8], _ request: UInt32) {
    send(ChildFrame(request: request, kind: .bytes, bytes: bytes))
  }

  /// Runs `body`, and sends the message that ends the response: success, cancellation or error.
  private func answer(_ request: UInt32, _ body: () throws -> Void) {
    let frame: ChildFrame
    do {
      try body()
      frame = ChildFrame(request: request, kind: .done)
    } catch is CancellationError {
      frame = ChildFrame(request: request, kind: .cancelled)
    } catch {
      let known = error as? RetrogradeError ?? RetrogradeError(.internalFailure, "\(String(describing: error))")
      frame = ChildFrame(request: request, kind: .failed, bytes: Array((try? encoder().encode(known)) ?? Data()))
    }
    send(frame)
  }

  private func send(_ frame: ChildFrame) {
    let bytes = frame.encoded
    writing.withLock { _ in _ = bytes.withUnsafeBytes { writeAll($0, to: output) } }
  }
}
