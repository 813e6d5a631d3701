import Foundation
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

@Suite("Channels and codecs of audio streams") struct AudioFormTests {
  @Test(
    "two audio streams keep their own codecs and channels",
    arguments: [("o.mkv", "aac", "flac"), ("o.mkv", "flac", "aac"), ("o.mp4", "libmp3lame", "ac3")])
  func codecs(_ output: String, _ first: String, _ second: String) async throws {
    let folder = try TemporaryFolder()
    let source = folder.path("s." + output.suffix(3))
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc=size=64x48:rate=10:duration=1", "-f", "lavfi", "-i"]
        + ["aevalsrc=0.1*sin(600*t)|0:s=44100:d=1", "-f", "lavfi", "-i"]
        + ["aevalsrc=0|0|0|0|0|0.1*sin(600*t):s=48000:d=1:c=5.1", "-map", "0", "-map", "1", "-map", "2"]
        + ["-c:v", "mpeg4", "-c:a:0", first, "-c:a:1", second, source])
    let summary = try await Reverser(source).reverse(to: folder.path(output))
    let names = ["aac": "AAC", "flac": "FLAC", "libmp3lame": "MP3", "ac3": "AC-3"]
    let audio = try #require(summary.written).streams.filter { $0.kind == .audio }
    #expect(audio.map(\.codec) == [first, second].map { names[$0] })
    #expect(audio.map(\.channels) == [2, 6] && audio.map(\.rate) == [44_100, 48_000])
    #expect(summary.warnings.isEmpty, "\(summary.warnings)")
  }

  @Test(
    "each channel of 5.0, 6.1 and 7.1 keeps its position",
    arguments: ["5.0", "6.1", "7.1"], ["o.wav", "o.flac", "o.opus", "o.m4a", "o.mov", "o.mkv", "o.oga"])
  func channelPositions(_ layout: String, _ output: String) async throws {
    let folder = try TemporaryFolder()
    let count = ["5.0": 5, "6.1": 7, "7.1": 8][layout] ?? 0
    let tones = (1...count).map { "\(Double($0) * 0.06)*sin(600*t)" }.joined(separator: "|")
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "aevalsrc=\(tones):s=48000:d=1:c=\(layout)", folder.path("s.wav")])
    _ = try FFmpeg.bytes(["-i", folder.path("s.wav"), folder.path("s.flac")])
    for source in ["s.wav", "s.flac"] {
      let summary = try await Reverser(folder.path(source)).reverse(to: folder.path(source + output))
      let samples = try FFmpeg.samples(folder.path(source + output))
      let peaks = (0..<count).map { channel in
        // Leaves out the start and the end of the tone, where encoders overshoot.
        stride(from: 16_000 * count + channel, to: 32_000 * count, by: count).map {
          samples[$0].magnitude
        }.max() ?? 0
      }
      // AAC puts the surround pair before the rear centre.
      let isAAC = summary.written?.streams.contains { $0.codec == "AAC" } ?? false
      let places = layout == "6.1" && isAAC ? [1, 2, 3, 4, 6, 7, 5] : Array(1...count)
      for (peak, wanted) in zip(peaks, places) {
        #expect(abs(Double(peak) - Double(wanted) * 0.06) < 0.03, "\(source): \(peaks)")
      }
    }
  }

  @Test(
    "the telephone codecs of WAV come out exactly mirrored",
    arguments: [("g722", 16_000, 64_000), ("g726", 8000, 16_000), ("g726", 8000, 32_000)])
  func telephoneCodecs(_ codec: String, _ rate: Int, _ bits: Int) async throws {
    let folder = try TemporaryFolder()
    let (source, mirror) = (folder.path("s.wav"), folder.path("m.wav"))
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "aevalsrc=0.3*sin(900*t*t):s=\(rate):d=2", "-c:a", codec, "-b:a", "\(bits)", source])
    let summary = try await Reverser(source).reverse(to: mirror)
    #expect(summary.warnings.isEmpty, "\(summary.warnings)")
    #expect(try FFmpeg.samples(mirror) == FFmpeg.samples(source).reversed())
  }

  @Test(
    "the channel layout that the container declares is kept",
    arguments: [
      ("s.aiff", "5.1"), ("s.aiff", "2.1"), ("s.aiff", "4.0"), ("s.mov", "5.1"), ("s.mov", "4.0"), ("s.w64", "3.0"),
      ("s.w64", "4.0"), ("s.w64", "5.1"), ("s.wav", "4.0"),
    ])
  func declaredLayouts(_ name: String, _ layout: String) async throws {
    let folder = try TemporaryFolder()
    let count = ["3.0": 3, "2.1": 3, "4.0": 4, "5.1": 6][layout] ?? 0
    let tones = (1...count).map { "\(Double($0) * 0.06)*sin(600*t)" }.joined(separator: "|")
    let source = folder.path(name)
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "aevalsrc=\(tones):s=48000:d=1:c=\(layout)", "-c:a"]
        + [name == "s.aiff" ? "pcm_s16be" : "pcm_s16le", source])
    let mirror = folder.path("m.wav")
    let summary = try await Reverser(source).reverse(to: mirror)
    #expect(summary.warnings.isEmpty, "\(summary.warnings)")
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: mirror)))
    let masks = ["3.0": 0x7, "2.1": 0xB, "4.0": 0x107, "5.1": 0x3F]
    #expect(masks[layout] == Int(bytes[40]) | Int(bytes[41]) << 8)
    let (own, mirrored) = (try FFmpeg.samples(source), try FFmpeg.samples(mirror))
    let frames = stride(from: 0, to: own.count, by: count).map { Array(own[$0..<$0 + count]) }
    #expect(mirrored == Array(frames.reversed().joined()))
    #expect(try await Verifier(source, mirror: mirror).verify().isMirror)
    // The same audio, with a channel mask that moves one or two channels.
    bytes[40] = ["3.0": 0xB, "2.1": 0x7, "4.0": 0x33, "5.1": 0xCF][layout] ?? 0
    bytes[41] = 0
    try Data(bytes).write(to: URL(fileURLWithPath: mirror))
    let checks = try await Verifier(source, mirror: mirror).verify().checks.filter { !$0.holds }
    #expect(checks.map(\.subject) == ["audio 0: loudspeakers"], "\(checks)")
  }

  @Test(
    "PCM of every sample size keeps its values",
    arguments: [
      ("s.mov", "pcm_s24le", 1), ("s.mov", "pcm_s32le", 1), ("s.mov", "pcm_f32le", 2), ("s.mov", "pcm_f64le", 1),
      ("s.mov", "pcm_f32be", 1), ("s.mov", "pcm_f64be", 2), ("s.w64", "pcm_s24le", 6), ("s.w64", "pcm_s32le", 3),
      ("s.w64", "pcm_f32le", 6), ("s.w64", "pcm_f64le", 3), ("s.wav", "pcm_f64le", 6),
    ])
  func widths(_ name: String, _ codec: String, _ channels: Int) async throws {
    let folder = try TemporaryFolder()
    let (source, mirror) = (folder.path(name), folder.path("m.wav"))
    let tones = (1...channels).map { "\(Double($0) * 0.06)*sin(600*t*(1+t))" }.joined(separator: "|")
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "aevalsrc=\(tones):s=44100:d=0.5", "-c:a", codec, source])
    let summary = try await Reverser(source).reverse(to: mirror)
    #expect(summary.warnings.isEmpty, "\(summary.warnings)")
    func samples(_ path: String) throws -> [Double] {
      try FFmpeg.bytes(["-i", path, "-f", "f64le", "-"]).withUnsafeBytes { Array($0.bindMemory(to: Double.self)) }
    }
    let own = try samples(source)
    let frames = stride(from: 0, to: own.count, by: channels).map { own[$0..<$0 + channels] }
    #expect(try samples(mirror) == Array(frames.reversed().joined()))
    #expect(try await Verifier(source, mirror: mirror).verify().isMirror)
  }

  @Test("the last samples of WMA audio, which the decoder never outputs, are reported")
  func endOfWMA() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "sine=d=1:r=48000", "-c:a", "wmav2", folder.path("s.wma")])
    let summary = try await Reverser(folder.path("s.wma")).reverse(to: folder.path("m.wav"))
    #expect(summary.warnings.map(\.count) == [2048], "\(summary.warnings)")
  }

  @Test("verify compares channels by their speaker positions")
  func verifiedLayout() async throws {
    let folder = try TemporaryFolder()
    let tones = (1...7).map { "0.1*sin(\(1500 * $0)*t)" }.joined(separator: "|")
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "aevalsrc=\(tones):s=48000:d=1:c=6.1(back)", folder.path("s.wav")])
    try await Reverser(folder.path("s.wav")).reverse(to: folder.path("m.flac"))
    #expect(try await Verifier(folder.path("s.wav"), mirror: folder.path("m.flac")).verify().isMirror)
    // Keeps the source's channel order, so the rear left channel takes the rear centre's position.
    _ = try FFmpeg.bytes(
      ["-i", folder.path("s.wav"), "-af", "areverse,channelmap=channel_layout=6.1:map=0|1|2|3|4|5|6"]
        + [folder.path("wrong.flac")])
    #expect(try await !Verifier(folder.path("s.wav"), mirror: folder.path("wrong.flac")).verify().isMirror)
  }

  @Test("a PCM layout that the muxer can't declare is reported", arguments: ["m.mkv", "m.mov"])
  func undeclaredLayout(_ output: String) async throws {
    let folder = try TemporaryFolder()
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    for layout in ["4.0", "quad", "5.1", "5.1(side)"] {
      let source = folder.path("s.wav")
      _ = try FFmpeg.bytes(
        ["-y", "-f", "lavfi", "-i", "sine=d=0.2", "-af", "aformat=channel_layouts=\(layout)", source])
      options.output.overwrites = true
      let warnings = try await Reverser(source, options: options).reverse(to: folder.path(output)).warnings
      let isUsual = ["quad", "5.1"].contains(layout)
      #expect(warnings.map(\.code) == (isUsual ? [] : [.detailLeftOut]), "\(layout): \(warnings)")
    }
  }

  @Test("PCM channels without a mask are reversed exactly", arguments: [3, 7, 10, 14, 16])
  func noMask(_ count: Int) async throws {
    let folder = try TemporaryFolder()
    func word(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    let frames = (0..<1000).map { frame in (0..<count).flatMap { word(frame * 16 + $0, 2) } }
    let form = word(1, 2) + word(count, 2) + word(8000, 4) + word(16_000 * count, 4) + word(2 * count, 2) + word(16, 2)
    let body =
      Array("WAVEfmt ".utf8) + word(16, 4) + form + Array("data".utf8) + word(2000 * count, 4) + frames.flatMap { $0 }
    try Data(Array("RIFF".utf8) + word(body.count, 4) + body).write(to: URL(fileURLWithPath: folder.path("s.wav")))
    let summary = try await Reverser(folder.path("s.wav")).reverse(to: folder.path("o.wav"))
    #expect(summary.warnings.isEmpty, "\(summary.warnings)")
    let written = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path("o.wav"))))
    #expect(Array(written.suffix(2000 * count)) == frames.reversed().flatMap { $0 })
    #expect(Array(written[40..<44]) == [0, 0, 0, 0], "no mask")
  }

  @Test("channels from Matroska, which declares no layout, keep their order in FLAC", arguments: [3, 6, 7, 8])
  func orderFromMatroska(_ count: Int) async throws {
    let folder = try TemporaryFolder()
    let tones = (0..<count).map { "0.1*sin(\(400 + 100 * $0)*t)" }.joined(separator: "|")
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "aevalsrc='\(tones)':d=0.5:s=48000", "-c:a", "pcm_s16le", folder.path("s.mkv")])
    let summary = try await Reverser(folder.path("s.mkv")).reverse(to: folder.path("m.flac"))
    #expect(summary.warnings.isEmpty)
    func samples(_ name: String) throws -> [[UInt8]] {
      let all = try FFmpeg.bytes(["-i", folder.path(name), "-f", "s16le", "-c:a", "pcm_s16le", "-"])
      return stride(from: 0, to: all.count, by: 2 * count).map { Array(all[$0..<$0 + 2 * count]) }
    }
    #expect(try samples("m.flac") == samples("s.mkv").reversed())
  }

  @Test("six-channel ALAC, which GStreamer can't write to MP4, becomes another six-channel codec")
  func surroundALAC() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "aevalsrc=0|0|0.1|0|0|0:s=48000:d=1:c=5.1", "-c:a", "alac", folder.path("s.m4a")])
    let summary = try await Reverser(folder.path("s.m4a")).reverse(to: folder.path("o.m4a"))
    #expect(summary.written?.streams.map(\.channels) == [6] && summary.changes.count == 1)
  }

  @Test("audio streams keep their order if one of them is PCM", arguments: ["o.mkv", "o.mov"])
  func orderBesidePCM(_ output: String) async throws {
    let folder = try TemporaryFolder()
    let tones = [300, 700, 1500].flatMap { ["-f", "lavfi", "-i", "sine=f=\($0):d=1"] }
    _ = try FFmpeg.bytes(
      tones + ["-map", "0", "-map", "1", "-map", "2", "-c:a:0", "aac", "-c:a:1", "ac3", "-c:a:2", "pcm_s16le"]
        + ["-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=ger", "-metadata:s:a:2", "language=fre"]
        + [folder.path("s.mkv")])
    _ = try await Reverser(folder.path("s.mkv")).reverse(to: folder.path(output))
    let index = try PlayableSource.open([folder.path(output)], ReverseOptions(), Work()).index
    #expect(index.audio.map { $0.tags?.string("language-code") } == ["en", "de", "fr"])
  }

  @Test("truncated MP3 in WAVE is reported, even without a byte rate")
  func truncatedMP3InWAVE() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "sine=d=4:r=44100", "-c:a", "libmp3lame", "-write_xing", "0", folder.path("s.wav")])
    let whole = try Data(contentsOf: URL(fileURLWithPath: folder.path("s.wav")))
    try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: folder.path("c.wav")))
    let summary = try await Reverser(folder.path("c.wav")).reverse(to: folder.path("o.mkv"))
    #expect(summary.warnings.map(\.code) == [.truncated], "\(summary.warnings)")
  }

  @Test("a downmix is a warning")
  func downmix() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "aevalsrc=0|0|0.1|0|0|0:s=48000:d=1:c=5.1", folder.path("s.wav")])
    let summary = try await Reverser(folder.path("s.wav")).reverse(to: folder.path("o.mp3"))
    #expect(summary.written?.streams.map(\.channels) == [2])
    #expect(summary.warnings.map(\.code) == [.converted], "\(summary.warnings)")
  }
}
