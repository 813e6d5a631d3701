/// A client's connection. Used on the loop's thread only.
final class Connection {
  enum Phase {
    /// Idle, or a request is coming.
    case reading
    /// The answer, or its next piece, is being made.
    case working
    /// The client is to take a piece of the answer.
    case writing
  }

  let number: Int
  let stream: ClientStream
  /// The last message of libsoup's on this connection; it may be answered already.
  var message: Message?
  /// Number of the requests so far.
  var requests = 0
  var task: Task<Void, Never>?
  /// Waits until a piece was taken.
  private var waiter: CheckedContinuation<Void, any Error>?
  private(set) var phase = Phase.reading
  /// When the phase began.
  private(set) var since = Clock.now
  /// Closed at the end of the loop's turn.
  var isDoomed = false
  /// The answer could not be made whole.
  var isCutShort = false
  private var hangup: Source?
  private var server: SoupServerObject?
  private let answer: (Connection, Request) -> Void

  /// - Parameter answer: begins to answer a request that may be answered.
  init(_ number: Int, _ stream: ClientStream, _ answer: @escaping (Connection, Request) -> Void) {
    (self.number, self.stream, self.answer) = (number, stream, answer)
  }

  /// Reads requests until ``close()``.
  /// - Parameter hangup: watches for the end of the client.
  func open(watching hangup: consuming Source, _ quiet: QuietSocket) {
    self.hangup = consume hangup
    server = SoupServerObject(for: self, quiet)
    guard let server else { return isDoomed = true }
    server.read(stream)
  }

  func enter(_ phase: Phase) { (self.phase, since) = (phase, Clock.now) }

  /// The client owes something since ``since``.
  var isWaitingForClient: Bool { phase != .working }

  func wait(_ waiter: CheckedContinuation<Void, any Error>) {
    self.waiter?.resume(throwing: CancellationError())
    self.waiter = waiter
    enter(.writing)
  }

  // MARK: - Events of its server

  /// The first byte of a request has come, or the connection.
  func requestBegan(_ message: Message) { self.message = message }

  func headerCame() { if message?.hasBadLength ?? true { isDoomed = true } }

  /// Handles a request that has come whole.
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

  /// The client took the piece.
  func pieceIsTaken() {
    guard let waiter else { return }
    self.waiter = nil
    enter(.working)
    waiter.resume()
  }

  /// An answer was sent, or failed on its way.
  func requestEnded(isAnswered: Bool) {
    endWork(isAnswered: isAnswered)
    // An answer that comes after this is not one to the next request.
    requests += 1
    enter(.reading)
  }

  // MARK: - Its end

  /// Ends the work on the current request.
  /// - Parameter isAnswered: all of the answer was sent.
  private func endWork(isAnswered: Bool) {
    if !isAnswered { task?.cancel() }
    task = nil
    waiter?.resume(throwing: CancellationError())
    waiter = nil
  }

  /// Closes the connection and cancels its work.
  func close() {
    hangup = nil
    // First: libsoup writes a last chunk when it drops a body, as if the body were whole, and
    // waits until the client takes it (soup_body_output_stream_close, called by GOutputStream).
    stream.cut(withReset: isCutShort && message?.isHTTP10 ?? false)
    server = nil
    stream.shut()
    endWork(isAnswered: false)
  }
}
