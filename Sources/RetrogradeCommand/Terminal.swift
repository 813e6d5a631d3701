import Glibc
import Synchronization

/// Where messages for people go.
enum Terminal {
  /// Ends the process.
  static func exit(_ status: Int32) -> Never { Glibc.exit(status) }

  static var isInteractive: Bool { isatty(STDERR_FILENO) == 1 }

  static func error(_ line: String) { write(line + "\n", to: STDERR_FILENO) }

  static func write(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { bytes in
      var done = 0
      while done < bytes.count {
        let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { return }
        done += count
      }
    }
  }

  /// The width in columns.
  static var width: Int {
    var size = winsize()
    return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }
}

/// Ctrl-C and SIGTERM, as something that a task can wait for.
///
/// The signals are blocked in every thread and taken by one that does nothing else, so that no handler interrupts work.
final class Interruption: Sendable {
  /// Waits for the first of the signals, on a thread of its own, and calls `body`.
  static let current = Mutex<(@Sendable () -> Void)?>(nil)
  private static let received = Mutex<Int32>(SIGINT)

  /// 128 plus the number of the signal, as shells have it.
  var status: Int32 { 128 + Interruption.received.withLock { $0 } }

  init() {
    signal(SIGPIPE, SIG_IGN)
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { _ in
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        var number: Int32 = 0
        while sigwait(&signals, &number) == 0 {
          Interruption.received.withLock { $0 = number }
          if let body = Interruption.current.withLock({ $0 }) {
            body()
          } else {
            Glibc.exit(128 + number)
          }
        }
        return nil
      }, nil)
    if status != 0 { pthread_sigmask(SIG_UNBLOCK, &signals, nil) }
  }

  /// Runs `body`; a signal meanwhile calls `handler`.
  static func handled<T>(by handler: @escaping @Sendable () -> Void, _ body: () async throws -> T) async rethrows -> T {
    current.withLock { $0 = handler }
    defer { current.withLock { $0 = nil } }
    return try await body()
  }
}
