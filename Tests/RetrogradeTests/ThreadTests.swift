import Glibc
import Synchronization
import Testing

@testable import RetrogradeEngine

/// What keeps threads from running ahead of each other, and stops them.
@Suite struct ThreadTests {
  private struct Failure: Error {}

  /// A counter that threads share.
  private final class Count: Sendable {
    private let state = Mutex(0)
    func add() { state.withLock { $0 += 1 } }
    var value: Int { state.withLock { $0 } }
  }

  /// Swift's own threads block that signal, and abort() ends the process then without calling the handler (glibc 2.41).
  @Test("threads of our own let SIGABRT reach its handler")
  func abortsAreHandled() async throws {
    let isBlocked = try await Task.detached {
      try Worker("mask") {
        var blocked = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &blocked)
        return sigismember(&blocked, SIGABRT)
      }.join()
    }.value
    #expect(isBlocked == 0)
  }

  @Test func valuesAreHandedOverOneByOneInOrder() throws {
    let handoff = Handoff<Int>()
    let given = Count()
    let giver = try Worker("giver") {
      for number in 0..<1000 {
        guard handoff.give(number) else { return }
        given.add()
      }
      handoff.finish()
    }
    for number in 0..<1000 {
      #expect(given.value <= number, "it waits until its value was taken")
      #expect(try handoff.take() == number)
    }
    #expect(try handoff.take() == nil)
    #expect(try handoff.take() == nil, "the end stays the end")
    try giver.join()
    #expect(given.value == 1000)
  }

  @Test func aTakerWhoWantsNoMoreWakesTheGiver() throws {
    let handoff = Handoff<Int>()
    let giver = try Worker("giver") {
      _ = handoff.give(1)
      return handoff.give(2) || handoff.give(3)
    }
    #expect(try handoff.take() == 1)
    handoff.close()
    #expect(try giver.join() == false)
    #expect(try handoff.take() == nil, "what was given afterwards is not kept")
  }

  @Test func aGiverWhoFailsTellsTheTakerOnce() throws {
    let handoff = Handoff<Int>()
    let taker = try Worker("taker") { () -> Int in
      var count = 0
      while try handoff.take() != nil { count += 1 }
      return count
    }
    #expect(handoff.give(1))
    handoff.finish(throwing: Failure())
    #expect(throws: Failure.self) { try taker.join() }
    #expect(try handoff.take() == nil)
  }

  @Test func whatIsCancelledStaysCancelled() throws {
    let cancellation = Cancellation()
    try cancellation.check()
    cancellation.cancel()
    cancellation.cancel()
    #expect(cancellation.isCancelled)
    #expect(throws: CancellationError.self) { try cancellation.check() }
  }

  @Test func whatWorkHeldIsGoneWhenItIsDone() async throws {
    for _ in 0..<500 {
      weak var held: Count?
      do {
        let count = Count()
        held = count
        try await onOwnThread("held", Cancellation()) { count.add() }
      }
      #expect(held == nil)
    }
  }
}
