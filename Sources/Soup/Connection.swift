/// Client connection. Used on the loop's thread only.
final class Connection {
  enum Phase {
    /// Idle, or receiving a request.
    case reading
    /// Making the answer, or the next piece of the answer.
    case working
    /// Sending a piece of the answer.
    case writing
  }

  let number: Int
  let stream: ClientStream
  /// Latest libsoup message of this connection; may be answered already.
  var message: Message?
  /// Number that changes when a request was received, and again when it has ended
  /// (``Exchange/Key``).
  var requests = 0
  var task: Task<Void, Never>?
  /// Resumed when the client has received a piece.
  private var waiter: CheckedContinuation<Void, any Error>?
  private(set) var phase = Phase.reading
  /// Start of the current phase.
  private(set) var since = Clock.now
  /// True if the connection will be closed at the end of the loop iteration.
  var isClosing = false
  /// True if the answer ended before it was complete.
  var isCutShort = false
  private var hangup: Source?
  private var server: SoupServerObject?
  private let answer: (Connection, Request) -> Void

  /// - Parameter answer: starts to answer a valid request.
  init(_ number: Int, _ stream: ClientStream, _ answer: @escaping (Connection, Request) -> Void) {
    (self.number, self.stream, self.answer) = (number, stream, answer)
  }

  /// Reads requests until ``close()``.
  /// - Parameter hangup: source that detects a disconnect.
  func open(watching hangup: consuming Source, _ quiet: QuietSocket) {
    self.hangup = consume hangup
    server = SoupServerObject(for: self, quiet)
    guard let server else { return isClosing = true }
    server.read(stream)
  }

  func enter(_ phase: Phase) { (self.phase, since) = (phase, Clock.now) }

  /// True if the server is waiting for the client. The wait began at ``since``.
  var isWaitingForClient: Bool { phase != .working }

  func wait(_ waiter: CheckedContinuation<Void, any Error>) {
    self.waiter?.resume(throwing: CancellationError())
    self.waiter = waiter
    enter(.writing)
  }

  // MARK: - Events of the server

  /// Called at the first byte of a request, or when the connection starts.
  func requestBegan(_ message: Message) { self.message = message }

  func headerCame() { if message?.hasBadLength ?? true { isClosing = true } }

  /// Handles a fully received request.
  func requestCame() {
    guard let message else { return }
    guard let request = message.request() else {
      enter(.writing)
      return message.refuse(400, "That is not a valid request.")
    }
    message.pause()
    requests += 1
    enter(.working)
    answer(self, request)
  }

  /// Called when a piece of the answer was sent.
  func pieceWasSent() {
    guard let waiter else { return }
    self.waiter = nil
    enter(.working)
    waiter.resume()
  }

  /// Called when an answer was sent or has failed.
  func requestEnded(isAnswered: Bool) {
    endWork(isAnswered: isAnswered)
    // The key of an exchange contains this number, so exchanges for earlier requests can no longer
    // write to the connection.
    requests += 1
    enter(.reading)
  }

  // MARK: - End of the connection

  /// Ends the work on the current request.
  /// - Parameter isAnswered: true if the complete answer was sent.
  private func endWork(isAnswered: Bool) {
    if !isAnswered { task?.cancel() }
    task = nil
    waiter?.resume(throwing: CancellationError())
    waiter = nil
  }

  /// Closes the connection and cancels its work.
  func close() {
    hangup = nil
    // Cut the connection first. When libsoup drops a body, it writes a final chunk as if the body
    // were complete, and blocks until the client reads that chunk (soup_body_output_stream_close,
    // called by GOutputStream).
    stream.cut(withReset: isCutShort && message?.isHTTP10 ?? false)
    server = nil
    stream.closeStream()
    endWork(isAnswered: false)
  }
}
