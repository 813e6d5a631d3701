import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Order of play of loops. A leg is a part of the source that is played in one direction.
@Suite struct LoopTests {
  private let tenFrames = VideoTimeline(
    starts: (0..<10).map { ClockTime(nanoseconds: $0 * 40) }, end: ClockTime(nanoseconds: 400))
  private var whole: Presentation { Presentation(TimeSpan(start: .zero, end: ClockTime(nanoseconds: 400))) }

  /// Returns the numbers of the frames that the legs show, in the order of play.
  private func frames(_ legs: PlaybackLegs, _ timeline: VideoTimeline) -> [Int] {
    var shown: [Int] = []
    for leg in legs.all {
      let frames = Array(timeline.clipped(to: leg.span).frames)
      shown += leg.direction == .forward ? frames : frames.reversed()
    }
    return shown
  }

  @Test("the frame at a turn is shown once")
  func turns() {
    let backward = Array((0..<9).reversed())
    let forward = Array(0..<10)
    func order(_ loop: Loop, _ count: Int, dropsSeam: Bool = false) -> [Int] {
      frames(PlaybackLegs(loop, count: count, whole, timeline: tenFrames, dropsSeam: dropsSeam), tenFrames)
    }
    #expect(order(.reverse, 1) == forward.reversed())
    #expect(order(.pingPong, 1) == forward + backward, "n + n - 1, ending on the frame it began with")
    #expect(order(.pingPong, 2) == forward + backward + forward.dropFirst() + backward)
    #expect(order(.pingPong, 1, dropsSeam: true) == forward + backward.dropLast())
    #expect(order(.reverseForward, 1) == forward.reversed() + forward.dropFirst())
    #expect(order(.forward, 2) == forward + forward)
  }

  /// With one frame, every leg after the first is empty.
  @Test("an endless loop of one frame is played once")
  func oneFrameLoop() {
    for loop in [Loop.pingPong, .reverseForward] {
      let one = VideoTimeline(starts: [.zero], end: ClockTime(nanoseconds: 400))
      let legs = PlaybackLegs(loop, count: nil, whole, timeline: one)
      #expect(legs.duration == ClockTime(nanoseconds: 400))
      #expect(legs.number(at: ClockTime(nanoseconds: 399)) == 0)
      #expect(legs.number(at: ClockTime(nanoseconds: 400)) == nil)
    }
    #expect(PlaybackLegs(.forward, count: nil, whole, timeline: tenFrames).duration == nil)
  }

  @Test("no leg is played at the maximum possible time")
  func maximumTime() {
    for loop in Loop.allCases {
      let legs = PlaybackLegs(loop, count: nil, whole, timeline: tenFrames)
      #expect(legs.number(at: ClockTime(nanoseconds: .max)) == nil)
      #expect(legs.number(at: ClockTime(nanoseconds: 1 << 60)) != nil)
    }
  }

  @Test("each time belongs to exactly one leg")
  func legsByTime() throws {
    var generator = SeededGenerator(6)
    for _ in 0..<500 {
      var time = Int64.random(in: 0...1_000_000, using: &generator)
      let starts = (0..<Int.random(in: 1...50, using: &generator)).map { _ in
        time += Int64.random(in: 1...100_000, using: &generator)
        return ClockTime(nanoseconds: time)
      }
      let timeline = VideoTimeline(starts: starts, end: ClockTime(nanoseconds: time + 1000))
      let presentation = Presentation(
        TimeSpan(start: starts[0], end: ClockTime(nanoseconds: time + 1000)))
      for loop in Loop.allCases {
        let count = Int.random(in: 1...5, using: &generator)
        let legs = PlaybackLegs(
          loop, count: count, presentation, timeline: timeline, dropsSeam: .random(using: &generator))
        #expect(zip(legs.all, legs.all.dropFirst()).allSatisfy { $0.end == $1.start })
        #expect(legs.all.last?.end ?? .zero == legs.duration)
        for leg in legs.all {
          let inside =
            leg.start + ClockTime(nanoseconds: Int64.random(in: 0..<leg.span.duration.nanoseconds, using: &generator))
          let number = try #require(legs.number(at: inside))
          #expect(legs[number] == leg)
          #expect(PlaybackLegs(loop, count: nil, presentation, timeline: timeline).number(at: inside) == number)
          let rest = try #require(leg.clipped(from: inside, to: leg.end))
          #expect(rest.end == leg.end && rest.start == inside)
        }
        #expect(legs.number(at: try #require(legs.duration)) == nil)
      }
    }
  }

  @Test("the time span of a source range is reversed on a backward leg")
  func reversedSpan() {
    let leg = PlaybackLeg(
      direction: .backward, span: TimeSpan(start: ClockTime(nanoseconds: 100), end: ClockTime(nanoseconds: 200)),
      start: ClockTime(nanoseconds: 1000))
    let placed = leg.place(TimeSpan(start: ClockTime(nanoseconds: 110), end: ClockTime(nanoseconds: 130)))
    #expect(placed == TimeSpan(start: ClockTime(nanoseconds: 1070), end: ClockTime(nanoseconds: 1090)))
  }
}
