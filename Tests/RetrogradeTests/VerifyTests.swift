import Foundation
import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// `verify` accepts a mirror, and names the differences of any other file.
@Suite struct VerifyTests {
  private static var media: TestMedia {
    var media = TestMedia.matroska
    media.sampleCount = 96_000
    media.title = "A day"
    return media
  }

  private static func source(
    _ folder: TemporaryFolder, _ name: String = "source.mkv", _ change: (inout TestMedia) -> Void = { _ in }
  ) throws -> String {
    var media = media
    media.name = name
    change(&media)
    return try media.write(to: folder)
  }

  /// Reverses `source`; lossless by default.
  private static func mirror(
    _ source: String, to path: String, _ change: (inout ReverseOptions) -> Void = { _ in }
  ) async throws -> String {
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    options.resources.memory = ByteCount(1 << 20)
    change(&options)
    try await Reverser(source, options: options).reverse(to: path)
    return path
  }

  private static func differences(_ source: String, _ mirror: String, isLossless: Bool = true) async throws -> [String]
  {
    var verifier = Verifier(source, mirror: mirror)
    verifier.options.resources.memory = ByteCount(1 << 20)
    verifier.isLossless = isLossless
    return try await verifier.verify().checks.filter { !$0.holds }.map(\.subject)
  }

  /// The mirror's audio starts at 1.256961 s. Matroska rounds this time to 1.257 s, which is 2
  /// samples later.
  @Test("audio that starts late gets no extra samples")
  func lateAudio() async throws {
    let folder = try TemporaryFolder()
    let source = try VerifyTests.source(folder) { media in
      media.rate = 44_100
      media.sampleCount = 32_768
    }
    let mirror = try await VerifyTests.mirror(source, to: folder.path("m.mkv"))
    #expect(try await VerifyTests.differences(source, mirror) == [])
  }

