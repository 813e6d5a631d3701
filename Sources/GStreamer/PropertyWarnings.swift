import CGStreamer
import Glibc
import Synchronization

/// Collects GObject's warnings while properties are set. If GObject refuses a value, the property
/// keeps its old value and the setter reports nothing: the only sign is a printed warning.
enum PropertyWarnings {
  /// Warnings of each thread that is inside ``during(_:)``.
  private static let collected = Mutex<[pthread_t: [String]]>([:])

  private static let isInstalled: Bool = {
    let levels = G_LOG_LEVEL_WARNING.rawValue | G_LOG_LEVEL_CRITICAL.rawValue
    g_log_set_handler(
      "GLib-GObject", GLogLevelFlags(levels),
      { domain, level, message, _ in
        let text = message.map { String(cString: $0) } ?? ""
        let isTaken = PropertyWarnings.collected.withLock { collected in
          guard collected[pthread_self()] != nil else { return false }
          collected[pthread_self()]?.append(text)
          return true
        }
        if !isTaken { g_log_default_handler(domain, level, message, nil) }
      }, nil)
    return true
  }()

  /// Runs `body`; returns the result of `body`, and the GObject warnings that this thread causes
  /// meanwhile. These warnings are not printed.
  static func during<Value>(_ body: () throws -> Value) rethrows -> (value: Value, warnings: [String]) {
    _ = isInstalled
    let outer = collected.withLock { $0.updateValue([], forKey: pthread_self()) }
    defer { collected.withLock { $0[pthread_self()] = outer } }
    let value = try body()
    return (value, collected.withLock { $0[pthread_self()] ?? [] })
  }
}
