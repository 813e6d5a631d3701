import CSoup
import Glibc

/// libsoup's main loop and the connections of a server. Bound to one thread.
///
/// libsoup parses requests and frames answers. This class accepts, monitors and closes connections,
/// because a SoupServer has no limits or timeouts, and does not watch a connection while an answer
/// is being made.
final class Loop {
  private let queue: LoopQueue
  private let settings: HTTPService.Settings
  private let patience: Int64
  private let respond: @Sendable (Exchange) async -> Void
  private let listener: ListeningSocket
  private let quiet: QuietSocket
  private let timer = Source.timer()
  private var acceptor: Source?
  /// Time of the next attempt to accept, if the last attempt failed for lack of descriptors.
  private var nextAcceptTime: Int64?
  private var connections: [Int: Connection] = [:]
  private var count = 0
  private var isStopped = false
  private let counter: ConnectionCounter

  init?(
    _ queue: LoopQueue, _ settings: HTTPService.Settings, _ listener: consuming ListeningSocket,
    _ counter: ConnectionCounter, _ respond: @escaping @Sendable (Exchange) async -> Void
  ) {
    guard let quiet = QuietSocket() else { return nil }
    (self.queue, self.settings, self.counter, self.respond) = (queue, settings, counter, respond)
    self.quiet = quiet
    self.listener = listener
    patience = Clock.microseconds(settings.patience)
  }

  /// Serves until ``stop()``. Blocks.
  func run() {
    queue.context.attach(timer)
    accept(true)
    while !isStopped {
      queue.context.iterate(mayBlock: true)
      for job in queue.take() { job(self) }
      closeExpiredConnections()
    }
    accept(false)
    for job in queue.take(closing: true) { job(self) }
    for connection in connections.values { close(connection) }
    // Work that libsoup started on other threads finishes in this context, so dispatch until
    // nothing is ready.
    while queue.context.iterate(mayBlock: false) {}
  }

  func stop() { isStopped = true }

  private func answer(_ request: Request, _ connection: Connection) {
    let key = Exchange.Key(connection: connection.number, request: connection.requests)
    let exchange = Exchange(request, key, queue)
    connection.task = Task { [respond] in await respond(exchange) }
  }

  // MARK: - Calls by exchanges

  private func connection(_ key: Exchange.Key) -> Connection? {
    guard let connection = connections[key.connection], connection.requests == key.request,
      !connection.stream.isClosed, !connection.isClosing
    else { return nil }
    return connection
  }

  func begin(_ key: Exchange.Key, _ head: ResponseHead) {
    guard let connection = connection(key), let message = connection.message else { return }
    switch head.body {
    case .none: connection.enter(.writing)
    case .sized, .chunked: break
    }
    message.setHead(head)
    message.resume()
  }

  func write(
    _ key: Exchange.Key, _ bytes: [UInt8], _ continuation: CheckedContinuation<Void, any Error>
  ) {
    guard let connection = connection(key), let message = connection.message else {
      return continuation.resume(throwing: CancellationError())
    }
    connection.wait(continuation)
    message.append(bytes)
    message.resume()
  }

  func finish(_ key: Exchange.Key) {
    guard let connection = connection(key), let message = connection.message else { return }
    connection.enter(.writing)
    message.complete()
    message.resume()
  }

  func abort(_ key: Exchange.Key) {
    guard let connection = connection(key) else { return }
    connection.isCutShort = true
    close(connection)
  }

  // MARK: - Connections

  private func accept(_ isWanted: Bool) {
    guard isWanted else { return acceptor = nil }
    guard acceptor == nil else { return }
    let source = Source(listener.descriptor, .readable) { [unowned self] in acceptNext() }
    queue.context.attach(source)
    acceptor = consume source
  }

  private func acceptNext() {
    if connections.count >= settings.mostConnections {
      // Close the idle connection before accepting, because the new connection needs the descriptor
      // of the idle one.
      guard let idle = longestIdle() else { return accept(false) }
      close(idle)
    }
    do {
      if let stream = try listener.accept() { add(stream) }
    } catch {
      accept(false)
      nextAcceptTime = Clock.now + Loop.acceptPause
    }
  }

  /// Interval between attempts to accept while no descriptor is free, or while all connections are
  /// busy, in microseconds.
  private static let acceptPause: Int64 = 100_000
  /// Time after which the connection of a stalled client may be closed for a new one, in
  /// microseconds.
  private static let stallTolerance: Int64 = 5_000_000

  /// Returns the connection to close for a new client: the longest idle connection, or else the
  /// longest stalled connection; nil if all connections are busy.
  private func longestIdle() -> Connection? {
    let idle = connections.values.filter { $0.phase == .reading }
    if let longest = idle.min(by: { $0.since < $1.since }) { return longest }
    let limit = Clock.now - Loop.stallTolerance
    return connections.values.filter { $0.phase == .writing && $0.since < limit }
      .min { $0.since < $1.since }
  }

  private func add(_ stream: ClientStream) {
    count += 1
    let connection = Connection(count, stream) { [unowned self] in answer($1, $0) }
    connections[connection.number] = connection
    counter.set(connections.count)
    // Watch for a disconnect here, because libsoup does not watch a paused connection, and libsoup
    // 3.2 fails to close a connection that ends between two requests
    // (`soup_server_message_io_http1_finished`, fixed in 3.4).
    let hangup = Source(stream.descriptor, .hangup) { [unowned connection] in
      connection.isClosing = true
    }
    queue.context.attach(hangup)
    connection.open(watching: consume hangup, quiet)
  }

  private func close(_ connection: Connection) {
    connections[connection.number] = nil
    counter.set(connections.count)
    connection.close()
  }

  /// Closes finished and timed-out connections, and sets the timer for the next timeout.
  ///
  /// Runs after each loop iteration, before polling, because libsoup does not report that it closed
  /// a connection.
  private func closeExpiredConnections() {
    let now = Clock.now
    var next = nextAcceptTime
    for connection in Array(connections.values) {
      let due = connection.isWaitingForClient ? connection.since + patience : nil
      if connection.isClosing || connection.stream.isClosed || due.map({ $0 <= now }) ?? false {
        close(connection)
      } else if let due {
        next = min(next ?? due, due)
      }
    }
    if let again = nextAcceptTime, again <= now {
      nextAcceptTime = nil
      next = nil
    }
    if acceptor == nil, nextAcceptTime == nil, !isStopped {
      if connections.count < settings.mostConnections || longestIdle() != nil {
        accept(true)
      } else {
        next = min(next ?? .max, now + Loop.acceptPause)
      }
    }
    timer.setTime(next)
  }
}