  /// Matroska rounds times to milliseconds, so five frames get the same time.
  @Test("a mirror of 5,000 frames per second in Matroska is verified")
  func manyFramesPerMillisecond() async throws {
    let folder = try TemporaryFolder()
    let source = folder.path("s.mp4")
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "testsrc2=s=64x64:r=5000:d=0.05", "-c:v", "libx264", source])
    let mirror = try await VerifyTests.mirror(source, to: folder.path("m.mkv"))
    #expect(try await VerifyTests.differences(source, mirror) == [])
  }

  @Test("a lossless mirror has the same pixels and samples")
  func losslessMirror() async throws {
    let folder = try TemporaryFolder()
    let source = try VerifyTests.source(folder)
    let mirror = try await VerifyTests.mirror(source, to: folder.path("m.mkv"))
    var verifier = Verifier(source, mirror: mirror)
    verifier.isLossless = true
    let result = try await verifier.verify()
    #expect(result.isMirror && result.difference == nil)
    let order = try #require(result.checks.first { $0.subject == "order" })
    #expect(order.figures["identical"] == 60)
    let samples = try #require(result.checks.first { $0.subject == "audio 0 samples" })
    #expect(samples.figures["largestDifference"] == 0)
  }

  @Test("a lossy mirror passes, but is not identical", arguments: ["m.mp4", "m.mkv", "m.webm"])
  func lossyMirror(_ name: String) async throws {
    let folder = try TemporaryFolder()
    let source = try VerifyTests.source(folder) { $0.click = 40_000 }
    let mirror = try await VerifyTests.mirror(source, to: folder.path(name)) { options in
      options.encoding.quality = .source
      options.output.isVerified = true
    }
    #expect(try await VerifyTests.differences(source, mirror, isLossless: false) == [])
    #expect(try await VerifyTests.differences(source, mirror).contains("order"))
  }

  /// The mirror's audio starts 125 ms or 4.5 ms after the video. The second delay is shorter than
  /// the priming.
  @Test(
    "Opus that starts later than the video is in sync", arguments: ["m.mkv", "m.webm", "m.mov"], [90_000, 95_784])
  func lateOpus(_ name: String, sampleCount: Int) async throws {
    let folder = try TemporaryFolder()
    let source = try VerifyTests.source(folder) { ($0.sampleCount, $0.click) = (sampleCount, 40_000) }
    let mirror = try await VerifyTests.mirrorInOpus(source, to: folder.path(name))
    #expect(try await VerifyTests.differences(source, mirror, isLossless: false) == [])
    let again = try await VerifyTests.mirrorInOpus(mirror, to: folder.path("again.mkv"))
    #expect(try await VerifyTests.differences(mirror, again, isLossless: false) == [])
  }

  @Test(
    "Opus made from a lower sample rate is in sync in MP4 and MOV", arguments: [8000, 12_000, 16_000, 22_050, 24_000],
    ["m.mp4", "m.mov"])
  func lowRateOpus(_ rate: Int, _ name: String) async throws {
    let folder = try TemporaryFolder()
    let source = try VerifyTests.source(folder) { ($0.rate, $0.sampleCount, $0.click) = (rate, 2 * rate, rate / 2) }
    let mirror = try await VerifyTests.mirrorInOpus(source, to: folder.path(name))
    // Resampling from 8 kHz changes the level of the click, so only the sync is checked.
    #expect(try await !VerifyTests.differences(source, mirror, isLossless: false).contains { $0.contains("sync") })
    let samples = try FFmpeg.bytes(
      [
        "-i", mirror, "-map", "0:a", "-af", "aresample=async=1:first_pts=0", "-ac", "1", "-ar", "48000", "-f", "u8",
        "-",
      ])
    let levels = samples.map { abs(Int($0) - 128) }
    let loudest = try #require(levels.indices.max { levels[$0] < levels[$1] })
    #expect(abs(loudest - 72_000) < 100)
  }

  private static func mirrorInOpus(_ source: String, to path: String) async throws -> String {
    try await mirror(source, to: path) { options in
      options.encoding.quality = .source
      options.encoding.audioCodec = "opus"
    }
  }

  @Test("details that a container can't store are not reported as missing", arguments: ["m.ts", "m.gif"])
  func unheldDetails(_ name: String) async throws {
    let folder = try TemporaryFolder()
    try Data("1\n00:00:00,200 --> 00:00:00,600\nHello\n".utf8).write(to: URL(fileURLWithPath: folder.path("a.srt")))
    let chapter = ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=500\ntitle=One\n"
    try Data(chapter.utf8).write(to: URL(fileURLWithPath: folder.path("c.txt")))
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=1", "-i", folder.path("a.srt"), "-i", folder.path("c.txt")]
        + ["-map_chapters", "2", "-metadata", "artist=Ada", folder.path("s.mkv")])
    let mirror = try await VerifyTests.mirror(folder.path("s.mkv"), to: folder.path(name)) {
      $0.encoding.quality = .source
    }
    #expect(try await VerifyTests.differences(folder.path("s.mkv"), mirror, isLossless: false) == [])
  }

  @Test("a periodic tone is compared at the right period")
  func periodicTone() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=2", "-f", "lavfi", "-i", "sine=f=440:r=44100:d=2"]
        + ["-c:a", "aac", folder.path("s.mkv")])
    let mirror = try await VerifyTests.mirror(folder.path("s.mkv"), to: folder.path("m.ts")) {
      $0.encoding.quality = .source
    }
    #expect(try await VerifyTests.differences(folder.path("s.mkv"), mirror, isLossless: false) == [])
  }

  @Test("a tone without video is aligned by its start, in spite of encoder priming")
  func toneBehindPriming() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "sine=f=440:r=44100:d=1", "-c:a", "libmp3lame", folder.path("s.mp3")])
    let mirror = try await VerifyTests.mirror(folder.path("s.mp3"), to: folder.path("m.mkv")) {
      $0.encoding.quality = .source
    }
    #expect(try await VerifyTests.differences(folder.path("s.mp3"), mirror, isLossless: false) == [])
  }

  @Test(
    "verify accepts mirrors of formats whose timestamps or pixels GStreamer changes when it reads them",
    arguments: [
      ("s.mov", "-c:v png -pix_fmt rgb24", "m.mkv"), ("s.avi", "-c:v mpeg4 -bf 2 -q:v 2", "m.mkv"),
      ("s.mkv", "-c:v mjpeg", "m.mp4"), ("s.mov", "-c:v qtrle", "m.mkv"),
      ("s.webm", "-c:v libvpx-vp9 -pix_fmt gbrp -lossless 1", "m.mkv"),
    ])
  func formsOfVideo(_ source: String, _ codec: String, _ output: String) async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=3"] + codec.split(separator: " ").map(String.init)
        + [folder.path(source)])
    let mirror = try await VerifyTests.mirror(folder.path(source), to: folder.path(output)) {
      $0.encoding.reencodes = true
      $0.encoding.quality = output == "m.mkv" ? .lossless : .source
    }
    #expect(try await VerifyTests.differences(folder.path(source), mirror, isLossless: output == "m.mkv") == [])
  }

  @Test("verify accepts H.264 that starts over a second after a transport stream's clock reference")
  func earlyClock() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=3", "-f", "lavfi", "-i", "sine=d=4.1:r=48000", "-c:v", "libx264"]
        + ["-c:a", "aac", folder.path("s.mp4")])
    let mirror = try await VerifyTests.mirror(folder.path("s.mp4"), to: folder.path("m.ts")) {
      $0.encoding.quality = .source
    }
    #expect(try await VerifyTests.differences(folder.path("s.mp4"), mirror, isLossless: false) == [])
  }

  @Test("audio resampled for MP3 keeps its first sample", arguments: [96_000, 88_200, 192_000])
  func resampledMP3(_ rate: Int) async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(
      [
        "-f", "lavfi", "-i", "aevalsrc='0.3*sin(2*PI*(300+200*t)*t)':s=\(rate):d=2", "-c:a", "flac",
        folder.path("s.flac"),
      ])
    let mirror = try await VerifyTests.mirror(folder.path("s.flac"), to: folder.path("m.mp3")) {
      $0.encoding.quality = .source
    }
    let differing = try await Verifier(folder.path("s.flac"), mirror: mirror).verify().checks.filter { !$0.holds }
    #expect(differing.map(\.subject).filter { $0 != "audio 0 rate" } == [], "\(differing)")
  }

  @Test("the halved chroma of WebP does not count as a colour difference")
  func colorsInWebP() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "testsrc2=s=320x240:r=10:d=1", folder.path("s.mp4")])
    let source = folder.path("s.webp")
    try await Reverser(folder.path("s.mp4")).reverse(to: source)
    try await Reverser(source).reverse(to: folder.path("m.webp"))
    #expect(try await Verifier(source, mirror: folder.path("m.webp")).verify().difference == nil)
  }

  /// DV declares the position of its chroma samples, but no colorimetry.
  @Test("4:1:1 DV converted to 4:4:4 does not count as a colour difference")
  func chromaOfDV() async throws {
    let folder = try TemporaryFolder()
    let (source, mirror) = (folder.path("s.mov"), folder.path("m.mp4"))
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=720x480:r=30000/1001:d=0.5", "-pix_fmt", "yuv411p", "-c:v", "dvvideo", source])
    try await Reverser(source).reverse(to: mirror)
    #expect(try await Verifier(source, mirror: mirror).verify().difference == nil)
  }

  @Test("converted pixels are not reported as identical")
  func convertedPixels() async throws {
    let folder = try TemporaryFolder()
    let (source, mirror) = (folder.path("s.gif"), folder.path("m.mkv"))
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "testsrc2=s=160x120:r=10:d=1", source])
    _ = try FFmpeg.bytes(["-i", source, "-vf", "reverse"] + ["-pix_fmt", "yuv444p", "-c:v", "ffv1", mirror])
    var verifier = Verifier(source, mirror: mirror)
    verifier.isLossless = true
    let order = try #require(try await verifier.verify().checks.first { $0.subject == "order" })
    #expect(!order.finding.contains("every pixel is the same"))
  }

  @Test("a Y4M mirror of 4:4:4 video has the same pixels")
  func paddedFrames() async throws {
    let folder = try TemporaryFolder()
    let (source, mirror) = (folder.path("s.mkv"), folder.path("m.y4m"))
    _ = try FFmpeg.bytes([
      "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=0.4", "-pix_fmt", "yuv444p", "-c:v", "libx264", source,
    ])
    try await Reverser(source).reverse(to: mirror)
    #expect(try FFmpeg.frames(mirror).map(\.sum) == FFmpeg.frames(source).reversed().map(\.sum))
  }

  @Test("a loop is verified in its order of play")
  func pingPong() async throws {
    let folder = try TemporaryFolder()
    let source = try VerifyTests.source(folder)
    let loop = try await VerifyTests.mirror(source, to: folder.path("m.mkv")) { $0.playback.loop = .pingPong }
    var verifier = Verifier(source, mirror: loop)
    verifier.isLossless = true
    verifier.options.playback.loop = .pingPong
    #expect(try await verifier.verify().isMirror)
    verifier.options.playback.loop = .reverse
    #expect(try await !verifier.verify().isMirror)
  }

  /// PCM and FLAC have no priming or padding, so even one silent sample at the end must not be
  /// missing or added.
  @Test("one additional or missing silent sample is reported", arguments: [-1, 1], ["wav", "mkv"])
  func silentSample(_ change: Int, _ name: String) async throws {
    let folder = try TemporaryFolder()
    func source(_ name: String, more: Int) throws -> String {
      try VerifyTests.source(folder, name) { media in
        if name.hasSuffix("wav") {
          (media.video, media.muxer, media.audio) = (nil, "wavenc", "identity")
        }
        (media.sampleCount, media.click) = (40_000 + more, 20_000 + more)
      }
    }
    let wanted = try source("source.\(name)", more: 0)
    let other = try await VerifyTests.mirror(try source("other.\(name)", more: change), to: folder.path("m.\(name)"))
    #expect(try await VerifyTests.differences(wanted, other, isLossless: false).contains("audio 0"))
    let mirror = try await VerifyTests.mirror(wanted, to: folder.path("w.\(name)"))
    #expect(try await VerifyTests.differences(wanted, mirror, isLossless: false) == [])
  }

  @Test("True Audio is not written to Matroska, where GStreamer can't decode it")
  func trueAudio() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "sine=d=1:r=22050", folder.path("a.tta")])
    let mirror = try await VerifyTests.mirror(folder.path("a.tta"), to: folder.path("m.mka")) { $0.encoding = .init() }
    #expect(try await VerifyTests.differences(folder.path("a.tta"), mirror, isLossless: false) == [])
  }

  /// The levels are -80 dB, and -140 dB in 32-bit samples.
  @Test("very quiet audio is also compared", arguments: ["pcm_s16le,0.0001", "pcm_f32le,0.0000001"])
  func quietAudio(_ form: String) async throws {
    let folder = try TemporaryFolder()
    let parts = form.split(separator: ",")
    for (name, hertz) in [("a.wav", 440), ("b.wav", 450)] {
      let tone = "aevalsrc=\(parts[1])*sin(2*PI*\(hertz)*t)*(1+t):s=48000:d=1"
      _ = try FFmpeg.bytes(["-f", "lavfi", "-i", tone, "-c:a", String(parts[0]), folder.path(name)])
    }
    let mirror = try await VerifyTests.mirror(folder.path("a.wav"), to: folder.path("m.wav"))
    #expect(try await VerifyTests.differences(folder.path("a.wav"), mirror) == [])
    #expect(try await VerifyTests.differences(folder.path("b.wav"), mirror, isLossless: false) == ["audio 0 samples"])
    #expect(try await VerifyTests.differences(folder.path("a.wav"), folder.path("a.wav")) != [])
  }

  @Test(
    "if the source declares no colours, its mirror may declare only the colours that players assume",
    arguments: [
      ("smpte170m", false, true), ("unknown", false, true), ("bt709", false, false), ("smpte170m", true, false),
    ])
  func unmarkedColours(_ colours: String, _ isFullRange: Bool, _ isRight: Bool) async throws {
    let folder = try TemporaryFolder()
    let picture = ["-f", "lavfi", "-i", "testsrc2=s=64x48:d=0.4,format=yuv420p"]
    _ = try FFmpeg.bytes(picture + ["-c:v", "ffv1", folder.path("a.mkv")])
    let marks = "setparams=range=tv:colorspace=\(colours):color_primaries=\(colours):color_trc=\(colours)"
    let mirror = URL(fileURLWithPath: folder.path("m.mkv"))
    _ = try FFmpeg.bytes(picture + ["-vf", "reverse,\(marks)", "-c:v", "ffv1", mirror.path])
    if isFullRange {
      // Changes Matroska's Range from limited to full in the file, because FFmpeg would also
      // convert the frames.
      var bytes = try Data(contentsOf: mirror)
      bytes[try #require(bytes.range(of: Data([0x55, 0xB9, 0x81, 1]))).upperBound - 1] = 2
      try bytes.write(to: mirror)
    }
    let found = try await VerifyTests.differences(folder.path("a.mkv"), folder.path("m.mkv"))
    #expect(found == (isRight ? [] : ["colour"]))
  }

  @Test(
    "verify accepts mirrors in formats that Retrograde does not write, and under any name",
    arguments: ["m.aiff", "m.au", "m.wv", "m.tta", "m.aac", "m.ac3", "m.mp2", "m.flv", "mp4.other", "matroska"])
  func otherNames(_ name: String) async throws {
    let folder = try TemporaryFolder()
    let (source, mirror) = (folder.path("s.mkv"), folder.path(name))
    let tone = ["-f", "lavfi", "-i", "aevalsrc='0.3*sin(2*PI*(300+200*t)*t)':s=44100:d=2"]
    let video = ["-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=2"]
    let hasVideo = !["aiff", "au", "wv", "tta", "aac", "ac3", "mp2"].contains(name.dropFirst(2))
    _ = try FFmpeg.bytes(tone + (hasVideo ? video : []) + ["-c:a", "pcm_s16le", "-c:v", "ffv1", source])
    let format = ["mp4.other": ["-f", "mp4"], "matroska": ["-f", "matroska"]][name] ?? []
    let codecs = hasVideo ? ["-c:v", "libx264", "-bf", "0", "-c:a", "aac"] : []
    let filters = ["-af", "areverse"] + (hasVideo ? ["-vf", "reverse"] : [])
    _ = try FFmpeg.bytes(["-i", source] + filters + codecs + format + [mirror])
    #expect(try await VerifyTests.differences(source, mirror, isLossless: false) == [])
    _ = try FFmpeg.bytes(["-y", "-i", source] + codecs + format + [mirror])
    #expect(try await VerifyTests.differences(source, mirror, isLossless: false).contains("audio 0 samples"))
  }

  /// The engine reads the transparency of VP8 and VP9 only if the options or, as here, the mirror
  /// need it.
  @Test("a transparent WebM and its transparent mirror match", arguments: [true, false])
  func transparentWebM(_ isLossless: Bool) async throws {
    let folder = try TemporaryFolder()
    let square = "format=yuva420p,geq=lum='p(X,Y)':cb='p(X,Y)':cr='p(X,Y)':a='if(lt(abs(X-20-3*N),20),0,255)'"
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=96x64:r=10:d=1", "-vf", square, "-c:v", "libvpx-vp9"]
        + ["-pix_fmt", "yuva420p", "-auto-alt-ref", "0", folder.path("s.webm")])
    let mirror = try await VerifyTests.mirror(folder.path("s.webm"), to: folder.path("m.mkv")) {
      $0.encoding.keepsAlpha = true
    }
    var verifier = Verifier(folder.path("s.webm"), mirror: mirror)
    verifier.isLossless = isLossless
    let result = try await verifier.verify()
    #expect(result.difference == nil)
    #expect(!result.warnings.contains { $0.message.contains("transparency") }, "\(result.warnings)")
  }

  @Test("a light level of 0 is unknown, and may be left out")
  func unknownLightLevel() async throws {
    let folder = try TemporaryFolder()
    let display = "master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,500)"
    let colours = "colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc"
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=0.4", "-pix_fmt", "yuv420p10", "-c:v", "libx265"]
        + ["-x265-params", "log-level=none:hdr10=1:max-cll=0,0:\(display):\(colours)", folder.path("s.mkv")])
    let mirror = try await VerifyTests.mirror(folder.path("s.mkv"), to: folder.path("m.mkv"))
    #expect(try await VerifyTests.differences(folder.path("s.mkv"), mirror) == [])
  }

  /// The audio ends 10 ms or 30 ms after the video. The mirror's video starts late by this time, but
  /// AVI and Theora in Ogg store no frame times. Half a frame is 20 ms.
  @Test(
    "frames that AVI or Ogg shifts by more than half a frame are reported", arguments: ["m.avi", "m.ogg"],
    ["1.01", "1.03"])
  func shiftedFrames(_ name: String, _ length: String) async throws {
    let folder = try TemporaryFolder()
    let source = folder.path("s.mkv")
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=1", "-f", "lavfi", "-i"]
        + ["aevalsrc='0.3*sin(2*PI*(300+200*t)*t)':s=48000:d=\(length)", "-c:v", "libx264"]
        + ["-c:a", "pcm_s16le", source])
    let summary = try await Reverser(source).reverse(to: folder.path(name))
    #expect(summary.warnings.contains { $0.code == .converted } == (length == "1.03"), "\(summary.warnings)")
    let found = try await VerifyTests.differences(source, folder.path(name), isLossless: false)
    #expect(found.contains { ["start", "audio 0 sync"].contains($0) } == (length == "1.03"), "\(found)")
  }

  @Test("frames in a wrong order are reported")
  func frameOrder() async throws {
    let folder = try TemporaryFolder()
    let source = try VerifyTests.source(folder)
    let found = try await VerifyTests.differences(source, source, isLossless: false)
    #expect(Set(found).isSuperset(of: ["order", "audio 0 samples"]))
  }

  @Test("missing frames are reported")
  func missingFrames() async throws {
    let folder = try TemporaryFolder()
    let source = try VerifyTests.source(folder) { $0.sampleCount = 0 }
    let mirror = try await VerifyTests.mirror(source, to: folder.path("m.mkv")) { $0.playback.start = .frame(1) }
    #expect(try await VerifyTests.differences(source, mirror) == ["frames"])
  }

  @Test("frames at wrong times are reported")
  func frameTimes() async throws {
    let folder = try TemporaryFolder()
    let source = try VerifyTests.source(folder) { media in
      media.sampleCount = 0
      media.times = (0...50).map { ClockTime(nanoseconds: Int64($0 * 40 + ($0 > 25 ? 30 : 0)) * 1_000_000) }
    }
    let mirror = try await VerifyTests.mirror(source, to: folder.path("m.mkv")) { $0.playback.timing = .source }
    #expect(try await VerifyTests.differences(source, mirror) == ["times"])
  }

  @Test("audio that has moved relative to the video is reported")
  func audioSync() async throws {
    let folder = try TemporaryFolder()
    let source = try VerifyTests.source(folder)
    let late = try VerifyTests.source(folder, "late.mkv") { $0.audioStart = ClockTime(nanoseconds: 10_000_000) }
    let mirror = try await VerifyTests.mirror(late, to: folder.path("m.mkv"))
    let found = try await VerifyTests.differences(source, mirror, isLossless: false)
    #expect(found.contains("audio 0 sync") && !found.contains("order"))
  }

  @Test("a missing stream is reported")
  func missingStream() async throws {
    let folder = try TemporaryFolder()
    let source = try VerifyTests.source(folder)
    let mirror = try await VerifyTests.mirror(source, to: folder.path("m.mkv")) { $0.playback.noAudio = true }
    #expect(try await VerifyTests.differences(source, mirror) == ["audio streams"])
  }

  @Test("a lost title is reported")
  func lostTitle() async throws {
    let folder = try TemporaryFolder()
    let source = try VerifyTests.source(folder)
    let untitled = try VerifyTests.source(folder, "untitled.mkv") { $0.title = "Another day" }
    let mirror = try await VerifyTests.mirror(untitled, to: folder.path("m.mkv"))
    #expect(try await VerifyTests.differences(source, mirror) == ["tags"])
  }

  @Test("a changed tag value is reported", arguments: ["composer", "track", "album_artist", "lyrics"])
  func changedTag(_ name: String) async throws {
    let folder = try TemporaryFolder()
    func write(_ path: String, _ value: Int) throws {
      _ = try FFmpeg.bytes(
        ["-f", "lavfi", "-i", "sine=d=1", "-c:a", "aac", "-metadata", "\(name)=\(value)", folder.path(path)])
    }
    try write("s.m4a", 1)
    // The other value, 21, contains the first value, 1, as text. A search for the text is not
    // enough.
    try write("other.m4a", 21)
    let mirror = try await VerifyTests.mirror(folder.path("other.m4a"), to: folder.path("m.m4a")) {
      $0.encoding.quality = .source
    }
    #expect(try await VerifyTests.differences(folder.path("s.m4a"), mirror, isLossless: false) == ["tags"])
  }

  @Test("lost markup in subtitles is reported")
  func lostMarkup() async throws {
    let folder = try TemporaryFolder()
    func write(_ name: String, _ text: String) throws -> String {
      try Data("1\n00:00:00,200 --> 00:00:00,800\n\(text)\n".utf8).write(to: folder.url.appending(path: "a.srt"))
      _ = try FFmpeg.bytes(
        ["-y", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=1", "-i", folder.path("a.srt"), "-c:v", "libx264"]
          + ["-c:s", "srt", folder.path(name)])
      return folder.path(name)
    }
    let (source, bare) = (try write("s.mkv", "so <i>it</i> is & <b>was</b>"), try write("bare.mkv", "so it is & was"))
    for (of, differences) in [(source, []), (bare, ["subtitles 0"])] {
      let mirror = try await VerifyTests.mirror(of, to: folder.path("m\(differences.count).mkv")) {
        $0.encoding.quality = .source
      }
      #expect(try await VerifyTests.differences(source, mirror, isLossless: false) == differences)
    }
  }

  @Test("a last frame that is shown too long is reported")
  func longLastFrame() async throws {
    let folder = try TemporaryFolder()
    let clip = ["-f", "lavfi", "-i", "testsrc2=s=160x120:r=20:d=1"]
    let late = ["-vf", "setpts=PTS+gte(N\\,1)*0.85/TB", "-fps_mode", "passthrough"]
    _ = try FFmpeg.bytes(clip + [folder.path("s.mkv")])
    _ = try FFmpeg.bytes(clip + late + [folder.path("long.mkv")])
    for (name, faults) in [("s", []), ("long", ["times"])] {
      let mirror = try await VerifyTests.mirror(
        folder.path("\(name).mkv"), to: folder.path("\(name).mp4")
      ) { $0.encoding.quality = .source }
      #expect(try await VerifyTests.differences(folder.path("s.mkv"), mirror, isLossless: false) == faults)
    }
  }

  @Test("a wrong orientation is reported")
  func wrongOrientation() async throws {
    let folder = try TemporaryFolder()
    func clip(_ name: String, _ orientation: String?) throws -> String {
      try VerifyTests.source(folder, name) { media in
        media.muxer = "mp4mux"
        media.frameRate = "30/1"
        media.sampleCount = 0
        media.orientation = orientation
      }
    }
    let turned = try clip("turned.mp4", "rotate-90")
    let flat = try await VerifyTests.mirror(try clip("flat.mp4", nil), to: folder.path("flat.mov"))
    #expect(Set(try await VerifyTests.differences(turned, flat)).isSuperset(of: ["size", "orientation"]))
    // The Matroska output has no orientation tag, so the pixels are rotated.
    let baked = try await VerifyTests.mirror(turned, to: folder.path("baked.mkv"))
    let found = try await VerifyTests.differences(turned, baked)
    #expect(found == [])
  }

  @Test("a run with added subtitles passes its own verification")
  func addedSubtitles() async throws {
    let folder = try TemporaryFolder()
    let source = try VerifyTests.source(folder) { $0.sampleCount = 0 }
    try Data("1\n00:00:00,200 --> 00:00:00,600\nHello\n".utf8).write(to: URL(fileURLWithPath: folder.path("a.srt")))
    let mirror = try await VerifyTests.mirror(source, to: folder.path("m.mkv")) { options in
      options.subtitles = folder.path("a.srt")
      options.output.isVerified = true
    }
    #expect(try await VerifyTests.differences(source, mirror) == ["subtitle streams"])
  }

  @Test("a mirror with differences is discarded before it gets its file name")
  func refusedMirror() async throws {
    let folder = try TemporaryFolder()
    let source = try VerifyTests.source(folder) { $0.frameRate = "30/1" }
    await #expect {
      // This profile drops two frames of three.
      _ = try await VerifyTests.mirror(source, to: folder.path("m.mkv")) { options in
        options.encoding.quality = .source
        options.encoding.profile =
          "video/x-matroska:video/x-raw,framerate=10/1->video/x-h264:audio/x-flac"
        options.output.isVerified = true
      }
    } throws: { error in
      (error as? RetrogradeError)?.code == .notAMirror
    }
    #expect(folder.names == ["source.mkv"])
  }

  /// GStreamer scales frames with the interlace flag field by field.
  @Test(
    "a mirror of interlaced video that can't declare interlacing is accepted",
    arguments: ["m.gif", "m.apng", "m%d.png"])
  func interlacingLeftOut(_ name: String) async throws {
    let folder = try TemporaryFolder()
    let source = folder.path("s.mkv")
    let filter = "interlace=scan=tff:lowpass=off,format=yuv420p"
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=96x64:r=50:d=0.4", "-vf", filter, "-c:v", "ffv1", "-level", "3"]
        + ["-field_order", "tt", source])
    let mirror = try await VerifyTests.mirror(source, to: folder.path(name)) { $0.encoding.quality = .source }
    #expect(try await VerifyTests.differences(source, mirror, isLossless: false) == [])
    let forward = folder.path("forward.avi")
    _ = try FFmpeg.bytes(["-i", source, "-c:v", "mjpeg", "-q:v", "2", forward])
    #expect(try await VerifyTests.differences(source, forward, isLossless: false).contains("order"))
  }

  /// Writes an APNG of a red ball that moves over transparent pixels.
  /// - Parameters:
  ///   - hidden: level of red, green and blue in the transparent pixels.
  ///   - isSoft: true if the ball's edge is partly transparent.
  private static func ball(_ folder: TemporaryFolder, hidden: Int, isSoft: Bool) throws -> String {
    let distance = "hypot(X-20-6*N,Y-40)"
    func level(_ value: Int) -> String { "'if(lt(\(distance),20),\(value),\(hidden))'" }
    let alpha = isSoft ? "clip(255*(20-\(distance))/8,0,255)" : "255*lt(\(distance),12)"
    let picture = "format=rgba,geq=r=\(level(200)):g=\(level(60)):b=\(level(40)):a='\(alpha)'"
    let path = folder.path("s.apng")
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "color=white:s=96x80:r=10:d=0.6", "-vf", picture, "-plays", "0", "-f", "apng", path])
    return path
  }

  /// GIF can't store the colours of transparent pixels, and libwebp replaces them.
  @Test(
    "the colours of transparent pixels are not compared",
    arguments: [(0, false), (255, false), (0, true), (255, true)] as [(hidden: Int, isSoft: Bool)],
    ["m.webp", "m.gif", "m.apng"])
  func hiddenColours(ball: (hidden: Int, isSoft: Bool), _ name: String) async throws {
    let folder = try TemporaryFolder()
    let source = try VerifyTests.ball(folder, hidden: ball.hidden, isSoft: ball.isSoft)
    let mirror = try await VerifyTests.mirror(source, to: folder.path(name)) { $0.encoding.quality = .source }
    #expect(try await VerifyTests.differences(source, mirror, isLossless: false) == [])
    if name == "m.webp" {
      let exact = try await VerifyTests.mirror(source, to: folder.path("exact.webp"))
      #expect(try await VerifyTests.differences(source, exact) == [])
    }
  }

  @Test("an empty GIF is not the mirror of a nearly opaque animation")
  func emptyGIF() async throws {
    let folder = try TemporaryFolder()
    let (source, mirror) = (folder.path("a.apng"), folder.path("m.gif"))
    func make(alpha: Int, _ more: String, _ path: String) throws {
      _ = try FFmpeg.bytes([
        "-f", "lavfi", "-i", "testsrc2=d=0.4:r=10:s=96x80", "-vf",
        "hue=s=0,format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='max(\(alpha),255*eq(X,N))'\(more)", path,
      ])
    }
    try make(alpha: 250, "", source)
    try make(alpha: 0, ",reverse,split[a][b];[a]palettegen[p];[b][p]paletteuse", mirror)
    #expect(try await VerifyTests.differences(source, mirror, isLossless: false).contains("order"))
  }

  @Test("a transparent mirror with another alpha or another colour is refused", arguments: ["m.apng", "m.gif"])
  func wrongVisiblePixels(_ name: String) async throws {
    let folder = try TemporaryFolder()
    let source = try VerifyTests.ball(folder, hidden: 255, isSoft: false)
    let colours = "r='r(X,Y)':g='g(X,Y)':b='b(X,Y)'"
    let changes = [
      (isRight: true, pixels: "\(colours):a='alpha(X,Y)'"),
      (isRight: false, pixels: "\(colours):a='alpha(X,Y)*gt(Y,40)'"),
      (isRight: false, pixels: "r='r(X,Y)':g='g(X,Y)*gt(Y,40)+200*lte(Y,40)':b='b(X,Y)':a='alpha(X,Y)'"),
    ]
    let palette = name == "m.gif" ? ",split[a][b];[a]palettegen[p];[b][p]paletteuse" : ""
    for change in changes {
      _ = try FFmpeg.bytes(
        ["-i", source, "-vf", "reverse,format=rgba,geq=\(change.pixels)\(palette)", "-y", folder.path(name)])
      let found = try await VerifyTests.differences(source, folder.path(name), isLossless: false)
      #expect(found.contains("order") != change.isRight, "\(found)")
    }
  }
}
