import MediaTime
import Testing

@testable import RetrogradeEngine

/// What ends an indexing pass: decided without a pipeline.
@Suite struct IndexingPassTests {
  private typealias Sight = IndexingPass.Sight

  /// Two streams, and three seconds in which nothing may come.
  private var pass = IndexingPass(streams: 2, stall: ClockTime(seconds: 3))

  private func sight(_ change: (inout Sight) -> Void = { _ in }) -> Sight {
    var sight = Sight()
    change(&sight)
    return sight
  }

  /// A second of silence.
  private func silent(_ change: (inout Sight) -> Void = { _ in }) -> Sight {
    var sight = sight(change)
    sight.silence = ClockTime(seconds: 1)
    return sight
  }

  private mutating func ends(_ sights: [Sight]) -> [IndexingPass.End?] { sights.map { pass.end(seeing: $0) } }

  @Test mutating func itEndsWhenAllStreamsHave() {
    let ends = ends([sight(), sight { $0.ended = 1 }, sight { $0.ended = 2 }])
    #expect(ends == [nil, nil, .streamsEnded])
  }

  @Test mutating func itEndsAtOnceWhenItIsCancelled() {
    let ends = ends([sight(), sight { $0.isCancelled = true }])
    #expect(ends == [nil, .cancelled])
  }

  @Test mutating func itEndsWhenAStreamCanNotBeReadAnyFurther() {
    #expect(ends([sight { $0.hasReaderFailed = true }]) == [.readerFailed])
  }

  @Test mutating func afterAFailureItGoesOnForAsLongAsAnyElementRuns() {
    pass.fail()
    let ends = ends([sight(), sight { $0.samples = 5 }, sight { $0.isStreaming = false }])
    #expect(ends == [nil, nil, .pipelineFailed])
  }

  @Test mutating func aFailureAfterWhichAllStreamsEndIsTheirEnd() {
    pass.fail()
    let end = pass.end(
      seeing: sight {
        $0.ended = 2
        $0.isStreaming = false
      })
    #expect(end == .streamsEnded)
  }

  @Test mutating func elementsThatStopWithoutAFailureEndNothing() {
    #expect(ends([sight { $0.isStreaming = false }]) == [nil])
  }

  @Test mutating func itEndsWhenNothingComesForTooLong() {
    #expect(ends([silent(), silent(), silent(), silent()]) == [nil, nil, nil, .stalled])
  }

  @Test mutating func aSampleStartsTheWaitAnew() {
    let ends = ends([silent(), silent(), silent()] + Array(repeating: silent { $0.samples = 1 }, count: 5))
    #expect(ends == [nil, nil, nil, nil, nil, nil, nil, .stalled])
  }

  @Test mutating func aDiskMayTakeItsTime() {
    let ends = ends(Array(repeating: silent { $0.isReading = true }, count: 100))
    #expect(ends.allSatisfy { $0 == nil })
  }

  @Test mutating func messagesAreNoSilence() {
    #expect(ends(Array(repeating: sight(), count: 100)).allSatisfy { $0 == nil })
  }

  @Test mutating func itEndsWhenAllThatTheSourceHasHas() {
    let ends = ends([
      silent { $0.unlinked = 1 },
      silent {
        $0.unlinked = 1
        $0.ended = 1
      },
    ])
    #expect(ends == [nil, .restIsMissing])
  }

  @Test mutating func asLongAsNothingIsLinkedItWaits() {
    #expect(ends([silent { $0.unlinked = 2 }]) == [nil])
  }

  @Test mutating func cancellingCountsMoreThanAllElse() {
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

  @Test func idleTimeIsCountedFromTheLastMovement() {
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
