/// Makes background work stand still while urgent work is under way: both would take twice as long.
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

  /// Waits while urgent work is under way, also if the waiting work is cancelled: the urgent work ends soon
  /// then, being part of the same.
  func give() {
    monitor.locked { monitor.wait { takers > 0 } }
  }
}
