import CSoup

/// GMainContext with a single owner.
///
/// `@unchecked Sendable`: GLib locks a context itself; `wakeUp()` may be called on any thread,
/// and the other methods on the thread that runs the loop.
final class MainContext: @unchecked Sendable {
  private let context: OpaquePointer

  init() { context = g_main_context_new() }

  deinit { g_main_context_unref(context) }

  /// Makes this the default context for sources that libsoup creates on this thread.
  func pushThreadDefault() { g_main_context_push_thread_default(context) }

  func popThreadDefault() { g_main_context_pop_thread_default(context) }

  /// Dispatches all sources that are ready.
  /// - Parameter mayBlock: true to wait until a source is ready.
  /// - Returns: true if anything was dispatched.
  @discardableResult
  func iterate(mayBlock: Bool) -> Bool { g_main_context_iteration(context, mayBlock ? 1 : 0) != 0 }

  /// Wakes ``iterate(mayBlock:)``, or makes its next call return immediately.
  func wakeUp() { g_main_context_wakeup(context) }

  func attach(_ source: borrowing Source) { source.attach(to: context) }
}
