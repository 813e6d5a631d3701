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

  init(_ number: Int, _ stream: ClientStream) { (self.number, self.stream) = (number, stream) }

  /// Watches for the client's hangup as long as the connection is open.
  func watch(_ hangup: consuming Source) { self.hangup = consume hangup }

  func enter(_ phase: Phase) { (self.phase, since) = (phase, Clock.now) }

  /// The client owes something since ``since``.
  var isWaitingForClient: Bool { phase != .working }

  func wait(_ waiter: CheckedContinuation<Void, any Error>) {
    self.waiter?.resume(throwing: CancellationError())
    self.waiter = waiter
    enter(.writing)
  }

  /// The client took the piece.
  func pieceIsTaken() {
    guard let waiter else { return }
    self.waiter = nil
    enter(.working)
    waiter.resume()
  }

  /// Ends the work on the current request.
  /// - Parameter isAnswered: all of the answer was sent.
  func endRequest(isAnswered: Bool) {
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
    message?.letGo(isClosed: stream.isClosed)
    stream.shut()
    endRequest(isAnswered: false)
  }
}
