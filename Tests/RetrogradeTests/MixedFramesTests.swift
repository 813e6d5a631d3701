import MediaTime
import Retrograde
import RetrogradeEngine
import TestSupport
import Testing

/// Blended frames. The tests compute the expected value of each pixel with separate code.
@Suite struct MixedFramesTests {
  private static let frames = 50

  private static var media: TestMedia {
    var media = TestMedia.matroska(frames: frames)
    media.video = "avenc_ffv1"
    return media
  }

  private static func pixels(_ path: String) throws -> [[UInt8]] {
    try DecodedMedia.buffers(of: "filesrc location=\(path) ! decodebin ! videoconvert ! video/x-raw,format=GRAY8")
  }

  private static func mixed(_ a: [UInt8], _ b: [UInt8], _ share: Double) -> [UInt8] {
    let weight = Int((share * 256).rounded())
    return zip(a, b).map { UInt8((Int($0) * (256 - weight) + Int($1) * weight + 128) / 256) }
  }

  private struct Played {
    var source: [[UInt8]]
    var output: [[UInt8]]
    var times: [ClockTime]
  }

  private func play(_ score: String, _ set: (inout PlaybackOptions) -> Void) async throws -> Played {
    let folder = try TemporaryFolder()
    let source = try Self.media.write(to: folder)
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    options.playback.score = try Score(parsing: score)
    set(&options.playback)
    _ = try await Reverser(source, options: options).reverse(to: folder.path("o.mkv"))
    return Played(
      source: try Self.pixels(source), output: try Self.pixels(folder.path("o.mkv")),
      times: try DecodedMedia(folder.path("o.mkv"), like: Self.media).times)
  }

  @Test("slow motion inserts blended frames")
  func slowMotion() async throws {
    let played = try await play("0..0.4 x0.25, hold 0.4, 0.4..0 x2") { $0.interpolation = .blend }
    var expected: [[UInt8]] = []
    for frame in 0..<10 {
      expected.append(played.source[frame])
      if frame == 9 { break }
      for part in 1..<4 {
        expected.append(Self.mixed(played.source[frame], played.source[frame + 1], Double(part) / 4))
      }
    }
    // The fast part has no blended frames. Frame 9, at the turn, is not repeated.
    expected += (0..<9).reversed().map { played.source[$0] }
    #expect(played.output == expected)
    let slow = (0..<37).map { Double($0) * 0.04 }
    let fast = (0..<9).map { 2 + Double($0) * 0.02 }
    #expect(played.times == (slow + fast).map { ClockTime(seconds: $0) })
  }

  @Test("blending creates no more frames than the frame rate allows")
  func frameRateLimit() async throws {
    let played = try await play("0..0.4 x0.1") {
      $0.interpolation = .blend
      $0.frameRate = 5
    }
    // Ten source frames of 0.4 s each. At 5 fps, each of them gives two output frames, except the
    // last, after which there is no frame to blend with.
    #expect(played.times == (0..<19).map { ClockTime(seconds: Double($0) * 0.2) })
    #expect(played.output[1] == Self.mixed(played.source[0], played.source[1], 0.5))
  }

  /// Tests ranges that play forwards and backwards. During a dissolve, the outgoing range continues
  /// in its direction. At the end of the source, the outgoing range repeats its last frame.
  @Test("cuts are cross-dissolved")
  func crossDissolve() async throws {
    let played = try await play("0..0.4, 1.4..1, 1.6..end, 0.8..1.2") { $0.dissolve = .seconds(0.2) }
    func frames(_ numbers: some Sequence<Int>, under outgoing: [Int]) -> [[UInt8]] {
      zip(numbers, Array(outgoing.map { $0 }) + Array(repeating: -1, count: 50)).enumerated().map { place, pair in
        guard pair.1 >= 0 else { return played.source[pair.0] }
        return Self.mixed(played.source[pair.0], played.source[pair.1], 1 - (Double(place) + 0.5) / 5)
      }
    }
    #expect(
      played.output
        == frames(0..<10, under: [])
        + frames((25..<35).reversed(), under: [10, 11, 12, 13, 14])
        + frames(40..<50, under: [24, 23, 22, 21, 20])
        + frames(20..<30, under: [49, 49, 49, 49, 49]))
  }

  @Test("there is no dissolve between ranges that adjoin in the source")
  func adjoiningRanges() async throws {
    let played = try await play("0..1, 1..0.4, 0.4..end") { $0.dissolve = .seconds(0.2) }
    let numbers = Array(0..<25) + (10..<24).reversed() + (11..<50)
    #expect(played.output == numbers.map { played.source[$0] })
  }

  @Test("blended frames pass verification")
  func verifiedBlend() async throws {
    let folder = try TemporaryFolder()
    let source = try Self.media.write(to: folder)
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    options.output.isVerified = true
    options.playback.score = try Score(parsing: "0..0.4 x0.5, 1.4..1")
    (options.playback.interpolation, options.playback.dissolve) = (.blend, .seconds(0.2))
    #expect(try await Reverser(source, options: options).reverse(to: folder.path("o.mkv")).frames == 29)
  }

  @Test("`--copy-forward` with a dissolve is refused")
  func copyRefused() async throws {
    let folder = try TemporaryFolder()
    let source = try Self.media.write(to: folder)
    var options = ReverseOptions(playback: PlaybackOptions(loop: .pingPong, dissolve: .seconds(1)))
    options.encoding.copiesForward = true
    let error = await #expect(throws: RetrogradeError.self) {
      _ = try await Reverser(source, options: options).reverse(to: folder.path("o.mkv"))
    }
    #expect(error?.code == .usage)
    #expect(folder.names == ["source.mkv"])
  }
}
