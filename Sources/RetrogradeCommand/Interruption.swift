import Dispatch
import Glibc
import Retrograde
import Synchronization

/// Ctrl-C and SIGTERM: the first one cancels the work under way, and the process ends when that has cleaned up; without
/// work under way, the process ends at once.
final class Interruption {
  /// What signals do, the next one first; nil where no work is under way.
  private static let handlers = Mutex<[@Sendable () -> Void]?>(nil)
  private static let received = Mutex<Int32>(SIGINT)
  private let sources: [any DispatchSourceSignal]

  init() {
    signal(SIGPIPE, SIG_IGN)
    sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)  // the source gets it all the same
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        Interruption.received.withLock { $0 = number }
        let handler = Interruption.handlers.withLock { handlers in
          handlers.map { $0.count > 1 && number == SIGINT ? handlers?.removeFirst() : $0.last } ?? nil
        }
        if let handler {
          handler()
        } else {
          Terminal.exit(128 + number)
        }
      }
      source.resume()
      return source
    }
  }

  /// What the process exits with: of work that a signal cancelled, 128 plus its number, as shells have it.
  func status(of error: RetrogradeError) -> Int32 {
    error.code == .cancelled ? 128 + Interruption.received.withLock { $0 } : error.code.rawValue
  }

  /// Runs `body`; a signal meanwhile calls `handler`, but the first Ctrl-C calls `first`, where there is that.
  static func handled<T>(
    by handler: @escaping @Sendable () -> Void, first: (@Sendable () -> Void)? = nil, _ body: () async throws -> T
  ) async rethrows -> T {
    handlers.withLock { $0 = [first, handler].compactMap { $0 } }
    defer { handlers.withLock { $0 = nil } }
    return try await body()
  }
}
