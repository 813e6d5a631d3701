import Dispatch
import Glibc
import Synchronization

/// Ctrl-C and SIGTERM: the first one cancels the work under way, and the process ends when that has cleaned up; without
/// work under way, the process ends at once.
final class Interruption {
  private static let cancel = Mutex<(@Sendable () -> Void)?>(nil)
  private static let received = Mutex<Int32>(SIGINT)
  private let sources: [any DispatchSourceSignal]

  init() {
    signal(SIGPIPE, SIG_IGN)
    sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)  // the source gets it all the same
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        Interruption.received.withLock { $0 = number }
        if let cancel = Interruption.cancel.withLock({ $0 }) {
          cancel()
        } else {
          Terminal.exit(128 + number)
        }
      }
      source.resume()
      return source
    }
  }

  /// 128 plus the number of the signal, as shells have it.
  var status: Int32 { 128 + Interruption.received.withLock { $0 } }

  /// Runs `body`; a signal meanwhile calls `handler`.
  static func handled<T>(by handler: @escaping @Sendable () -> Void, _ body: () async throws -> T) async rethrows -> T {
    cancel.withLock { $0 = handler }
    defer { cancel.withLock { $0 = nil } }
    return try await body()
  }
}
