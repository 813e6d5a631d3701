import Glibc
import Synchronization

/// HTTP server for GET and HEAD, based on libsoup.
package final class HTTPService: Sendable {
  package struct Settings: Sendable {
    /// Address or name of this machine.
    package var host: String
    /// Port; 0 selects a free one.
    package var port: Int
    /// Maximum time for a client to send a request, or to receive a piece of an answer.
    package var patience: Duration
    /// Maximum number of connections. At this limit, an idle or stalled connection is closed for
    /// each new client. If no connection is idle or stalled, the new client waits.
    package var mostConnections: Int

    package init(host: String, port: Int, patience: Duration, mostConnections: Int) {
      (self.host, self.port, self.patience) = (host, port, patience)
      self.mostConnections = mostConnections
    }
  }

  private let settings: Settings
  private let queue = LoopQueue()
  private let counter = ConnectionCounter()

  package init(_ settings: Settings) { self.settings = settings }

  /// Number of open connections.
  package var connections: Int { counter.value }
  /// New values of ``connections``, for one reader; only the newest value is buffered.
  package var connectionCounts: AsyncStream<Int> { counter.values }

  /// Listens and serves until ``stop()``. Blocks; may be called only once.
  ///
  /// - Parameters:
  ///   - onListening: called with the port.
  ///   - respond: answers a request, in a task that is cancelled when the client disconnects.
  /// - Throws: ``ListenError``.
  package func run(
    onListening: (_ port: Int) -> Void, respond: @escaping @Sendable (Exchange) async -> Void
  ) throws(ListenError) {
    let listener = try ListeningSocket(host: settings.host, port: settings.port)
    let port = listener.port
    queue.context.pushThreadDefault()
    defer { queue.context.popThreadDefault() }
    guard let loop = Loop(queue, settings, consume listener, counter, respond) else {
      throw .system(ENOMEM)
    }
    onListening(port)
    loop.run()
  }

  /// Closes all connections and makes ``run(onListening:respond:)`` return. If
  /// ``run(onListening:respond:)`` is called only after this function, it returns at once.
  package func stop() { queue.add { $0.stop() } }
}

/// Number of open connections; can be read on any thread.
final class ConnectionCounter: Sendable {
  private let count = Atomic(0)
  let values: AsyncStream<Int>
  private let changes: AsyncStream<Int>.Continuation

  init() { (values, changes) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

  var value: Int { count.load(ordering: .relaxed) }

  func set(_ value: Int) {
    count.store(value, ordering: .relaxed)
    changes.yield(value)
  }
}
