import FoundationEssentials
import Glibc
import RetrogradeEngine
import Synchronization

/// Response of a child process, which arrives in several messages.
final class SegmentAnswer: @unchecked Sendable {
  let cancellation: Cancellation
  private let monitor = Monitor()
  // Protected by `monitor`.
  private var parts: [[UInt8]] = []
  private var end: Result<Void, any Error>?

  init(_ cancellation: Cancellation) { self.cancellation = cancellation }

  func give(_ bytes: [UInt8]) { monitor.locked { parts.append(bytes) } }

  /// Ends the response. Only the first call has an effect.
  func finish(_ result: Result<Void, any Error>) { monitor.locked { end = end ?? result } }

  /// Calls `take` with the bytes of each message as they arrive. Blocks until the response ends.
  func each(_ take: (_ bytes: [UInt8]) -> Void) throws {
    while true {
      let (next, end) = monitor.locked {
        monitor.wait { parts.isEmpty && self.end == nil }
        defer { parts = [] }
        return (parts, parts.isEmpty ? self.end : nil)
      }
      for part in next { take(part) }
      if let end { return try end.get() }
    }
  }

  /// Returns the bytes of all messages. Blocks until the response ends.
  func all() throws -> [[UInt8]] {
    var all: [[UInt8]] = []
    try each { all.append($0) }
    return all
  }
}

/// Connection to a child process that encodes streaming segments. A separate thread reads the
/// child's output.
final class SegmentConnection: Sendable {
  private struct State {
    var answers: [UInt32: SegmentAnswer] = [:]
    var count: UInt32 = 0
    var process: ChildProcess?
    var isClosed = false
    /// Reason why the connection accepts no more requests; nil while it accepts requests.
    var failure: (any Error)?
  }

  private let path: String
  private let state = Mutex(State())

  /// - Parameter path: path of the source, for messages.
  init(_ path: String) { self.path = path }

  var hasEnded: Bool { state.withLock { $0.failure != nil } }

  /// Begins to read the output of the process.
  func start(_ watch: ChildWatch) throws {
    state.withLock { $0.process = watch.process }
    do {
      _ = try Worker("child") { [self] in listen(watch) }
    } catch {
      watch.process.kill()
      throw error
    }
  }

  func expect(_ number: UInt32, _ cancellation: Cancellation) -> SegmentAnswer {
    let answer = SegmentAnswer(cancellation)
    state.withLock { $0.answers[number] = answer }
    return answer
  }

  /// Sends a request. Blocks until the request is written to the pipe.
  func ask(_ part: SegmentRequest.Part, _ cancellation: Cancellation) throws -> SegmentAnswer {
    let answer = SegmentAnswer(cancellation)
    let (number, process) = try state.withLock { state in
      if let failure = state.failure { throw failure }
      state.count += 1
      state.answers[state.count] = answer
      return (state.count, state.process)
    }
    try send(SegmentRequest(number: number, part: part), process)
    return answer
  }

  private func send(_ request: SegmentRequest, _ process: ChildProcess?) throws {
    // Ignore a failed write: if the process is dead, the thread that reads the process's output
    // reports that.
    _ = process?.send(Array(try JSONEncoder().encode(request)) + [10])
  }

  /// Makes the process clean up and end.
  func close() {
    let process = state.withLock { state in
      state.isClosed = true
      return state.process
    }
    process?.closeInput()
  }

  private func listen(_ watch: ChildWatch) {
    var watch = watch
    var bytes: [UInt8] = []
    func read(_ output: Int32) -> Bool {
      let count = bytes.count
      let more = [UInt8](unsafeUninitializedCapacity: 1 << 18) { buffer, filled in
        filled = max(Glibc.read(output, buffer.baseAddress, buffer.count), 0)
      }
      bytes += more
      return bytes.count > count
    }
    while watch.ending == nil {
      if watch.wait(take: read) {
        for frame in ChildFrame.take(from: &bytes) {
          watch.noteProgress()
          take(frame)
        }
      }
      cancel()
      let (isIdle, isClosed) = state.withLock { ($0.answers.isEmpty, $0.isClosed) }
      if isIdle, !isClosed { watch.noteProgress() }
      watch.check(isEnding: isClosed)
    }
    watch.finish(take: read)
    for frame in ChildFrame.take(from: &bytes) { take(frame) }
    let failure = watch.crash(path)
    let left = state.withLock { state in
      state.failure = failure
      defer { state.answers = [:] }
      return Array(state.answers.values)
    }
    for answer in left { answer.finish(.failure(failure)) }
  }

  private func take(_ frame: ChildFrame) {
    guard let answer = state.withLock({ $0.answers[frame.request] }) else { return }
    let end: Result<Void, any Error>
    switch frame.kind {
    case .progress: return
    case .bytes, .opened: return answer.give(frame.bytes)
    case .done: end = .success(())
    case .cancelled: end = .failure(CancellationError())
    case .failed:
      let error = try? JSONDecoder().decode(RetrogradeError.self, from: Data(frame.bytes))
      end = .failure(
        error
          ?? RetrogradeError(.internalFailure, about: path, "the process that read the file failed without a message"))
    }
    state.withLock { $0.answers[frame.request] = nil }
    answer.finish(end)
  }

  /// Tells the child to cancel the requests that were cancelled in this process.
  private func cancel() {
    let (gone, process) = state.withLock { state in
      let gone = state.answers.filter { $0.value.cancellation.isCancelled }
      for number in gone.keys { state.answers[number] = nil }
      return (gone, state.process)
    }
    for (number, answer) in gone {
      answer.finish(.failure(CancellationError()))
      try? send(SegmentRequest(number: number, part: .cancel), process)
    }
  }
}
