import Foundation
import Retrograde
import RetrogradeEngine
import TestSupport
import Testing

/// Playback of scores (lists of ranges to play), compared with ffmpeg's `trim`, `reverse`, `setpts`
/// and `concat`, which share no code with this project.
@Suite struct ScoreOracleTests {
  private static let frames = 60
  private static let samplesPerFrame = 1920

  private static var media: TestMedia {
    var media = TestMedia.matroska(frames: frames)
    media.video = "x264enc key-int-max=12 bframes=2 pass=qual quantizer=0 ! h264parse"
    media.sampleCount = frames * samplesPerFrame
    return media
  }

  /// A range of frames and its speed: `20f..5f x0.5`.
  struct Stretch {
    var from: Int
    var to: Int
    var speed: Int
    var words: String { "\(from)f..\(to)f" + (speed == 1 ? "" : " x\(speed)") }
  }

  /// Returns random ranges. About half of them start at the end of the previous range.
  private static func score(_ seed: Int, speeds: ClosedRange<Int>) -> [Stretch] {
    var generator = SeededGenerator(seed)
    var stretches: [Stretch] = []
    for _ in 0..<Int.random(in: 2...6, using: &generator) {
      var from = Int.random(in: 0...frames, using: &generator)
      if let last = stretches.last, Bool.random(using: &generator) { from = last.to }
      var to = from
      while abs(to - from) < 2 { to = Int.random(in: 0...frames, using: &generator) }
      stretches.append(Stretch(from: from, to: to, speed: Int.random(in: speeds, using: &generator)))
    }
    return stretches
  }

  /// Returns a filter graph for ffmpeg: one chain for each range, concatenated. At a turn, the
  /// frame that was shown last is not repeated.
  private static func graph(_ stretches: [Stretch], _ kind: String, _ chain: (Range<Int>, Stretch) -> String) -> String
  {
    let chains = stretches.enumerated().map { number, stretch in
      let isBackward = stretch.from > stretch.to
      var (first, end) = (min(stretch.from, stretch.to), max(stretch.from, stretch.to))
      if number > 0, stretches[number - 1].to == stretch.from,
        isBackward != (stretches[number - 1].from > stretches[number - 1].to)
      {
        if isBackward { end -= 1 } else { first += 1 }
      }
      return "[0:\(kind)]\(chain(first..<end, stretch))[\(kind)\(number)]"
    }
    let pads = stretches.indices.map { "[\(kind)\($0)]" }.joined()
    let (video, audio) = (kind == "v" ? 1 : 0, kind == "a" ? 1 : 0)
    return chains.joined(separator: ";") + ";\(pads)concat=n=\(stretches.count):v=\(video):a=\(audio)[out]"
  }

  private static func video(_ stretches: [Stretch]) -> String {
    graph(stretches, "v") { frames, stretch in
      "trim=start_frame=\(frames.lowerBound):end_frame=\(frames.upperBound)\(stretch.from > stretch.to ? ",reverse" : ""),"
        + "settb=1/1000000,setpts=(PTS-STARTPTS)/\(stretch.speed)"
    }
  }

  private static func audio(_ stretches: [Stretch]) -> String {
    graph(stretches, "a") { frames, stretch in
      "atrim=start_sample=\(frames.lowerBound * samplesPerFrame):end_sample=\(frames.upperBound * samplesPerFrame)"
        + "\(stretch.from > stretch.to ? ",areverse" : ""),asetpts=PTS-STARTPTS"
    }
  }

  /// Returns the presentation time of each frame, in milliseconds, and the frame's checksum.
  private static func frames(_ arguments: [String]) throws -> [(time: Int, sum: String)] {
    let form = ["-pix_fmt", "gray", "-c:v", "rawvideo", "-fps_mode", "passthrough", "-enc_time_base", "1:1000"]
    return try FFmpeg.lines(arguments + form + ["-f", "framemd5", "-"]).map { line in
      let fields = line.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      return (try #require(Int(fields[2])), fields[5])
    }
  }

  private static func samples(_ arguments: [String]) throws -> [String] {
    try FFmpeg.lines(arguments + ["-c:a", "pcm_s16le", "-f", "md5", "-"])
  }

  @Test("frames and samples equal ffmpeg's", arguments: 1...6)
  func framesAndSamples(_ seed: Int) async throws {
    try await check(Self.score(seed, speeds: 1...1), hasAudio: true)
  }

  @Test("frame times equal ffmpeg's", arguments: 7...10)
  func frameTimes(_ seed: Int) async throws {
    try await check(Self.score(seed, speeds: 1...4), hasAudio: false)
  }

  private func check(_ stretches: [Stretch], hasAudio: Bool) async throws {
    let folder = try TemporaryFolder()
    let source = try Self.media.write(to: folder)
    let output = folder.path("o.mkv")
    var options = ReverseOptions()
    (options.encoding.quality, options.playback.joint) = (.lossless, .zero)
    options.playback.noAudio = !hasAudio
    options.playback.score = try Score(parsing: stretches.map(\.words).joined(separator: ", "))
    _ = try await Reverser(source, options: options).reverse(to: output)
    let wanted = try Self.frames(["-i", source, "-filter_complex", Self.video(stretches), "-map", "[out]"])
    let found = try Self.frames(["-i", output, "-map", "0:v"])
    #expect(found.map(\.sum) == wanted.map(\.sum), "\(stretches.map(\.words))")
    // The times in both lists are rounded to milliseconds, and ffmpeg adds up the rounding errors
    // of all ranges.
    #expect(zip(found, wanted).allSatisfy { abs($0.time - $1.time) <= stretches.count }, "\(stretches.map(\.words))")
    guard hasAudio else { return }
    let audio = try Self.samples(["-i", source, "-filter_complex", Self.audio(stretches), "-map", "[out]"])
    #expect(try Self.samples(["-i", output, "-map", "0:a"]) == audio, "\(stretches.map(\.words))")
  }
}
