import MediaTime
import TestSupport
import Testing

@testable import Retrograde

/// Boundaries of the segments into which ``SegmentedMirror`` divides its output.
@Suite struct SegmentCutTests {
  /// Returns the frame range of each segment of a video with `frames` frames at 25 fps.
  /// - Parameters:
  ///   - groups: length of a GOP, in frames; nil for a video without keyframes.
  ///   - target: usual length of a segment, in units of 1/100 s.
  private func cut(_ frames: Int, groups: Int?, target: Int = 400) -> [Range<Int>] {
    SegmentCuts.segments(of: (0...frames).map { $0 * 4 }, usual: target) { place in
      groups.map { place % $0 == 0 } ?? false
    }
  }

  @Test("each segment starts with a GOP")
  func cutsAtGOPs() {
    // The first two segments have targets of 1 s and 2 s.
    #expect(cut(500, groups: 12) == [0..<24, 24..<72, 72..<168, 168..<264, 264..<360, 360..<456, 456..<500])
  }

  @Test("a GOP that is longer than a segment is split")
  func longGOPs() {
    #expect(cut(300, groups: 250) == [0..<25, 25..<75, 75..<175, 175..<300])
    #expect(cut(425, groups: nil) == [0..<25, 25..<75, 75..<175, 175..<275, 275..<375, 375..<425])
  }

  @Test("a very short remainder at the end is added to the last segment")
  func shortRest() {
    #expect(cut(25, groups: nil) == [0..<25])
    #expect(cut(31, groups: nil) == [0..<31])
    #expect(cut(33, groups: nil) == [0..<25, 25..<33])
    #expect(cut(0, groups: nil) == [])
    #expect(cut(1, groups: nil) == [0..<1])
  }

  @Test("a frame that is shown for longer than a segment is not split")
  func longFrames() {
    let times = [0, 1000, 1004, 1008, 3000]
    #expect(SegmentCuts.segments(of: times, usual: 400) { _ in false } == [0..<1, 1..<3, 3..<4])
  }

  @Test("every frame is in one segment, in order, for any frame times and GOPs", arguments: 1...40)
  func randomSegments(
    _ seed: Int
  ) {
    var generator = SeededGenerator(seed)
    var times = [0]
    for _ in 0..<Int.random(in: 1...300, using: &generator) {
      times.append(times[times.count - 1] + .random(in: 1...90, using: &generator))
    }
    let groups = Set(times.indices.filter { _ in Int.random(in: 0..<20, using: &generator) == 0 })
    let segments = SegmentCuts.segments(of: times, usual: 400) { groups.contains($0) }
    #expect(segments.flatMap { Array($0) } == Array(0..<times.count - 1))
    #expect(segments.allSatisfy { $0.count == 1 || times[$0.upperBound] - times[$0.lowerBound] <= 500 + 90 })
  }

  @Test("frame times at usual rates are whole numbers in the timescale")
  func timescale() {
    #expect(VideoTimescale.units(for: (30, 1)) == 90_000)
    #expect(VideoTimescale.units(for: (24_000, 1001)) == 240_000)
    #expect(VideoTimescale.units(for: nil) == 90_000)
  }

  /// A segment of 1 s: 5 frames of 40 ms, a frame of 600 ms, and 5 frames of 40 ms.
  @Test("the first frame of a fragment is the frame on screen when the fragment starts")
  func pieces() {
    let times = [0, 40, 80, 120, 160, 200, 800, 840, 880, 920, 960, 1000].map { $0 * 90 }
    let cuts = SegmentCuts(times: times, timescale: 90_000, segments: [0..<11])
    #expect(cuts.pieces(of: 0) == [0, 5, 5, 5])
    let even = SegmentCuts(times: (0...100).map { $0 * 3600 }, timescale: 90_000, segments: [0..<50, 50..<100])
    #expect(even.pieces(of: 1) == [50, 56, 62, 68, 75, 81, 87, 93])
    let short = SegmentCuts(times: [0, 9000], timescale: 90_000, segments: [0..<1])
    #expect(short.pieces(of: 0) == [0])
  }

  @Test("audio segments contain whole packets and follow each other without gaps")
  func audioGrid() {
    let grid = PacketGrid(
      samples: 100_000, packet: 1024, priming: 1024, rate: 48_000,
      cuts: [0, 1, 2, 2.05, 3].map { ClockTime.seconds($0) })
    // The first packet is priming, and the last packet has 672 samples.
    #expect(grid.segments == [0..<48, 48..<95, 95..<97, 97..<99])
    #expect(grid.times[0].start == .zero)
    #expect(grid.times.last?.end == ClockTime(sampleIndex: 100_000, rate: 48_000))
    #expect(zip(grid.times, grid.times.dropFirst()).allSatisfy { $0.end == $1.start })
    #expect(grid.samples(for: 0..<48) == 0..<52 * 1024)
    #expect(grid.samples(for: 48..<95) == 32 * 1024..<100_000 - 0)
    #expect(grid.length(ofPacket: 98) == 100_000 - 97 * 1024)
  }

  @Test("audio that ends before the video has fewer segments")
  func shortAudio() {
    let grid = PacketGrid(
      samples: 48_000, packet: 1024, priming: 1024, rate: 48_000, cuts: [0, 1, 2, 3].map { ClockTime.seconds($0) })
    #expect(grid.segments == [0..<48])
    let short = PacketGrid(samples: 10, packet: 1024, priming: 0, rate: 48_000, cuts: [.zero])
    #expect(short.segments == [0..<1])
    #expect(short.length(ofPacket: 0) == 10)
  }
}
