import CGStreamer
import Synchronization

extension GStreamer {
  private static let shortage = Mutex<(@Sendable () -> Void)?>(nil)

  /// Calls `body` where the system gives GStreamer no thread for a task.
  ///
  /// GStreamer 1.22 only prints a warning then (`start_task`), and whatever changes the state of that element waits for ever for a
  /// thread that does not run (`gst_task_join`). Nothing can be done for that pipeline any more.
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
