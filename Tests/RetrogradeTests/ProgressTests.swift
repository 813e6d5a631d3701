import Foundation
import MediaTime
import Synchronization
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Progress of a run. It has one scale, never goes back, and reaches its end only when the run
/// ends.
@Suite struct ProgressTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// All reported values, in order.
  private final class ProgressLog: Sendable {
    private let all = Mutex<[ReversalProgress]>([])
    var values: [ReversalProgress] { all.withLock { $0 } }
    var work: Work { Work(Cancellation()) { value in self.all.withLock { $0.append(value) } } }

    /// The stages in order, with one entry for each start of a stage.
    var stages: [ReversalProgress.Stage] {
      values.map(\.stage).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    func check(atLeast last: Double = 0.5) {
      let fractions = values.map(\.fraction)
      #expect(zip(fractions, fractions.dropFirst()).allSatisfy { $0 <= $1 }, "\(fractions)")
      #expect(fractions.allSatisfy { (0..<1).contains($0) })
      #expect((fractions.last ?? 0) >= last, "\(fractions.last ?? 0)")
      #expect(values.allSatisfy { $0.remaining.map { $0 >= .zero } ?? true })
      #expect(values.allSatisfy { (0...1).contains($0.stageFraction) })
    }

    /// Checks that the total number of frames is known from the start, and is reached at the end.
    func check(frames: Int) {
      let reversing = values.filter { $0.stage == .reversing }
      #expect(Set(reversing.map(\.total)) == [frames])
      #expect(reversing.last?.done == frames)
      #expect(reversing.last?.stageFraction == 1)
    }
  }

  private var media: TestMedia {
    var media = TestMedia.matroska
    media.frameRate = "30/1"
    media.sampleCount = 96_000
    return media
  }

  /// Scores that drop, repeat and blend frames, or hold a frame.
  @Test(
    "the number of frames in a score is known from the start",
    arguments: [
      ("0..end, end..0", nil, false), ("0..end x0.5, hold 0.5, end..0 x2", 10, false), ("0..end x0.3", nil, true),
      ("1..end x0.25, end..0 ramp 1..3", 24, true), ("0..1, 1..0.4, 0.4..end", 7, false),
    ])
  func scoreFrames(score: String, rate: Int?, interpolates: Bool) throws {
    var options = ReverseOptions()
    options.playback.score = try Score(parsing: score)
    options.playback.frameRate = rate.flatMap { FrameRate($0, 1) }
    options.playback.interpolation = interpolates ? .blend : nil
    options.playback.noAudio = true
    let log = ProgressLog()
    let summary = try Reverser(try media.write(to: folder), options: options).run(
      to: folder.path("out.mkv"), log.work)
    log.check(frames: summary.frames)
    log.check()
  }

  @Test("progress includes the title")
  func titleProgress() throws {
    let log = ProgressLog()
    let title = Title(duration: .seconds(0.95)) { _, _ in }
    let summary = try Reverser(try media.write(to: folder), title: title).run(to: folder.path("out.mkv"), log.work)
    log.check(frames: summary.frames)
    log.check()
    #expect(summary.frames == 60 + 29)
    #expect(log.values.last?.duration == .seconds(2.95))
  }

  @Test("progress of a GIF includes its palette")
  func gifPalette() throws {
    let log = ProgressLog()
    let summary = try Reverser(try media.write(to: folder)).run(to: folder.path("out.gif"), log.work)
    log.check(frames: summary.frames)
    log.check(atLeast: 0.8)
    #expect(log.stages.suffix(2) == [.reversing, .finishing])
    #expect((log.values.last { $0.stage == .reversing }?.fraction ?? 1) < 0.3)
    #expect(Set(log.values.filter { $0.stage == .finishing }.map(\.done)).count > 4)
  }

  @Test("progress includes verification")
  func verification() throws {
    var options = ReverseOptions()
    options.output.isVerified = true
    let log = ProgressLog()
    _ = try Reverser(try media.write(to: folder), options: options).run(to: folder.path("out.mkv"), log.work)
    log.check(atLeast: 0.95)
    #expect(log.stages.suffix(3) == [.reversing, .finishing, .verifying])
    #expect((log.values.last { $0.stage == .finishing }?.fraction ?? 1) < 0.8)
  }

  @Test("progress of audio without video counts samples")
  func audioOnly() throws {
    let log = ProgressLog()
    let source = try TestMedia.audioOnly("source.flac", "flacenc", muxer: "identity", sampleCount: 480_000)
      .write(to: folder)
    _ = try Reverser(source).run(to: folder.path("out.wav"), log.work)
    log.check(frames: 480_000)
    log.check(atLeast: 0.9)
  }

  @Test("progress counts copied packets")
  func copiedPackets() throws {
    var media = media
    media.video = "avenc_mjpeg"
    let log = ProgressLog()
    let summary = try Reverser(try media.write(to: folder)).run(to: folder.path("out.mkv"), log.work)
    log.check(frames: summary.frames)
    log.check(atLeast: 0.9)
  }

  @Test("chunks are reported as one run")
  func chunks() throws {
    var media = media
    media.sampleCount = 0
    let (log, source) = (ProgressLog(), try media.write(to: folder))
    let chunked = ChunkedReversal(folder.path("work"), log.work)
    _ = try chunked.run(Reverser(source), to: folder.path("out.mkv"), .about(.seconds(0.6)), jobs: 2)
    log.check(atLeast: 0.9)
    let reversing = log.values.filter { $0.stage == .reversing }
    #expect(Set(reversing.map(\.total)) == [60] && reversing.last?.done == 60)
    #expect(log.stages.filter { $0 == .reversing }.count == 1)
  }

  @Test("a run over some of the chunks counts only these chunks")
  func someChunks() throws {
    var media = media
    media.sampleCount = 0
    let (log, source) = (ProgressLog(), try media.write(to: folder))
    let chunked = ChunkedReversal(folder.path("work"), log.work)
    let plan = try chunked.plan(Reverser(source), to: folder.path("out.mkv"), .count(3))
    _ = try chunked.make(plan, Resources(), jobs: 1, only: 0..<1)
    let some = log.values.filter { $0.stage == .reversing }
    #expect(some.last?.done == plan.chunks[0].frames && some.last?.stageFraction == 1)
    // A run over all chunks also counts chunks that an earlier run has finished.
    let rest = ProgressLog()
    _ = try ChunkedReversal(folder.path("work"), rest.work).run(
      Reverser(source), to: folder.path("out.mkv"), .count(3), jobs: 1)
    rest.check(atLeast: 0.9)
    #expect((rest.values.first { $0.stage == .reversing }?.done ?? 0) > plan.chunks[0].frames)
  }

  // MARK: the progress scale

  private func tell(_ scale: ProgressScale, _ step: Step, _ share: Double) -> Double {
    var value = 0.0
    scale.report(step, share: share) { fraction, _ in value = fraction }
    return value
  }

  @Test("steps share the scale by their weights")
  func weights() {
    let scale = ProgressScale()
    scale.expect([ExpectedStep(.indexing, 1), ExpectedStep(.reversing, 3)])
    #expect(tell(scale, .indexing, 0.5) == 0.125)
    #expect(tell(scale, .indexing, 0.4) == 0.125, "it does not go back")
    // The start of a step ends the step before it.
    #expect(tell(scale, .reversing, 0) == 0.25)
    #expect(tell(scale, .indexing, 1) == 0.25, "a finished step moves nothing")
    // The newly expected steps share the rest of the scale.
    scale.expect([ExpectedStep(.reversing, 1), ExpectedStep(.finishing, 2)])
    #expect(tell(scale, .reversing, 1) == 0.5)
    #expect(tell(scale, .joining, 0.9) == 0.5, "the step is not expected")
    #expect(tell(scale, .finishing, .nan) == 0.5)
    #expect(tell(scale, .finishing, 7) == 0.999, "the run ends, not its last step")
  }

  @Test("a step that was not announced uses the whole scale")
  func singleStep() {
    let scale = ProgressScale()
    #expect(tell(scale, .indexing, 0.5) == 0.5)
  }
}
