import Foundation
import Containers
import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Truncated files, and files with a damaged range.
@Suite struct CutFileTests {
  struct Kind: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var media = TestMedia()

    init(_ name: String, video: String? = "x264enc key-int-max=20 ! h264parse", audio: String?, muxer: String) {
      testDescription = "\(name) from \(muxer)"
      media.name = name
      media.video = video
      if let audio { media.audio = audio }
      media.muxer = muxer
      media.frameRate = "30/1"
      media.sampleCount = audio == nil ? 0 : 96_000
    }
  }

  static let kinds = [
    Kind("s.mp4", audio: "avenc_aac ! aacparse", muxer: "mp4mux faststart=true"),
    Kind("s.mp4", audio: "avenc_aac ! aacparse", muxer: "mp4mux"),
    Kind("s.mp4", audio: "avenc_aac ! aacparse", muxer: "mp4mux fragment-duration=200"),
    Kind("s.mov", audio: "identity", muxer: "qtmux faststart=true"),
    Kind("s.mkv", audio: "flacenc ! flacparse", muxer: "matroskamux"),
    Kind("s.webm", video: "vp8enc deadline=1 keyframe-max-dist=20", audio: "opusenc", muxer: "webmmux"),
    Kind("s.avi", video: "jpegenc", audio: "identity", muxer: "avimux"),
    Kind("s.flv", audio: "avenc_aac ! aacparse", muxer: "flvmux"),
    Kind("s.ogg", video: nil, audio: "vorbisenc", muxer: "oggmux max-page-delay=100000000"),
    Kind("s.flac", video: nil, audio: "flacenc", muxer: "identity"),
    Kind("s.wv", video: nil, audio: "wavpackenc", muxer: "identity"),
    Kind("s.voc", video: nil, audio: "audioconvert", muxer: "avmux_voc"),
    Kind("s.wav", video: nil, audio: "identity", muxer: "wavenc"),
    Kind("s.au", video: nil, audio: "audioconvert", muxer: "avmux_au"),
    Kind("s.mp3", video: nil, audio: "lamemp3enc ! mpegaudioparse", muxer: "xingmux"),
    Kind("s.aiff", video: nil, audio: "audioconvert", muxer: "aiffmux"),
    Kind("s.wma", video: nil, audio: "avenc_wmav2", muxer: "asfmux"),
    Kind("s.ivf", video: "vp8enc deadline=1 keyframe-max-dist=20", audio: nil, muxer: "avmux_ivf"),
    Kind("s.y4m", video: "video/x-raw,format=I420", audio: nil, muxer: "y4menc"),
  ].filter {
    // A truncated AVI may have a stream without packets, for which avidemux logs a critical warning
    // (Quirk.avidemuxEmptyStream). AVI is therefore left out if such warnings are fatal.
    $0.media.muxer != "avimux" || ProcessInfo.processInfo.environment["G_DEBUG"]?.contains("fatal-criticals") != true
  }

  /// GStreamer can't write True Audio, so FFmpeg does.
  @Test("True Audio that is truncated or followed by another file is reported", arguments: [true, false])
  func trueAudio(isCut: Bool) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.tta")
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "sine=d=4:r=22050", path])
    #expect(try await Reverser(path).plan().warnings.isEmpty)
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    try (isCut ? whole.dropLast(5000) : whole + whole).write(to: URL(fileURLWithPath: path))
    let codes = try await Reverser(path).plan().warnings.map(\.code)
    #expect(codes.contains(isCut ? .truncated : .damaged), "\(codes)")
  }

  @Test("the priming of a truncated MP3 is removed, and the missing audio is reported")
  func cutMP3() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mp3")
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "sine=d=2:r=48000", "-c:a", "libmp3lame", path])
    let whole = try await Reverser(path).plan()
    #expect(whole.warnings.isEmpty && whole.streams.first?.count == 96_000)
    try Data(contentsOf: URL(fileURLWithPath: path)).dropLast().write(to: URL(fileURLWithPath: path))
    let cut = try await Reverser(path).plan()
    // 84 frames are left. The encoder's and the decoder's delays are 576 and 529 samples.
    #expect(cut.streams.first?.count == 84 * 1152 - 576 - 529)
    #expect(
      cut.warnings.map(\.message) == [
        "cut: the file ends at 1.993 s of 2.000 s: 0.007 s of audio are missing"
      ])
  }

  @Test("a single missing sample of audio is reported", arguments: ["wav", "aiff", "au"])
  func missingSample(_ format: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.\(format)")
    let codec = format == "wav" ? "pcm_s16le" : "pcm_s16be"
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "sine=d=2:r=48000", "-c:a", codec, path])
    #expect(try await Reverser(path).plan().warnings.isEmpty)
    try Data(contentsOf: URL(fileURLWithPath: path)).dropLast().write(to: URL(fileURLWithPath: path))
    #expect(
      try await Reverser(path).plan().warnings.map(\.message) == [
        "cut: the file ends at 2.000 s of 2.000 s: less than 0.001 s of audio are missing"
      ])
  }

  /// The last page of the audio declares 81,600 samples, but the file has 96,000.
  @Test("Ogg Vorbis that begins before 0 is trimmed at 0")
  func vorbisBeforeZero() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.ogv")
    let inputs = ["-f", "lavfi", "-i", "testsrc=s=64x48:r=25:d=2", "-itsoffset", "-0.3", "-f", "lavfi"]
    _ = try FFmpeg.bytes(inputs + ["-i", "sine=d=2:r=48000", "-c:v", "libtheora", "-c:a", "libvorbis", path])
    let report = try await Reverser(path).plan()
    #expect(report.streams.map(\.count) == [50, 81_600])
    #expect(report.warnings.isEmpty, "\(report.warnings)")
  }

  @Test("Ogg Vorbis beside a longer video ends at the declared sample")
  func vorbisEnd() async throws {
    let folder = try TemporaryFolder()
    let (path, mirror) = (folder.path("a.ogv"), folder.path("m.mkv"))
    let inputs = ["-f", "lavfi", "-i", "testsrc=s=64x48:r=25:d=2", "-f", "lavfi", "-i", "sine=d=1.7:r=48000"]
    _ = try FFmpeg.bytes(inputs + ["-c:v", "libtheora", "-c:a", "libvorbis", path])
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    try await Reverser(path, options: options).reverse(to: mirror)
    let (own, mirrored) = (try FFmpeg.samples(path), try FFmpeg.samples(mirror))
    #expect(own.count == 81_600 && mirrored.count == own.count)
    // libvorbis and FFmpeg's decoder round differently.
    #expect(zip(own.reversed(), mirrored).allSatisfy { abs($0 - $1) < 0.001 })
  }

  @Test("a damaged WavPack block is reported, and silence is not", arguments: ["-ac 2", "-ac 1"])
  func damagedWavPack(_ form: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.wv")
    for (input, isDamaged) in [("sine=d=3:r=48000", true), ("sine=d=3:r=48000", false), ("anullsrc=d=3", false)] {
      _ = try FFmpeg.bytes(
        ["-y", "-f", "lavfi", "-i", input] + form.split(separator: " ").map(String.init) + [
          "-sample_fmt", "s16p", "-c:a", "wavpack", path,
        ])
      var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      if isDamaged {
        bytes[bytes.count / 2] ^= 16
        try bytes.write(to: URL(fileURLWithPath: path))
      }
      let messages = try await Reverser(path).plan().warnings.map(\.message)
      #expect(messages.contains { $0.contains("packets of audio can't be decoded") } == isDamaged, "\(messages)")
    }
  }

  @Test("extra bytes in the middle of an AVI are reported", arguments: [1, 2, 4096])
  func extraBytesInAVI(_ count: Int) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.avi")
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=4", "-f", "lavfi", "-i", "sine=d=4", "-c:v", "mjpeg", path])
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(try await Reverser(path).plan().warnings.isEmpty)
    bytes.insert(contentsOf: Data(count: count), at: bytes.count * 2 / 3)
    try bytes.write(to: URL(fileURLWithPath: path))
    let messages = try await Reverser(path).plan().warnings.map(\.message)
    #expect(
      messages.contains { $0.contains("can't be read at byte") && $0.contains("frames are missing") }, "\(messages)")
  }

  @Test("deeply nested AVI lists are not followed")
  func nestedLists() throws {
    let folder = try TemporaryFolder()
    func word(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    let depth = 200_000
    var lists: [UInt8] = []
    for level in 0..<depth { lists += Array("LIST".utf8) + word(12 * (depth - level) - 8) + Array("movi".utf8) }
    let bytes = Array("RIFF".utf8) + word(lists.count + 4) + Array("AVI ".utf8) + lists
    try Data(bytes).write(to: folder.url.appending(path: "a.avi"))
    #expect(ContainerFacts(folder.path("a.avi")).report?.brokenAt == 12 + 24)
  }

  @Test("WavPack blocks with another sample rate are reported")
  func wavPackOfTwoRates() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    (media.video, media.audio, media.muxer, media.name) = (nil, "wavpackenc", "identity", "a.wv")
    media.sampleCount = 48_000
    let first = try Data(contentsOf: URL(fileURLWithPath: media.write(to: folder)))
    media.name = "b.wv"
    media.audio = "audioresample ! audio/x-raw,rate=22050 ! wavpackenc"
    let second = try Data(contentsOf: URL(fileURLWithPath: media.write(to: folder)))
    try (first + second).write(to: URL(fileURLWithPath: folder.path("both.wv")))
    #expect(try await Reverser(folder.path("a.wv")).plan().warnings.isEmpty)
    #expect(try await Reverser(folder.path("both.wv")).plan().warnings.map(\.code).contains(.damaged))
  }

  @Test("a truncated file is refused or reported", arguments: kinds)
  func truncatedFile(_ kind: Kind) async throws {
    let folder = try TemporaryFolder()
    let whole = try Data(contentsOf: URL(fileURLWithPath: kind.media.write(to: folder)))
    for percent in [10, 50, 90, 99] {
      let path = folder.path("cut-\(percent)-\(kind.media.name)")
      try whole.prefix(whole.count * percent / 100).write(to: URL(fileURLWithPath: path))
      do {
        let report = try await Reverser(path).plan()
        let loss = report.warnings.first { $0.code == .truncated }
        #expect(loss?.span != nil || loss?.count != nil, "\(percent) %: \(report.warnings)")
      } catch let error as RetrogradeError {
        #expect(error.code == .damagedInput, "\(percent) %: \(error)")
      }
    }
  }

  @Test("a complete file is not reported as truncated", arguments: kinds)
  func completeFile(_ kind: Kind) async throws {
    let folder = try TemporaryFolder()
    let report = try await Reverser(kind.media.write(to: folder)).plan()
    #expect(!report.warnings.contains { $0.code == .truncated || $0.code == .damaged }, "\(report.warnings)")
    #expect(report.declaredDuration == nil)
  }

  /// Live files do not declare a length.
  @Test(
    "a live file is not reported as truncated",
    arguments: [
      ("s.mkv", "matroskamux streamable=true"), ("s.mp4", "mp4mux fragment-duration=200 streamable=true"),
    ])
  func liveFile(name: String, muxer: String) async throws {
    let folder = try TemporaryFolder()
    let kind = Kind(name, audio: "avenc_aac ! aacparse", muxer: muxer)
    let report = try await Reverser(kind.media.write(to: folder)).plan()
    #expect(!report.warnings.contains { $0.code == .truncated }, "\(report.warnings)")
  }

  @Test("the sample tables of a truncated MOV count the missing frames")
  func missingFrameCount() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.video = "jpegenc"
    media.muxer = "qtmux faststart=true"
    media.name = "s.mov"
    let path = try media.write(to: folder)
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    // Removes the last byte, so the last frame of the file is incomplete.
    try whole.dropLast().write(to: URL(fileURLWithPath: path))
    let report = try await Reverser(path).plan()
    let warning = try #require(report.warnings.first)
    #expect(report.warnings.count == 1)
    #expect(warning.code == .truncated)
    #expect(warning.count == 1)
    #expect(report.streams.first?.count == 59)
    #expect(report.declaredDuration == .seconds(2))
    #expect(warning.message.contains("1 of 60 frames"))
    var options = ReverseOptions()
    options.output.isStrict = true
    await #expect(throws: RetrogradeError.self) {
      _ = try await Reverser(path, options: options).reverse(to: folder.path("m.mkv"))
    }
    #expect(folder.names == ["s.mov"])
  }

  @Test("the message about a truncated MP4 names the missing moov box")
  func missingIndex() async throws {
    let folder = try TemporaryFolder()
    let path = try TestMedia().write(to: folder)
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: path))
    let error = await #expect(throws: RetrogradeError.self) { _ = try await Reverser(path).plan() }
    #expect(error?.code == .damagedInput)
    #expect(error?.message.contains("moov") ?? false)
  }

  @Test("a truncated GIF is reversed up to its last complete frame", arguments: [0, 1, 2, 7, 12])
  func truncatedGIF(_ whole: Int) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(12, rate: 10)
    var options = ReverseOptions()
    options.playback.loop = .forward
    try await Reverser(try media.write(to: folder), options: options).reverse(to: folder.path("whole.gif"))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path("whole.gif")))
    // A graphic control extension with the delay precedes each frame (GIF89a, 23).
    let controls = bytes.indices.dropLast(3).filter { bytes[$0..<$0 + 3].elementsEqual([0x21, 0xF9, 0x04]) }
    #expect(controls.count == 12)
    // Cuts the file 30 bytes after the start of the frame that follows the last complete one, or
    // removes only the trailer.
    let end = whole < 12 ? controls[whole] + 30 : bytes.count - 1
    try bytes.prefix(end).write(to: URL(fileURLWithPath: folder.path("cut.gif")))
    let reverser = Reverser(folder.path("cut.gif"))
    guard whole > 0 else {
      let error = await #expect(throws: RetrogradeError.self) { _ = try await reverser.plan() }
      #expect(error?.code == .damagedInput && error?.message.contains("cut") ?? false)
      return
    }
    let summary = try await reverser.reverse(to: folder.path("m.mkv"))
    #expect(summary.warnings.contains { $0.code == .truncated && $0.span != nil }, "\(summary.warnings)")
    #expect(try DecodedMedia(folder.path("m.mkv"), like: media).numbers == Array(0..<whole).reversed())
  }

  /// Frames before the damage are reversed. A warning gives the number of lost frames and the time
  /// of the first.
  @Test("an animation is reversed up to the damage", arguments: ["gif", "webp"], [true, false])
  func damagedAnimation(_ format: String, _ isCut: Bool) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(12, rate: 10)
    var options = ReverseOptions()
    options.playback.loop = .forward
    options.encoding.quality = .lossless
    try await Reverser(try media.write(to: folder), options: options).reverse(to: folder.path("whole.\(format)"))
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path("whole.\(format)")))
    let mark = format == "gif" ? [0x21, 0xF9, 0x04] : Array("ANMF".utf8)
    let frames = bytes.indices.dropLast(4).filter { bytes[$0..<$0 + mark.count].elementsEqual(mark) }
    try #require(frames.count == 12)
    if isCut {
      bytes = bytes.prefix(frames[5] + 20)
    } else {
      bytes.resetBytes(in: frames[5] + 30..<frames[6] + 4)
    }
    try bytes.write(to: URL(fileURLWithPath: folder.path("hole.\(format)")))
    let summary = try await Reverser(folder.path("hole.\(format)")).reverse(to: folder.path("m.mkv"))
    #expect(try DecodedMedia(folder.path("m.mkv"), like: media).numbers == Array((0..<5).reversed()))
    let warning = try #require(summary.warnings.first { $0.isLoss && $0.code != .detailLeftOut }, "\(summary.warnings)")
    #expect(warning.code == (isCut ? .truncated : .damaged))
    #expect(warning.span?.start == ClockTime(nanoseconds: 500_000_000), "\(warning)")
    // The damage may overwrite the header of one of the seven frames.
    if !isCut { #expect(warning.count.map { (6...7).contains($0) } == true, "\(warning)") }
    let report = try await Reverser(folder.path("hole.\(format)")).plan()
    #expect(report.warnings.contains(warning) && report.streams.first?.count == 5)
  }

  /// The damaged range imitates a lost disk sector. The rest of the file is intact. Some demuxers
  /// skip the unknown bytes, others stop.
  @Test(
    "a range of damaged bytes in the middle is reported",
    arguments: [
      ["s.flv", "flvmux", ""], ["s.mpg", "mpegpsmux", ""], ["s.mp3", "id3v2mux", "lamemp3enc ! mpegaudioparse"],
      ["s.ogg", "oggmux", "vorbisenc"],
      ["s.aac", "identity", "avenc_aac ! aacparse ! audio/mpeg,stream-format=adts"], ["s.flac", "identity", "flacenc"],
      ["s.ac3", "identity", "avenc_ac3 ! ac3parse"], ["s.eac3", "identity", "avenc_eac3 ! ac3parse"],
      ["s.wma", "asfmux", "avenc_wmav2"],
    ], [0, 255])
  func holeInTheMiddle(_ kind: [String], _ filling: UInt8) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.times = TestMedia.regular(120, rate: 30)
    media.frameRate = "30/1"
    (media.name, media.muxer) = (kind[0], kind[1])
    if !kind[2].isEmpty {
      media.video = nil
      media.sampleCount = 480_000
      media.audio = "audioconvert ! \(kind[2])"
    }
    let path = try media.write(to: folder)
    let whole = try await Reverser(path).plan().warnings
    #expect(!whole.contains { [.damaged, .truncated].contains($0.code) }, "\(whole)")
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let hole = bytes.count / 2..<bytes.count / 2 + min(4096, bytes.count / 4)
    bytes.replaceSubrange(hole, with: [UInt8](repeating: filling, count: hole.count))
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let warnings = try await Reverser(path).plan().warnings
    #expect(warnings.contains { $0.code == .damaged }, "\(warnings)")
  }

  /// A recorder leaves a file without audio if its battery runs out.
  @Test("a WAV file without a complete audio sample is refused", arguments: [40, 44, 45])
  func wavWithoutAudio(_ count: Int) async throws {
    let folder = try TemporaryFolder()
    let path = try TestMedia.audioOnly("s.wav", muxer: "wavenc", sampleCount: 4800).write(to: folder)
    try Data(contentsOf: URL(fileURLWithPath: path)).prefix(count).write(to: URL(fileURLWithPath: path))
    let error = await #expect(throws: RetrogradeError.self) { _ = try await Reverser(path).plan() }
    #expect(
      error?.code == .damagedInput && error?.message.contains("the file ends before its audio begins") ?? false,
      "\(String(describing: error))")
  }

  /// Tests the report alone, without a file.
  @Test("rounded and unknown lengths are not reported as a loss")
  func roundedAndUnknownLengths() {
    let second = ClockTime(seconds: 1)
    let found = [ContainerReport.Found(kind: .video, frames: 30, end: second)]
    #expect(ContainerReport().warnings(found, isDamaged: false).isEmpty)
    #expect(ContainerReport(end: ClockTime(seconds: 5)).warnings(found, isDamaged: false).isEmpty)
    #expect(ContainerReport(end: ClockTime(seconds: 1.05)).warnings(found, isDamaged: true).isEmpty)
    let cut = ContainerReport(isCut: true, end: ClockTime(seconds: 5)).warnings(found, isDamaged: false)
    #expect(cut.first?.span == TimeSpan(start: second, end: ClockTime(seconds: 5)))
    #expect(ContainerReport(isCut: true).warnings([], isDamaged: false).isEmpty)
  }
}
