import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Returns a random timeline of 1 to 200 frames of varying length. The timeline may start late.
private func randomTimeline(_ generator: inout SeededGenerator) -> (VideoTimeline, Presentation) {
  var time = Int64.random(in: 0...3_000_000_000, using: &generator)
  let starts = (0..<Int.random(in: 1...200, using: &generator)).map { _ in
    time += Int64.random(in: 1...200_000_000, using: &generator)
    return ClockTime(nanoseconds: time)
  }
  let end = ClockTime(nanoseconds: time + Int64.random(in: 1...200_000_000, using: &generator))
  let latest = end + ClockTime(nanoseconds: Int64.random(in: 0...1_000_000_000, using: &generator))
  return (VideoTimeline(starts: starts, end: end), Presentation(TimeSpan(start: .zero, end: latest)))
}

@Suite struct MirrorTests {
  @Test("mirroring twice is the identity")
  func mirroredTwice() {
    var generator = SeededGenerator(1)
    for _ in 0..<3000 {
      let (timeline, presentation) = randomTimeline(&generator)
      let once = timeline.mirrored(in: presentation)
      let back = VideoTimeline(starts: once.map(\.start), end: once.last?.end ?? .zero)
        .mirrored(in: Presentation(TimeSpan(start: .zero, end: presentation.duration)))
      #expect(back == timeline.starts.indices.map { timeline.span(of: $0) })
    }
  }

  @Test("mirrored frames have no gaps or overlaps")
  func noGaps() {
    var generator = SeededGenerator(2)
    for _ in 0..<3000 {
      let (timeline, presentation) = randomTimeline(&generator)
      let mirrored = timeline.mirrored(in: presentation)
      #expect(zip(mirrored, mirrored.dropFirst()).allSatisfy { $0.end == $1.start })
      #expect(mirrored.last?.end == timeline.starts.first.map { presentation.span.end - $0 })
    }
  }

  @Test("with the timing `source`, frame starts stay the same, though the order of frames is reversed")
  func sourceTiming() {
    let starts = [0, 10, 40, 100].map { ClockTime(nanoseconds: $0) }
    let timeline = VideoTimeline(starts: starts, end: ClockTime(nanoseconds: 120))
    let presentation = Presentation(TimeSpan(start: .zero, end: ClockTime(nanoseconds: 120)))
    #expect(timeline.mirrored(in: presentation, timing: .source).map(\.start) == starts)
    #expect(timeline.mirrored(in: presentation).map(\.start.nanoseconds) == [0, 20, 80, 110])
  }

  @Test("the last frame is shown until the end of the presentation")
  func lastFrame() {
    let timeline = VideoTimeline(
      starts: [0, 40].map { ClockTime(nanoseconds: $0) }, end: ClockTime(nanoseconds: 80))
    let presentation = Presentation(TimeSpan(start: .zero, end: ClockTime(nanoseconds: 200)))
    var clock = OutputTimestamper(
      PlaybackLeg(direction: .backward, span: presentation.span, start: .zero), timeline: timeline, timing: .mirror)
    #expect(clock.next(timeline.span(of: 1)).start == .zero)
    #expect(clock.next(timeline.span(of: 0)).start == ClockTime(nanoseconds: 160))
  }

  @Test("clipping keeps the frames that are shown during the range")
  func clipping() {
    var generator = SeededGenerator(3)
    for _ in 0..<2000 {
      let (timeline, presentation) = randomTimeline(&generator)
      let cuts = (0..<2).map { _ in Int64.random(in: 0...presentation.duration.nanoseconds, using: &generator) }
        .sorted()
      let range = TimeSpan(start: ClockTime(nanoseconds: cuts[0]), end: ClockTime(nanoseconds: cuts[1] + 1))
      let (frames, clipped) = timeline.clipped(to: range)
      let expected = timeline.starts.indices.filter {
        timeline.span(of: $0).end > range.start && timeline.span(of: $0).start < range.end
      }
      #expect(Array(frames) == expected)
      #expect(clipped.count == expected.count)
      #expect(clipped.starts.allSatisfy { $0 >= range.start && $0 < range.end })
    }
  }

  @Test("sample frames are reversed without reversing their bytes", arguments: [1, 2, 3, 4, 6, 8, 12, 16, 24, 32])
  func sampleFrames(bytesPerFrame: Int) {
    for count in [0, 1, 2, 3, 7, 100] {
      let frames = (0..<count).map { frame in (0..<bytesPerFrame).map { UInt8(truncatingIfNeeded: frame * 31 + $0) } }
      var bytes = frames.flatMap { $0 }
      bytes.withUnsafeMutableBytes { SampleFrames.reverse($0, bytesPerFrame: bytesPerFrame) }
      #expect(bytes == frames.reversed().flatMap { $0 })
    }
  }
}
