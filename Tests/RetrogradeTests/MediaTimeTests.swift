import MediaTime
import TestSupport
import Testing

@testable import RetrogradeEngine

@Suite struct MediaTimeTests {
  private static let extremes: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]

  @Test(
    "times are printed in seconds with three decimals",
    arguments: [
      (0, "0.000 s"), (2_021_400_000, "2.021 s"), (79_600_000, "0.080 s"), (3_599_999_600_000, "3600.000 s"),
      (-40_600_000, "-0.041 s"), (-100_000, "0.000 s"), (.max, "9223372036.855 s"),
    ] as [(Int64, String)])
  func threeDecimals(nanoseconds: Int64, text: String) {
    #expect(ClockTime(nanoseconds: nanoseconds).inSeconds == text)
  }

  @Test("arithmetic on times saturates and never traps")
  func saturation() {
    for a in MediaTimeTests.extremes {
      for b in MediaTimeTests.extremes {
        let (x, y) = (ClockTime(nanoseconds: a), ClockTime(nanoseconds: b))
        #expect((x + y).nanoseconds == Int64(clamping: Int128(a) + Int128(b)))
        #expect((x - y).nanoseconds == Int64(clamping: Int128(a) - Int128(b)))
        #expect((x * Int(b)).nanoseconds == Int64(clamping: Int128(a) * Int128(b)))
      }
      #expect(!ClockTime(nanoseconds: a).description.isEmpty)
      for rate in [Int.min, 0, 1, 48_000, Int(Int32.max), .max] {
        _ = ClockTime(sampleIndex: Int(a), rate: rate)
        _ = ClockTime(nanoseconds: a).sampleIndex(rate: rate)
      }
    }
    for seconds in [Double.nan, .infinity, -.infinity, 1e300, -1e300] { _ = ClockTime(seconds: seconds) }
  }

  @Test("sample indices and times are rounded to the nearest value")
  func rounding() {
    var generator = SeededGenerator(11)
    for _ in 0..<5000 {
      let rate = Int.random(in: 1...400_000, using: &generator)
      let index = Int.random(in: 0...1 << 32, using: &generator)
      let time = ClockTime(sampleIndex: index, rate: rate)
      let exact = (Int128(index) * 1_000_000_000 + Int128(rate / 2)) / Int128(rate)
      #expect(Int128(time.nanoseconds) == exact)
      #expect(time.sampleIndex(rate: rate) == index)
    }
  }

  /// Returns the index and the new start time of each frame that thinning to `rate` keeps: the
  /// source frame at the first quarter of each output frame. This slow reference implementation
  /// steps through the output frames one by one.
  private func thinnedByCounting(_ timeline: VideoTimeline, _ rate: FrameRate, from start: ClockTime) -> [Int:
    ClockTime]
  {
    let quarter = ClockTime(nanoseconds: rate.start(of: 1).nanoseconds / 4)
    var kept: [Int: ClockTime] = [:]
    var slot = 0
    for index in timeline.starts.indices {
      let span = timeline.span(of: index)
      while start + rate.start(of: slot) + quarter < span.end {
        if start + rate.start(of: slot) + quarter >= span.start {
          kept[index] = kept[index] ?? start + rate.start(of: slot)
        }
        slot += 1
      }
    }
    return kept
  }

  @Test("thinning keeps the same frames as a slow reference implementation")
  func thinning() throws {
    var generator = SeededGenerator(13)
    for _ in 0..<300 {
      var time: Int64 = Int64.random(in: 0...1_000_000_000, using: &generator)
      let starts = (0..<Int.random(in: 1...60, using: &generator)).map { _ in
        time += Int64.random(in: 0...90_000_000, using: &generator)
        return ClockTime(nanoseconds: time)
      }
      let timeline = VideoTimeline(starts: starts, end: ClockTime(nanoseconds: time + 40_000_000))
      let rate = try #require(FrameRate(Int.random(in: 1...60, using: &generator), 1))
      let from = max(starts[0], ClockTime(nanoseconds: Int64.random(in: 0...2_000_000_000, using: &generator)))
      let thinned = timeline.thinned(to: rate, from: from)
      #expect(
        Dictionary(uniqueKeysWithValues: zip(thinned.frames, thinned.timeline.starts))
          == thinnedByCounting(timeline, rate, from: from))
    }
  }
}
