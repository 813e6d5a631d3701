import CSoup

/// GSource that calls a closure. The GSource is destroyed with this value. Used on the loop's
/// thread.
struct Source: ~Copyable {
  private let source: UnsafeMutablePointer<GSource>

  /// Object that contains the closure, because C needs a pointer. GLib releases the object with the
  /// GSource.
  private final class Body {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
  }

  /// Calls `body` when the descriptor meets one of `conditions`.
  init(_ descriptor: Int32, _ conditions: Conditions, _ body: @escaping () -> Void) {
    source = g_unix_fd_source_new(descriptor, GIOCondition(conditions.rawValue))
    let call: GUnixFDSourceFunc = { _, _, data in
      if let data { Unmanaged<Body>.fromOpaque(data).takeUnretainedValue().run() }
      return 1
    }
    // Same cast as G_SOURCE_FUNC in C. GLib knows the function's own type from the kind of source.
    let function = unsafeBitCast(call, to: GSourceFunc.self)
    g_source_set_callback(source, function, Unmanaged.passRetained(Body(body)).toOpaque()) { data in
      if let data { Unmanaged<Body>.fromOpaque(data).release() }
    }
  }

  /// Creates a timer that wakes the loop at the time of ``setTime(_:)``.
  static func timer() -> Source { Source(timer: ()) }

  private init(timer: Void) {
    source = g_timeout_source_new(UInt32.max)
    g_source_set_callback(source, { _ in 1 }, nil, nil)
    g_source_set_ready_time(source, -1)
  }

  deinit {
    g_source_destroy(source)
    g_source_unref(source)
  }

  /// Adds the GSource to a GMainContext. Called by ``MainContext/attach(_:)``.
  borrowing func attach(to context: OpaquePointer) {
    _ = g_source_attach(source, context)
  }

  /// Sets when the timer wakes the loop.
  /// - Parameter time: time on ``Clock``, in microseconds; nil disables the timer.
  borrowing func setTime(_ time: Int64?) { g_source_set_ready_time(source, gint64(time ?? -1)) }

  struct Conditions: OptionSet {
    let rawValue: UInt32

    static let readable = Conditions(rawValue: 1)
    /// The peer sends no more, or the connection is broken. GLib has no name for POLLRDHUP, but
    /// passes the bits to the system call `poll` unchanged.
    static let hangup = Conditions(rawValue: 0x2000 | 16 | 8)
  }
}

/// Clock of GLib's sources, in microseconds.
enum Clock {
  static var now: Int64 { Int64(g_get_monotonic_time()) }

  static func microseconds(_ duration: Duration) -> Int64 {
    let (seconds, fraction) = duration.components
    let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000)
    return isTooLong ? .max / 4 : whole + fraction / 1_000_000_000_000
  }
}
