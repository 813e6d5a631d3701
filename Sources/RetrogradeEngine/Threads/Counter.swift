import Synchronization

/// Counter that several threads increment.
package final class Counter: Sendable {
  private let count = Atomic(0)

  package init() {}

  package var value: Int { count.load(ordering: .acquiring) }

  /// Adds 1 to the count.
  /// - Returns: the new count.
  @discardableResult
  package func add() -> Int { count.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue }
}
