import Foundation
import MediaTime
import Retrograde
import RetrogradeEngine
import TestSupport
import Testing

/// Videos with repeating motion.
@Suite struct LoopFinderTests {
  private static let rate: FrameRate = 25

  /// Writes a video of a dot that circles once every `period` frames, and of a bar that grows
  /// before frame `from` and after frame `to`. The video can loop seamlessly only between these two
  /// frames, while the bar does not change.
  private func film(_ path: String, frames: Int, period: Int, from: Int, to: Int, hasAudio: Bool = false) async throws {
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    // A tone that rises while the bar grows.
    let audio = MovieAudio(sampleRate: 16_000, channels: 1) { position in
      (position..<min(position + 1_600, frames * 640)).map { sample in
        let bar = Double(Self.bar(sample / 640, from, to))
        return Float(0.3 * sin(2 * .pi * (400 + 40 * bar) * Double(sample) / 16_000))
      }
    }
    let movie = try await MovieWriter(
      path, width: 192, height: 112, frameRate: Self.rate, audio: hasAudio ? audio : nil, options: options)
    for number in 0..<frames {
      try await movie.add { context in
        context.fill(.black)
        let angle = 2 * Double.pi * Double(number) / Double(period)
        context.fill(
          Path(center: Point(x: 96 + 40 * cos(angle), y: 50 + 30 * sin(angle)), radius: 14), with: .color(.white))
        let bar = Double(Self.bar(number, from, to))
        context.fill(Path(Rectangle(x: 0, y: 96, width: bar * 2, height: 16)), with: .color(.white))
      }
    }
    _ = try await movie.finish()
  }

  private static func bar(_ number: Int, _ from: Int, _ to: Int) -> Int { min(number, from) + max(0, number - to) }

  @Test("a cycle is found with the accuracy of a frame")
  func exactCycle() async throws {
    let folder = try TemporaryFolder()
    try await film(folder.path("in.mkv"), frames: 90, period: 24, from: 30, to: 56)
    let finder = LoopFinder(folder.path("in.mkv"), lengths: .seconds(0.8) ... .seconds(1.2))
    let found = try await finder.find()
    #expect(found.span.duration == .seconds(0.96))
    #expect(found.span.start >= .seconds(1.2) && found.span.end <= .seconds(2.28))
    #expect(found.picture.residual < 0.1 && found.picture.usual > 0.5 && found.isGood && found.audio == nil)
    let summary = try await finder.reverser(of: found).reverse(to: folder.path("o.mkv"))
    #expect(summary.frames == 24)
    let pixels = try [folder.path("in.mkv"), folder.path("o.mkv")].map {
      try DecodedMedia.buffers(of: "filesrc location=\($0) ! decodebin ! videoconvert ! video/x-raw,format=GRAY8")
    }
    let first = Int((found.span.start.seconds * 25).rounded())
    #expect(pixels[1] == Array(pixels[0][first..<first + 24]))
  }

  /// Several cycles have equal video. The result must be the cycle whose audio also matches.
  @Test("the search also compares audio")
  func audioMatch() async throws {
    let folder = try TemporaryFolder()
    try await film(folder.path("in.mkv"), frames: 100, period: 24, from: 40, to: 70, hasAudio: true)
    let found = try await LoopFinder(folder.path("in.mkv"), lengths: .seconds(0.9) ... .seconds(1)).find()
    let audio = try #require(found.audio)
    #expect(found.span.start >= .seconds(1.56) && audio.isGood, "\(found)")
  }

