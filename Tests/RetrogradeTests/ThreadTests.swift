import Glibc
import Synchronization
import Testing

@testable import RetrogradeEngine

/// Passing values from thread to thread, and stopping threads.
@Suite struct ThreadTests {
  private struct Failure: Error {}

  /// A counter shared by threads.
  private final class Count: Sendable {
    private let state = Mutex(0)
    func add() { state.withLock { $0 += 1 } }
    var value: Int { state.withLock { $0 } }
  }

  /// Swift's own threads block SIGABRT. In such a thread, `abort` ends the process without calling
  /// the handler (glibc 2.41).
  @Test("a worker lets SIGABRT reach its handler")
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

  @Test("values are passed one by one, in order")
  func valueOrder() throws {
    let handoff = Handoff<Int>()
    let pushed = Count()
    let producer = try Worker("producer") {
      for number in 0..<1000 {
        guard handoff.give(number) else { return }
        pushed.add()
      }
      handoff.finish()
    }
    for number in 0..<1000 {
      #expect(pushed.value <= number, "the producer waits until its value is taken")
      #expect(try handoff.take() == number)
    }
    #expect(try handoff.take() == nil)
    #expect(try handoff.take() == nil, "the end stays the end")
    try producer.join()
    #expect(pushed.value == 1000)
  }

  @Test("closing a handoff wakes its producer")
  func closedHandoff() throws {
    let handoff = Handoff<Int>()
    let producer = try Worker("producer") {
      _ = handoff.give(1)
      return handoff.give(2) || handoff.give(3)
    }
    #expect(try handoff.take() == 1)
    handoff.close()
    #expect(try producer.join() == false)
    #expect(try handoff.take() == nil, "later values are not kept")
  }

  @Test("a failing producer is reported once")
  func failingProducer() throws {
    let handoff = Handoff<Int>()
    let consumer = try Worker("consumer") { () -> Int in
      var count = 0
      while try handoff.take() != nil { count += 1 }
      return count
    }
    #expect(handoff.give(1))
    handoff.finish(throwing: Failure())
    #expect(throws: Failure.self) { try consumer.join() }
    #expect(try handoff.take() == nil)
  }

  @Test("a cancellation is permanent")
  func permanentCancellation() throws {
    let cancellation = Cancellation()
    try cancellation.check()
    cancellation.cancel()
    cancellation.cancel()
    #expect(cancellation.isCancelled)
    #expect(throws: CancellationError.self) { try cancellation.check() }
  }

  @Test("finished work releases what it captured")
  func releasedCaptures() async throws {
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
