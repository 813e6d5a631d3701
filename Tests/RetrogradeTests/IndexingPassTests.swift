import MediaTime
import Testing

@testable import RetrogradeEngine

/// Conditions that end an indexing pass, tested without a pipeline.
@Suite struct IndexingPassTests {
  private typealias Snapshot = IndexingPass.Snapshot

  /// A pass with two streams and a stall timeout of three seconds.
  private var pass = IndexingPass(streams: 2, stall: ClockTime(seconds: 3))

  private func sight(_ change: (inout Snapshot) -> Void = { _ in }) -> Snapshot {
    var sight = Snapshot()
    change(&sight)
    return sight
  }

  /// Returns a snapshot after a second without a message from the pipeline.
  private func silent(_ change: (inout Snapshot) -> Void = { _ in }) -> Snapshot {
    var sight = sight(change)
    sight.silence = ClockTime(seconds: 1)
    return sight
  }

  private mutating func ends(_ sights: [Snapshot]) -> [IndexingPass.End?] { sights.map { pass.end(seeing: $0) } }

  @Test("the pass ends when all streams have ended")
  mutating func endedStreams() {
    let ends = ends([sight(), sight { $0.ended = 1 }, sight { $0.ended = 2 }])
    #expect(ends == [nil, nil, .streamsEnded])
  }

  @Test("cancelling ends the pass at once")
  mutating func cancelled() {
    let ends = ends([sight(), sight { $0.isCancelled = true }])
    #expect(ends == [nil, .cancelled])
  }

  @Test("a failed reader ends the pass")
  mutating func failedReader() {
    #expect(ends([sight { $0.hasReaderFailed = true }]) == [.readerFailed])
  }

  @Test("after a failure, the pass continues while any element is running")
  mutating func failureWhileStreaming() {
    pass.fail()
    let ends = ends([sight(), sight { $0.samples = 5 }, sight { $0.isStreaming = false }])
    #expect(ends == [nil, nil, .pipelineFailed])
  }

  @Test("a failure followed by the end of all streams is a normal end")
  mutating func failureBeforeEnd() {
    pass.fail()
    let end = pass.end(
      seeing: sight {
        $0.ended = 2
        $0.isStreaming = false
      })
    #expect(end == .streamsEnded)
  }

  @Test("elements that stop without a failure do not end the pass")
  mutating func stoppedElements() {
    #expect(ends([sight { $0.isStreaming = false }]) == [nil])
  }

  @Test("the pass ends when no data arrives for too long")
  mutating func stalled() {
    #expect(ends([silent(), silent(), silent(), silent()]) == [nil, nil, nil, .stalled])
  }

  @Test("a packet restarts the stall timeout")
  mutating func restartedTimeout() {
    let ends = ends([silent(), silent(), silent()] + Array(repeating: silent { $0.samples = 1 }, count: 5))
    #expect(ends == [nil, nil, nil, nil, nil, nil, nil, .stalled])
  }

  @Test("a slow disk is not a stall")
  mutating func slowDisk() {
    let ends = ends(Array(repeating: silent { $0.isReading = true }, count: 100))
    #expect(ends.allSatisfy { $0 == nil })
  }

  @Test("messages prevent a stall")
  mutating func messages() {
    #expect(ends(Array(repeating: sight(), count: 100)).allSatisfy { $0 == nil })
  }

  @Test("the pass ends when every linked stream has ended")
  mutating func unlinkedStreams() {
    let ends = ends([
      silent { $0.unlinked = 1 },
      silent {
        $0.unlinked = 1
        $0.ended = 1
      },
    ])
    #expect(ends == [nil, .restIsMissing])
  }

  @Test("the pass waits while no stream is linked")
  mutating func noLinkedStreams() {
    #expect(ends([silent { $0.unlinked = 2 }]) == [nil])
  }

  @Test("cancelling takes precedence over every other condition")
  mutating func cancelPrecedence() {
    pass.fail()
    let end = pass.end(
      seeing: sight {
        $0.isCancelled = true
        $0.hasReaderFailed = true
        $0.isStreaming = false
        $0.ended = 2
      })
    #expect(end == .cancelled)
  }

  @Test("idle time counts from the last progress")
  func idleTime() {
    var idle = IdleTime(count: 7)
    idle.add(ClockTime(seconds: 1), count: 7)
    idle.add(ClockTime(seconds: 2), count: 7)
    #expect(idle.length == ClockTime(seconds: 3))
    idle.add(ClockTime(seconds: 1), count: 8)
    #expect(idle.length == .zero)
    idle.add(ClockTime(seconds: 1), count: 8)
    #expect(idle.length == ClockTime(seconds: 1))
    idle.reset()
    #expect(idle.length == .zero)
  }
}
