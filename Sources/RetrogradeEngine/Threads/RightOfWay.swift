/// Has work that nobody waits for stand still while somebody waits for other work: both would take twice as long.
final class RightOfWay: @unchecked Sendable {
  private let monitor = Monitor()
  // Behind `monitor`.
  private var takers = 0

  /// Does `work` before all else.
  func take<Value>(_ work: () throws -> Value) rethrows -> Value {
    monitor.locked { takers += 1 }
    defer { monitor.locked { takers -= 1 } }
    return try work()
  }

  /// Whether work is done before all else.
  var isTaken: Bool { monitor.locked { takers > 0 } }

  /// Waits while it is, also where the work that waits is cancelled: what goes before it ends soon then, being part of the same.
  func give() {
    monitor.locked { monitor.wait { takers > 0 } }
  }
}
