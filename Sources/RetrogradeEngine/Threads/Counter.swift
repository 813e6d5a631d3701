import Synchronization

/// A count that several threads add to.
package final class Counter: Sendable {
  private let count = Atomic(0)

  package init() {}

  package var value: Int { count.load(ordering: .acquiring) }

  /// - Returns: how many there are now.
  @discardableResult
  package func add() -> Int { count.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue }
}