  /// The dot swings, and rests at the two ends of its path.
  @Test("a ping-pong turns at frames with little motion")
  func pingPongTurns() async throws {
    let folder = try TemporaryFolder()
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    let movie = try await MovieWriter(
      folder.path("in.mkv"), width: 192, height: 112, frameRate: Self.rate, options: options)
    for number in 0..<70 {
      try await movie.add { context in
        context.fill(.black)
        // The dot rests in frames 10, 35 and 60.
        let place = cos(2 * Double.pi * Double(number - 10) / 50)
        context.fill(Path(center: Point(x: 96 + 60 * place, y: 56), radius: 16), with: .color(.white))
      }
    }
    _ = try await movie.finish()
    let finder = LoopFinder(
      folder.path("in.mkv"), lengths: .seconds(0.9) ... .seconds(1.2),
      options: ReverseOptions(playback: PlaybackOptions(loop: .pingPong)))
    let found = try await finder.find()
    let ends = [found.span.start, found.span.end].map { Int(($0.seconds * 25).rounded()) }
    #expect(ends == [10, 36] || ends == [35, 61], "\(ends)")
    #expect(found.isGood)
    // The loop goes forward and backward, and shows the frame at each turn once.
    #expect(try await finder.reverser(of: found).reverse(to: folder.path("o.gif")).frames == 50)
  }

  @Test("if the seam is blended, the output starts in the middle of the found loop")
  func blendedSeam() async throws {
    let folder = try TemporaryFolder()
    try await film(folder.path("in.mkv"), frames: 90, period: 24, from: 30, to: 56)
    var options = ReverseOptions(playback: PlaybackOptions(loop: .forward))
    options.encoding.quality = .lossless
    let finder = LoopFinder(folder.path("in.mkv"), lengths: .seconds(0.8) ... .seconds(1.2), options: options)
    let reversal = finder.start(
      to: folder.path("o.mkv"), seam: .blend(.seconds(0.2)), showing: folder.path("seam.png"))
    let summary = try await reversal.summary()
    let picture = try await Image(contentsOf: folder.path("seam.png"))
    #expect(picture.width == 2 * 617 + 3 * 12 && picture.height == 360 + 58)
    let found = try #require(summary.loop)
    #expect(found.blend == .seconds(0.2))
    #expect(summary.frames == Int((found.span.duration.seconds * 25).rounded()))
    let pixels = try [folder.path("in.mkv"), folder.path("o.mkv")].map {
      try DecodedMedia.buffers(of: "filesrc location=\($0) ! decodebin ! videoconvert ! video/x-raw,format=GRAY8")
    }
    let middle = Int(((found.span.start.seconds + found.span.duration.seconds / 2) * 25).rounded())
    #expect(pixels[1].first == pixels[0][middle] && pixels[1].last == pixels[0][middle - 1])
  }

  @Test("an impossible search is refused with the reason")
  func refusedSearches() async throws {
    let folder = try TemporaryFolder()
    try await film(folder.path("in.mkv"), frames: 30, period: 24, from: 30, to: 30)
    let path = folder.path("in.mkv")
    func refusal(_ finder: LoopFinder, _ seam: LoopSeam = .cut) async -> String {
      do {
        _ = try await finder.start(to: folder.path("o.mkv"), seam: seam).summary()
        return "nothing"
      } catch let error as RetrogradeError {
        return error.code == .usage ? "\(error)" : "\(error.code): \(error)"
      } catch {
        return "\(error)"
      }
    }
    #expect(
      await refusal(LoopFinder(path, lengths: .seconds(2) ... .seconds(3))).contains("no loop of 2 to 3 s was found"))
    #expect(await refusal(LoopFinder(path), .blend(.seconds(1))).contains("at most half"))
    #expect(await refusal(LoopFinder("-")).contains("a pipe can be read only once"))
    var options = ReverseOptions(playback: PlaybackOptions(loop: .pingPong))
    #expect(
      await refusal(LoopFinder(path, options: options), .blend(.seconds(0.1))).contains(
        "no jump that a blend could hide"))
    options.playback.score = try Score(parsing: "0..end")
    #expect(await refusal(LoopFinder(path, options: options)).contains("score"))
    #expect(folder.names == ["in.mkv"])
  }
}
