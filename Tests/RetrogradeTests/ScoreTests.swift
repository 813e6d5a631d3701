import Foundation
import GStreamer
import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Playback of scores (lists of ranges to play), compared with plain arrays of frames and samples.
@Suite struct ScoreTests {
  private static let frames = 50
  private static let samplesPerFrame = 1920

  private static var media: TestMedia {
    var media = TestMedia.matroska(frames: frames)
    media.sampleCount = frames * samplesPerFrame
    return media
  }

  /// A score, and its expected playback from a source of two seconds: frames, their times in
  /// seconds, and ranges of audio samples. A nil range stands for `silence` sample frames of
  /// silence.
  struct Reading: Sendable, CustomTestStringConvertible {
    var score: String
    var frames: [Int]
    var times: [Double]
    var audio: [(from: Int, to: Int)?]
    var silence: Int
    var testDescription: String { score }

    /// - Parameters:
    ///   - played: first and last frame of each range, forwards or backwards.
    ///   - held: number of frames before a hold, and the duration of the hold in seconds.
    init(
      _ score: String, _ played: [(first: Int, last: Int)], held: (Int, Double) = (0, 0),
      audio: [(from: Int, to: Int)?], silence: Int = 0
    ) {
      (self.score, self.audio, self.silence) = (score, audio, silence)
      var frames: [Int] = []
      for (first, last) in played { frames += stride(from: first, through: last, by: first < last ? 1 : -1) }
      self.frames = frames
      times = frames.indices.map { Double($0) / 25 + ($0 < held.0 ? 0 : held.1) }
    }
  }

  static let readings: [Reading] = [
    Reading("0..end, end..0", [(0, 49), (48, 0)], audio: [(0, 96_000), (94_080, 0)]),
    // At the second turn, frame 10 and its audio are not repeated.
    Reading(
      "0..1, 1..0.4, 0.4..end", [(0, 24), (23, 10), (11, 49)],
      audio: [(0, 48_000), (46_080, 19_200), (21_120, 96_000)]),
    // The second range does not start at the end of the first one, so no frame is left out.
    Reading("10f..20f; end-0.4..end", [(10, 19), (40, 49)], audio: [(19_200, 38_400), (76_800, 96_000)]),
    Reading("0..1, 1..end", [(0, 49)], audio: [(0, 96_000)]),
    Reading("hold 0.5, end..1.6", [(49, 40)], held: (1, 0.5), audio: [nil, (96_000, 76_800)], silence: 24_000),
    Reading(
      "0..0.4, hold 0.8, 0.4..0", [(0, 9), (8, 0)], held: (10, 0.8), audio: [(0, 19_200), nil, (17_280, 0)],
      silence: 38_400),
    Reading("0.4..0 forward, 1..1.4 mute", [(9, 0), (25, 34)], audio: [(0, 19_200), nil], silence: 19_200),
  ]

  @Test("a score plays the expected frames and samples", arguments: readings)
  func framesAndSamples(_ reading: Reading) async throws {
    let folder = try TemporaryFolder()
    let source = try Self.media.write(to: folder)
    var options = ReverseOptions()
    (options.encoding.quality, options.playback.joint) = (.lossless, .zero)
    options.playback.score = try Score(parsing: reading.score)
    _ = try await Reverser(source, options: options).reverse(to: folder.path("o.mkv"))
    let output = try DecodedMedia(folder.path("o.mkv"), like: Self.media)
    #expect(output.numbers == reading.frames)
    #expect(output.times == reading.times.map { ClockTime(seconds: $0) })
    let samples = try Self.samples(DecodedMedia(source, like: Self.media).audio)
    let expected = reading.audio.flatMap { audio -> [SIMD2<Double>] in
      guard let audio else { return Array(repeating: SIMD2(0, 0), count: reading.silence) }
      return audio.from < audio.to ? Array(samples[audio.from..<audio.to]) : samples[audio.to..<audio.from].reversed()
    }
    #expect(Self.samples(output.audio) == expected)
  }

