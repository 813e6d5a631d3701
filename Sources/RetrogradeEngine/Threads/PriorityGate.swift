/// Pauses background work during urgent work, because each would take twice as long if both ran at
/// once.
final class PriorityGate: @unchecked Sendable {
  private let monitor = Monitor()
  // Guarded by `monitor`.
  private var takers = 0

  /// Runs urgent `work`.
  func runUrgent<Value>(_ work: () throws -> Value) rethrows -> Value {
    monitor.locked { takers += 1 }
    defer { monitor.locked { takers -= 1 } }
    return try work()
  }

  /// True while urgent work runs.
  var isUrgent: Bool { monitor.locked { takers > 0 } }

  /// Waits while urgent work runs. A cancelled caller also waits, but not for long: cancellation
  /// ends the urgent work, too, because both belong to the same operation.
  func waitForUrgentWork() {
    monitor.locked { monitor.wait { takers > 0 } }
  }
}
