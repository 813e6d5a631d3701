import CSystemSupport
import Dispatch
import Glibc
import Retrograde
import Synchronization

/// Handler of termination signals. The first signal cancels the current work, and the process ends
/// after cleanup; if no work is running, the process ends immediately. A second SIGINT or SIGTERM
/// ends the process immediately, even if cleanup hangs.
final class Interruption {
  /// Signals to handle. The causes of the signals, in this order, are: Ctrl-C, `kill`, a closed
  /// terminal, Ctrl-\, a pipe without a reader, and the file size limit (`ulimit -f`).
  private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ]
  /// Handlers of the current work; nil if no work is running. SIGINT calls and removes the first
  /// handler; the last handler stays. All other signals call the last handler.
  private static let handlers = Mutex<[@Sendable () -> Void]?>(nil)
  private static let received = Mutex<Int32>(SIGINT)
  /// Time at which SIGINT or SIGTERM cancelled the current work; nil before.
  private static let cancelled = Mutex<ContinuousClock.Instant?>(nil)
  private let source: (any DispatchSourceRead)?

  init() {
    // Signals to leave ignored if the parent process ignored them. `nohup` ignores SIGHUP.
    let left = Child.isThisProcess ? Interruption.signals : [SIGHUP]
    let watched = Interruption.signals.filter { !left.contains($0) || !Interruption.isIgnored($0) }
    let descriptor = system_watch_signals(watched, Int32(watched.count))
    guard descriptor >= 0 else {
      source = nil
      return
    }
    // Handle signals on a separate queue, which hanging work does not block.
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: DispatchQueue(label: "signals"))
    source.setEventHandler {
      var number: UInt8 = 0
      while read(descriptor, &number, 1) == 1 { Interruption.take(Int32(number)) }
    }
    source.resume()
    self.source = source
  }

  private static func take(_ number: Int32) {
    received.withLock { $0 = number }
    let (handler, isLast) = handlers.withLock { handlers -> ((@Sendable () -> Void)?, Bool) in
      guard let known = handlers else { return (nil, true) }
      return known.count > 1 && number == SIGINT ? (handlers?.removeFirst(), false) : (known.last, true)
    }
    // The `timeout` command sends each signal twice, to the process and to its process group. The
    // copy arrives soon after the first signal, and must not count as a second signal.
    let isSecond =
      [SIGINT, SIGTERM].contains(number) && isLast
      && cancelled.withLock { cancelled in
        guard let first = cancelled else {
          cancelled = ContinuousClock.now
          return false
        }
        return first.duration(to: ContinuousClock.now) > .milliseconds(200)
      }
    // Do not call `exit`: it would unload libraries that other threads may be using.
    guard let handler, !isSecond else {
      killChildren()
      _exit(128 + number)
    }
    // Cancelling may hang, so run the handler on another thread.
    DispatchQueue.global().async { handler() }
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Exit status for cancelled work: 128 plus the signal number, as in shells.
  static var cancelledStatus: Int32 { 128 + received.withLock { $0 } }

  /// Returns the exit status of the process: ``cancelledStatus`` for cancelled work, and the status
  /// of its code for any other error.
  func status(of error: any Error) -> Int32 {
    error is CancellationError
      ? Interruption.cancelledStatus : ((error as? RetrogradeError)?.code ?? .internalFailure).exitStatus
  }

  /// Runs `body`. The first Ctrl-C calls `first`, unless `first` is nil. A later Ctrl-C and any
  /// other signal call `handler`.
  static func handled<T>(
    by handler: @escaping @Sendable () -> Void, first: (@Sendable () -> Void)? = nil, _ body: () async throws -> T
  ) async rethrows -> T {
    handlers.withLock { $0 = [first, handler].compactMap { $0 } }
    cancelled.withLock { $0 = nil }
    defer { handlers.withLock { $0 = nil } }
    return try await body()
  }
}
