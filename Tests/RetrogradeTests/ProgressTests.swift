import Foundation
import MediaTime
import Synchronization
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// What a run tells of how far it is: one scale for all of it, which never goes back and does not end before the run does.
@Suite struct ProgressTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Everything that was told, in order.
  private final class Told: Sendable {
    private let all = Mutex<[ReversalProgress]>([])
    var values: [ReversalProgress] { all.withLock { $0 } }
    var work: Work { Work(Cancellation()) { value in self.all.withLock { $0.append(value) } } }

    /// The stages, each as often as it began.
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

    /// Of the frames that are given to the encoder: how many there are is known from the first on.
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

  /// Scores in which frames are left out, held, shown twice, and made.
  @Test(arguments: [
    ("0..end, end..0", nil, false), ("0..end x0.5, hold 0.5, end..0 x2", 10, false), ("0..end x0.3", nil, true),
    ("1..end x0.25, end..0 ramp 1..3", 24, true), ("0..1, 1..0.4, 0.4..end", 7, false),
  ])
  func theFramesOfAScoreAreKnownBefore(score: String, rate: Int?, interpolates: Bool) throws {
    var options = ReverseOptions()
    options.playback.score = try Score(parsing: score)
    options.playback.frameRate = rate.flatMap { FrameRate($0, 1) }
    options.playback.interpolation = interpolates ? .blend : nil
    options.playback.noAudio = true
    let told = Told()
    let summary = try Reverser(try media.write(to: folder), options: options).run(
      to: folder.path("out.mkv"), told.work)
    told.check(frames: summary.frames)
    told.check()
  }

  @Test func theTitleIsPartOfTheWork() throws {
    let told = Told()
    let title = Title(duration: .seconds(0.95)) { _, _ in }
    let summary = try Reverser(try media.write(to: folder), title: title).run(to: folder.path("out.mkv"), told.work)
    told.check(frames: summary.frames)
    told.check()
    #expect(summary.frames == 60 + 29)
    #expect(told.values.last?.duration == .seconds(2.95))
  }

  @Test func aGIFIsNotDoneBeforeItHasItsPalette() throws {
    let told = Told()
    let summary = try Reverser(try media.write(to: folder)).run(to: folder.path("out.gif"), told.work)
    told.check(frames: summary.frames)
    told.check(atLeast: 0.8)
    #expect(told.stages.suffix(2) == [.reversing, .finishing])
    #expect((told.values.last { $0.stage == .reversing }?.fraction ?? 1) < 0.3)
    #expect(Set(told.values.filter { $0.stage == .finishing }.map(\.done)).count > 4)
  }

  @Test func comparingIsPartOfTheWork() throws {
    var options = ReverseOptions()
    options.output.isVerified = true
    let told = Told()
    _ = try Reverser(try media.write(to: folder), options: options).run(to: folder.path("out.mkv"), told.work)
    told.check(atLeast: 0.95)
    #expect(told.stages.suffix(3) == [.reversing, .finishing, .verifying])
    #expect((told.values.last { $0.stage == .finishing }?.fraction ?? 1) < 0.8)
  }

  @Test func audioAloneIsCountedInSamples() throws {
    let told = Told()
    let source = try TestMedia.audioOnly("source.flac", "flacenc", muxer: "identity", sampleCount: 480_000)
      .write(to: folder)
    _ = try Reverser(source).run(to: folder.path("out.wav"), told.work)
    told.check(frames: 480_000)
    told.check(atLeast: 0.9)
  }

  @Test func packetsThatAreTurnedRoundAreCounted() throws {
    var media = media
    media.video = "avenc_mjpeg"
    let told = Told()
    let summary = try Reverser(try media.write(to: folder)).run(to: folder.path("out.mkv"), told.work)
    told.check(frames: summary.frames)
    told.check(atLeast: 0.9)
  }

  @Test func chunksAreOneRun() throws {
    var media = media
    media.sampleCount = 0
    let (told, source) = (Told(), try media.write(to: folder))
    let chunked = ChunkedReversal(folder.path("work"), told.work)
    _ = try chunked.run(Reverser(source), to: folder.path("out.mkv"), .about(.seconds(0.6)), jobs: 2)
    told.check(atLeast: 0.9)
    let reversing = told.values.filter { $0.stage == .reversing }
    #expect(Set(reversing.map(\.total)) == [60] && reversing.last?.done == 60)
    #expect(told.stages.filter { $0 == .reversing }.count == 1)
  }

  @Test func aRunOverSomeChunksCountsThoseAlone() throws {
    var media = media
    media.sampleCount = 0
    let (told, source) = (Told(), try media.write(to: folder))
    let chunked = ChunkedReversal(folder.path("work"), told.work)
    let plan = try chunked.plan(Reverser(source), to: folder.path("out.mkv"), .count(3))
    _ = try chunked.make(plan, Resources(), jobs: 1, only: 0..<1)
    let some = told.values.filter { $0.stage == .reversing }
    #expect(some.last?.done == plan.chunks[0].frames && some.last?.stageFraction == 1)
    // What was done before counts where all is made; the time left is told by what is done now.
    let rest = Told()
    _ = try ChunkedReversal(folder.path("work"), rest.work).run(
      Reverser(source), to: folder.path("out.mkv"), .count(3), jobs: 1)
    rest.check(atLeast: 0.9)
    #expect((rest.values.first { $0.stage == .reversing }?.done ?? 0) > plan.chunks[0].frames)
  }

  // MARK: the scale

  private func tell(_ scale: ProgressScale, _ step: Step, _ share: Double) -> Double {
    var told = 0.0
    scale.tell(step, share: share) { fraction, _ in told = fraction }
    return told
  }

  @Test func stepsShareTheScaleByTheirWeights() {
    let scale = ProgressScale()
    scale.expect([ExpectedStep(.indexing, 1), ExpectedStep(.reversing, 3)])
    #expect(tell(scale, .indexing, 0.5) == 0.125)
    #expect(tell(scale, .indexing, 0.4) == 0.125, "it does not go back")
    // A step that begins ends the one before.
    #expect(tell(scale, .reversing, 0) == 0.25)
    #expect(tell(scale, .indexing, 1) == 0.25, "what is over moves nothing")
    // What is left is the others'.
    scale.expect([ExpectedStep(.reversing, 1), ExpectedStep(.finishing, 2)])
    #expect(tell(scale, .reversing, 1) == 0.5)
    #expect(tell(scale, .joining, 0.9) == 0.5, "nobody expected it")
    #expect(tell(scale, .finishing, .nan) == 0.5)
    #expect(tell(scale, .finishing, 7) == 0.999, "the run ends, not its last step")
  }

  @Test func theOnlyStepNeedNotBeExpected() {
    let scale = ProgressScale()
    #expect(tell(scale, .indexing, 0.5) == 0.5)
  }
}