  private static func samples(_ bytes: [UInt8]) -> [SIMD2<Double>] {
    bytes.withUnsafeBytes { Array($0.bindMemory(to: SIMD2<Double>.self)) }
  }

  @Test("a soundtrack plays once and forwards with any score")
  func soundtrack() async throws {
    let folder = try TemporaryFolder()
    let source = try Self.media.write(to: folder)
    var options = ReverseOptions()
    (options.encoding.quality, options.soundtrack) = (.lossless, source)
    options.playback.score = try Score(parsing: "1..0, 0..0.4 x0.5")
    let summary = try await Reverser(source, options: options).reverse(to: folder.path("o.mkv"))
    #expect(summary.warnings.isEmpty)
    let samples = try Self.samples(DecodedMedia(source, like: Self.media).audio)
    let output = try DecodedMedia(folder.path("o.mkv"), like: Self.media)
    // The frame at the turn is not repeated, so the second range plays 0.36 s at half speed.
    #expect(Self.samples(output.audio) == Array(samples[..<82_560]))
    options.playback.count = 2
    let longer = try await Reverser(source, options: options).reverse(to: folder.path("p.mkv"))
    #expect(
      longer.warnings.map(\.message.description) == [
        "the soundtrack ends 0:00:01.440 before the end of the output; the rest is silent"
      ])
  }

  /// In a ramp, the speed changes linearly with time. Position x is then reached at the time
  /// 2x / (first + v): first is the initial speed, and v is the speed at x.
  @Test("the speed of a range determines how long its frames are shown")
  func frameDurations() async throws {
    let folder = try TemporaryFolder()
    let source = try Self.media.write(to: folder)
    func times(_ score: String) async throws -> (numbers: [Int], times: [Double], samples: Int) {
      var options = ReverseOptions()
      options.playback.score = try Score(parsing: score)
      let summary = try await Reverser(source, options: options).reverse(to: folder.path("\(score.hashValue).mkv"))
      let output = try DecodedMedia(folder.path("\(score.hashValue).mkv"), like: Self.media)
      return (output.numbers, output.times.map(\.seconds), summary.samples.first ?? 0)
    }
    let slow = try await times("0..1 x0.5, 1..0 x2")
    #expect(slow.numbers == Array(0..<25) + (0..<24).reversed())
    let expected = slow.times.indices.map { $0 < 25 ? $0 * 80 : 2000 + ($0 - 25) * 20 }
    #expect(slow.times == expected.map { Double($0) / 1000 })
    #expect(slow.samples == Int(2.48 * 48_000))
    let ramp = try await times("0..end ramp 2..0.5")
    #expect(ramp.numbers == Array(0..<50))
    for (frame, time) in ramp.times.enumerated() {
      let place = Double(frame) / 25
      let speed = (4 + (0.25 - 4) * place / 2).squareRoot()
      // Matroska timestamps are in milliseconds.
      #expect(abs(time - 2 * place / (2 + speed)) <= 0.0005)
    }
    #expect(ramp.samples == Int(1.6 * 48_000))
    let thinned = try await { () async throws -> DecodedMedia in
      var options = ReverseOptions()
      (options.playback.score, options.playback.frameRate) = (try Score(parsing: "0..end x4"), FrameRate(25, 1))
      _ = try await Reverser(source, options: options).reverse(to: folder.path("thin.mkv"))
      return try DecodedMedia(folder.path("thin.mkv"), like: Self.media)
    }()
    #expect(thinned.times == (0..<13).map { ClockTime(nanoseconds: $0 * 40_000_000) })
    #expect(zip(thinned.numbers, thinned.numbers.dropFirst()).allSatisfy { $1 - $0 == 4 || $1 - $0 == 3 })
  }

  /// A tone of 440 Hz has the same number of periods at any speed, so the periods per second show
  /// the speed.
  @Test("the audio plays at the speed of the score")
  func audioSpeed() async throws {
    let folder = try TemporaryFolder()
    let pipeline = try Pipeline(
      "audiotestsrc freq=440 samplesperbuffer=480 num-buffers=200 ! audio/x-raw,format=S16LE,rate=48000,channels=1 ! "
        + "wavenc ! filesink location=\(folder.path("in.wav"))")
    pipeline.set(.playing)
    var hasEnded = false
    while !hasEnded {
      if case .endOfStream = try #require(pipeline.nextMessage(timeout: ClockTime(seconds: 20))) { hasEnded = true }
    }
    pipeline.set(.null)
    func waves(_ score: String, keepsPitch: Bool = false) async throws -> (count: Int, signs: [Bool]) {
      var options = ReverseOptions()
      (options.output.overwrites, options.playback.keepsPitch) = (true, keepsPitch)
      options.playback.score = try Score(parsing: score)
      _ = try await Reverser(folder.path("in.wav"), options: options).reverse(to: folder.path("\(score.count).wav"))
      let output = try DecodedMedia(
        folder.path("\(score.count).wav"), like: .audioOnly("", muxer: "wavenc", sampleCount: 1))
      let signs = output.audio.withUnsafeBytes { $0.bindMemory(to: Double.self).map { $0 > 0 } }
      return (zip(signs, signs.dropFirst()).count { !$0 && $1 }, signs)
    }
    for (score, seconds) in [("end..0 x2", 1.0), ("0..end x0.75", 2 / 0.75), ("end..0 ramp 0.5..1.5", 2.0)] {
      let (count, signs) = try await waves(score)
      #expect(abs(count - 880) <= 2, "\(score)")
      #expect(signs.count == Int((seconds * 48_000).rounded()), "\(score)")
    }
    let (count, signs) = try await waves("end..0 x2", keepsPitch: true)
    // SoundTouch may add or lose a period where it joins its windows of audio.
    #expect(abs(count - 440) <= 5)
    #expect(signs.count == 48_000)
    let error = await #expect(throws: RetrogradeError.self) {
      _ = try await waves("0..end ramp 1..2", keepsPitch: true)
    }
    #expect(error?.code == .usage)
  }

  @Test("joints that would click are crossfaded")
  func crossfade() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.audioOnly("s.wav", muxer: "wavenc", sampleCount: 96_000)
    media.channels = 2
    let source = try media.write(to: folder)
    func samples(_ score: String, joint: ClockTime?) async throws -> [SIMD2<Double>] {
      var options = ReverseOptions()
      (options.playback.score, options.playback.joint) = (try Score(parsing: score), joint)
      let path = folder.path("\(UUID().uuidString).wav")
      _ = try await Reverser(source, options: options).reverse(to: path)
      return try Self.samples(DecodedMedia(path, like: media).audio)
    }
    let cut = try await samples("0..1, 0.5..0.2", joint: .zero)
    let joined = try await samples("0..1, 0.5..0.2", joint: nil)
    #expect(joined.count == cut.count)
    let differing = cut.indices.filter { cut[$0] != joined[$0] }
    #expect(differing.first.map { $0 >= 48_000 } ?? false)
    #expect(differing.last.map { $0 < 48_240 } ?? false, "5 ms")
    // There is no crossfade at joints where the wave continues or reverses.
    let whole = try await samples("0..end", joint: nil)
    #expect(try await samples("0..1, 1..end", joint: nil) == whole)
    #expect(try await samples("0..1, 1..0", joint: nil) == Array(whole[..<48_000] + whole[..<48_000].reversed()))
  }

  /// A leg is a part of the source that is played in one direction. If playback starts in the
  /// middle of a leg, each frame has the same time as in the complete leg.
  @Test("a clipped leg keeps the times of the complete leg")
  func clippedLeg() throws {
    var generator = SeededGenerator(14)
    func random(_ range: ClosedRange<Int64>) -> ClockTime {
      ClockTime(nanoseconds: Int64.random(in: range, using: &generator))
    }
    for _ in 0..<500 {
      let start = random(0...5_000_000_000)
      var leg = PlaybackLeg(
        direction: Bool.random(using: &generator) ? .forward : .backward,
        span: TimeSpan(start: start, end: start + random(1_000_000...5_000_000_000)), start: random(0...1_000_000_000))
      leg.speed = Speed(
        from: Double.random(in: 0.1...4, using: &generator), to: Double.random(in: 0.1...4, using: &generator))
      (leg.heldBefore, leg.heldAfter) = (random(0...500_000_000), random(0...500_000_000))
      let cut = leg.start + ClockTime(nanoseconds: Int64.random(in: 0..<leg.duration.nanoseconds, using: &generator))
      func check(_ part: PlaybackLeg?, from start: ClockTime, to end: ClockTime) throws {
        let part = try #require(part)
        // Tolerance: rounding, and 1 ns of the source, which lasts 10 ns at a tenth of the speed.
        #expect(abs((part.start - start).nanoseconds) <= 12 && abs((part.end - end).nanoseconds) <= 12)
        let isHeld = part.span.duration.nanoseconds == 1
        #expect(isHeld || abs((part.place(part.span).start - leg.place(part.span).start).nanoseconds) <= 2)
      }
      try check(leg.clipped(from: cut, to: leg.end), from: cut, to: leg.end)
      if cut > leg.start { try check(leg.clipped(from: leg.start, to: cut), from: leg.start, to: cut) }
    }
  }

  @Test("a score is parsed and printed again unchanged")
  func parsing() throws {
    let text = """
      0..4 x0.5   # slow there
      hold 0.8; 250f..0 ramp 1..0.25 mute
      "Verse, #2"..end-2.5 forward
      """
    let score = try Score(parsing: text)
    #expect(
      score.steps == [
        .stretch(from: 0, to: 4, speed: Speed(0.5)), .hold(.seconds(0.8)),
        .stretch(from: .frame(250), to: 0, speed: Speed(from: 1, to: 0.25), audio: .mute),
        .stretch(from: .chapter("Verse, #2"), to: .beforeEnd(.seconds(2.5)), audio: .forward),
      ])
    #expect(try Score(parsing: "\(score)") == score)
    for loop in Loop.allCases { #expect(try Score(parsing: "\(loop.score)") == loop.score) }
  }

  @Test(
    "an invalid score is refused with the reason",
    arguments: [
      ("", "the score is empty"), ("hold 1", "no frame to hold"), ("0-3", "0-3 is not a valid position"),
      ("0..", "a position is missing"),
      ("0..3, 4", "step 2 (4): expected two positions"), ("0..1 x0", "a speed must be from 0.01 to 100"),
      ("0..1 x2 x3", "x3 is not allowed after the speed"),
      ("0..1 ramp 1", "a ramp needs two speeds"), ("0..1 fast", "fast is unknown"),
      ("hold", "hold needs a time"),
      ("0..1, hold 1e9", "at most one day"),
    ])
  func invalidScore(_ text: String, _ reason: String) {
    let error = #expect(throws: RetrogradeError.self) { try Score(parsing: text) }
    #expect(error?.code == .usage)
    #expect(error.map { "\($0)" }?.contains(reason) ?? false, "\(error.map { "\($0)" } ?? "")")
  }

  @Test(
    "a position outside the source is reported",
    arguments: [
      ("0..9", "position 0:00:09.000 is outside the source, which is 0:00:02.000 long"),
      ("end-3..1", "position -0:00:01.000 is outside the source"),
      ("0f..51f", "there is no frame 51, because the source has 50 frames"), ("1..1", "this part is empty"),
      ("\"Chorus\"..end", "no chapter of that name"),
    ])
  func outsideSource(_ text: String, _ reason: String) async throws {
    let folder = try TemporaryFolder()
    var options = ReverseOptions()
    options.playback.score = try Score(parsing: text)
    let source = try Self.media.write(to: folder)
    let error = await #expect(throws: RetrogradeError.self) {
      _ = try await Reverser(source, options: options).reverse(to: folder.path("o.mkv"))
    }
    #expect(error?.code == .usage)
    #expect(error.map { "\($0)" }?.contains(reason) ?? false, "\(error.map { "\($0)" } ?? "")")
  }
}
