import CGStreamer
import Synchronization

extension GStreamer {
  private static let shortage = Mutex<(@Sendable () -> Void)?>(nil)

  /// Calls `body` if the system cannot create a thread for a GStreamer task.
  ///
  /// GStreamer itself only prints a warning (`Quirk.coreThreadShortage`). Each later state change
  /// of the element with that task waits forever for the missing thread, so the pipeline cannot
  /// recover, and `body` should end the process.
  package static func onThreadShortage(_ body: @escaping @Sendable () -> Void) {
    shortage.withLock { $0 = body }
    g_log_set_handler(
      "GStreamer", G_LOG_LEVEL_WARNING,
      { domain, level, message, _ in
        g_log_default_handler(domain, level, message, nil)
        guard message.map({ String(cString: $0) })?.hasPrefix("failed to create thread") ?? false else { return }
        GStreamer.shortage.withLock { $0 }?()
      }, nil)
  }
}
