import Foundation
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Stream metadata that the mirror keeps: colours, orientation, languages, covers.
@Suite struct LabelTests {
  private static let film = ["-f", "lavfi", "-i", "testsrc2=d=0.5:r=10:s=64x48"]
  private static let tone = ["-f", "lavfi", "-i", "sine=d=0.5:r=48000"]

  private func probe(_ path: String, _ fields: String, of streams: String = "v") throws -> [String] {
    let output = try Program.succeed(
      "/usr/bin/ffprobe",
      ["-v", "error", "-select_streams", streams, "-show_entries", fields, "-of", "default=nw=1:nk=1", path]
    ).output
    return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// The sources are small and have no colorimetry, or an incomplete one.
  @Test(
    "the chroma site is kept",
    arguments: [
      ("libx264", "chromaloc=0"), ("libx264", "chromaloc=2"), ("libx265", "chromaloc=0"), ("libx265", "chromaloc=2"),
      ("libx264", "chromaloc=0:transfer=smpte2084"), ("libx264", "chromaloc=0:colorprim=film"),
    ])
  func chromaSite(codec: String, parameters: String) async throws {
    let folder = try TemporaryFolder()
    let key = codec == "libx264" ? "-x264-params" : "-x265-params"
    _ = try FFmpeg.bytes(
      LabelTests.film + [
        "-pix_fmt", "yuv420p", "-c:v", codec, key, "log-level=none:" + parameters, folder.path("a.mkv"),
      ])
    try await Reverser(folder.path("a.mkv")).reverse(to: folder.path("b.mkv"))
    let fields =
      "stream=chroma_location" + (parameters.contains("transfer") ? ",color_transfer" : "")
      + (parameters.contains("colorprim") ? ",color_primaries" : "")
    let own = try probe(folder.path("a.mkv"), fields)
    #expect(try probe(folder.path("b.mkv"), fields) == own)
    #expect(!own.isEmpty && !own.contains("unknown"))
  }

  @Test("a chroma site that the codec can't store is reported")
  func lostChromaSite() async throws {
    let folder = try TemporaryFolder()
    for place in [0, 2] {
      let path = folder.path("\(place).mkv")
      _ = try FFmpeg.bytes(
        LabelTests.film + ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-x264-params", "chromaloc=\(place)", path])
      let warnings = try await Reverser(path).reverse(to: folder.path("\(place).webm")).warnings
      #expect(warnings.contains { $0.message.contains("chroma samples (top left)") } == (place == 2))
    }
  }

  /// In Ogg and MPEG-TS, the stream IDs need not be in the order of the streams.
  @Test("audio streams keep their order", arguments: ["ogg", "ts"])
  func audioOrder(format: String) async throws {
    let folder = try TemporaryFolder()
    let languages = ["eng", "ger", "fra", "spa", "ita", "nld"]
    let expected = format == "ts" ? ["eng", "ger", "fre", "spa", "ita", "dut"] : ["en", "de", "fr", "es", "it", "nl"]
    let path = folder.path("a.\(format == "ts" ? "ts" : "mkv")")
    var arguments = LabelTests.tone
    for (number, language) in languages.enumerated() {
      arguments += ["-map", "0", "-metadata:s:a:\(number)", "language=\(language)"]
      if format == "ts" { arguments += ["-streamid", "\(number):\(400 - 16 * number)"] }
    }
    _ = try FFmpeg.bytes(arguments + ["-c:a", format == "ts" ? "mp2" : "libvorbis", path])
    var options = ReverseOptions()
    options.output.isVerified = true
    let mirror = folder.path("b.\(format == "ts" ? "mkv" : "ogg")")
    try await Reverser(path, options: options).reverse(to: mirror)
    #expect(try probe(mirror, "stream_tags=language", of: "a") == expected)
  }

  @Test("HDR that the output can't store is reported")
  func lostHDR() async throws {
    let folder = try TemporaryFolder()
    let light = "master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1):max-cll=1000,400"
    _ = try FFmpeg.bytes(
      LabelTests.film + [
        "-pix_fmt", "yuv420p10le", "-c:v", "libx265", "-x265-params",
        "log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:hdr10=1:\(light)",
        folder.path("a.mkv"),
      ])
    for output in ["b.avi", "b.gif", "b.ogv"] {
      let warnings = try await Reverser(folder.path("a.mkv")).reverse(to: folder.path(output)).warnings
      #expect(warnings.contains { $0.message.contains("dynamic range (PQ)") }, "\(output)")
    }
    let mirror = try await Reverser(folder.path("a.mkv")).reverse(to: folder.path("b.mp4"))
    #expect(mirror.warnings.isEmpty)
    var packet = try FFmpeg.bytes([
      "-i", folder.path("b.mp4"), "-map", "0:v", "-c", "copy", "-frames:v", "1", "-f", "data", "-",
    ])[...]
    var types: [UInt8] = []
    while packet.count > 4 {
      types.append(packet[packet.startIndex + 4] >> 1)
      packet = packet.dropFirst(4 + packet.prefix(4).reduce(0) { $0 << 8 | Int($1) })
    }
    // NAL types: light level, mastering display and encoder settings (39), before an IDR picture
    // (20).
    #expect(types.filter { $0 < 32 || $0 > 34 } == [39, 39, 39, 20])
    _ = try FFmpeg.bytes(
      ["-i", folder.path("b.mp4"), "-c", "copy", "-bsf:v", "filter_units=remove_types=39", folder.path("bare.mp4")])
    let checks = try await Verifier(folder.path("a.mkv"), mirror: folder.path("bare.mp4")).verify().checks
    #expect(checks.filter { !$0.holds }.map(\.subject) == ["mastering display", "light level"])
  }

  @Test("the HDR10 metadata of H.264 is kept", arguments: ["mp4", "mov", "ts", "mkv"])
  func lightInH264(container: String) async throws {
    let folder = try TemporaryFolder()
    let light = "mastering-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50):cll=1000,400"
    _ = try FFmpeg.bytes(
      LabelTests.film + [
        "-pix_fmt", "yuv420p10le", "-c:v", "libx264", "-x264-params",
        "colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:\(light)", folder.path("a.mp4"),
      ])
    let mirror = folder.path("b.\(container)")
    #expect(try await Reverser(folder.path("a.mp4")).reverse(to: mirror).warnings.isEmpty)
    let checks = try await Verifier(folder.path("a.mp4"), mirror: mirror).verify().checks
    let found = checks.filter { ["mastering display", "light level"].contains($0.subject) }
    #expect(found.count == 2 && found.allSatisfy(\.holds), "\(found)")
    guard container == "mp4" else { return }
    var options = ReverseOptions()
    options.encoding.videoCodec = "vp9"
    let warnings = try await Reverser(folder.path("a.mp4"), options: options).reverse(to: folder.path("c.mp4")).warnings
    #expect(warnings.contains { $0.message.contains("HDR10 metadata (mastering display and light level)") })
  }

  @Test("VP9 declares the matrix of HDR video, and the container declares all colour properties")
  func matrixOfVP9() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(
      LabelTests.film + [
        "-pix_fmt", "yuv420p", "-vf", "setparams=colorspace=bt2020nc:color_primaries=bt2020:color_trc=smpte2084",
        "-c:v", "ffv1", folder.path("a.mkv"),
      ])
    try await Reverser(folder.path("a.mkv")).reverse(to: folder.path("b.webm"))
    _ = try FFmpeg.bytes(["-i", folder.path("b.webm"), "-c", "copy", folder.path("b.ivf")])
    #expect(try probe(folder.path("b.ivf"), "stream=color_space") == ["bt2020nc"])
    #expect(try probe(folder.path("b.webm"), "stream=color_transfer") == ["smpte2084"])
  }

  /// The engine reads the language of PCM and the pixel aspect ratio of PNG from the file itself,
  /// not from GStreamer. PCM samples are also read directly from the file.
  @Test("the languages of PCM and the pixel aspect ratio of PNG in MOV are kept")
  func movLabels() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mov")
    _ = try FFmpeg.bytes(
      LabelTests.film + LabelTests.tone + [
        "-map", "0", "-map", "1", "-map", "1", "-vf", "setsar=2/1", "-c:v", "png", "-c:a", "pcm_s16le",
        "-metadata:s:a:0",
        "language=eng", "-metadata:s:a:1", "language=ger", "-metadata", "date=2020-01-02", path,
      ])
    try await Reverser(path).reverse(to: folder.path("b.mkv"))
    #expect(try probe(folder.path("b.mkv"), "stream_tags=language", of: "a") == ["eng", "ger"])
    #expect(try probe(folder.path("b.mkv"), "stream=sample_aspect_ratio") == ["2:1"])
    #expect(try probe(folder.path("b.mkv"), "format_tags=date") == ["2020-01-02"])
  }

  /// Interlaced MPEG-2 stores the field order with each frame.
  @Test("MPEG-2 keeps its field order", arguments: ["tff", "bff"])
  func fieldOrder(_ order: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mkv")
    _ = try FFmpeg.bytes(
      LabelTests.film + [
        "-vf", "interlace=scan=\(order):lowpass=0,setfield=\(order)", "-c:v", "mpeg2video", "-r", "25", "-bf", "2",
        "-flags", "+ilme+ildct", path,
      ])
    var options = ReverseOptions()
    options.output.isVerified = true
    try await Reverser(path, options: options).reverse(to: folder.path("b.mp4"))
    let first = try probe(folder.path("b.mp4"), "frame=top_field_first").filter { ["0", "1"].contains($0) }
    #expect(Set(first) == [order == "tff" ? "0" : "1"])
  }

  /// The first argument contains four entries of the matrix in the track header (ISO/IEC 14496-12,
  /// 8.3.2), in 16.16 fixed point.
  @Test(
    "rotation in a display matrix is kept; scale and skew are reported",
    arguments: [
      ([0x2_0000, 0, 0, 0x1_0000], nil, "scale in the display matrix"),
      ([0, 0x2_0000, -0x2_0000, 0], "-90", nil), ([-0x3_0000, 0, 0, -0x3_0000], "-180", nil),
      ([0xB504, 0xB504, -0xB504, 0xB504], nil, "skew in the display matrix"),
    ] as [([Int], String?, String?)])
  func displayMatrix(values: [Int], rotation: String?, words: String?) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mp4")
    _ = try FFmpeg.bytes(LabelTests.film + ["-c:v", "mpeg4", path])
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let header = try #require(bytes.range(of: Data("tkhd".utf8)))
    for (value, place) in zip(values, [0, 4, 12, 16]) {
      let start = header.upperBound + 40 + place
      bytes.replaceSubrange(
        start..<start + 4, with: withUnsafeBytes(of: Int32(value).bigEndian) { Data($0) })
    }
    try bytes.write(to: URL(fileURLWithPath: path))
    let summary = try await Reverser(path).reverse(to: folder.path("b.mp4"))
    #expect(try probe(folder.path("b.mp4"), "stream_side_data=rotation") == [rotation].compactMap { $0 })
    let reported = summary.warnings.filter { $0.message.contains("display matrix") }
    #expect(reported.count == (words == nil ? 0 : 1))
    if let words { #expect(reported.first?.message.contains(words) ?? false) }
  }

  @Test(
    "a preferred transfer function in SEI is reported if it differs from the declared one",
    arguments: [("bt2020-10", true), ("arib-std-b67", false)])
  func alternativeTransfer(declared: String, isReported: Bool) async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(
      LabelTests.film + [
        "-pix_fmt", "yuv420p10le", "-c:v", "libx265", "-x265-params",
        "log-level=none:atc-sei=18:colorprim=bt2020:transfer=\(declared):colormatrix=bt2020nc", folder.path("a.mp4"),
      ])
    let warnings = try await Reverser(folder.path("a.mp4")).reverse(to: folder.path("b.mp4")).warnings
    #expect(warnings.contains { $0.message.contains("preferred transfer function (HLG)") } == isReported)
  }

  @Test("colorimetry that GStreamer does not know is reported", arguments: ["a.mkv", "a.mp4"])
  func unknownColorimetry(name: String) async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(
      LabelTests.film + [
        "-vf", "format=yuv420p,setparams=colorspace=ycgco:color_trc=smpte428:color_primaries=film", "-c:v", "libx264",
        folder.path(name),
      ])
    let messages = try await Reverser(folder.path(name)).plan().warnings.map(\.message)
    for words in ["matrix (YCgCo)", "transfer function (SMPTE 428)"] {
      #expect(messages.contains { $0.contains(words) }, "\(words): \(messages)")
    }
  }

  @Test(
    "the language of audio is kept or reported",
    arguments: [("b.mp3", "deu"), ("b.flac", "de"), ("b.ogg", "de"), ("b.mka", "ger"), ("b.wav", nil), ("b.avi", nil)])
  func audioLanguage(output: String, kept: String?) async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(LabelTests.tone + ["-c:a", "flac", "-metadata:s:a", "language=deu", folder.path("a.mka")])
    var options = ReverseOptions()
    options.output.isVerified = true
    let summary = try await Reverser(folder.path("a.mka"), options: options).reverse(to: folder.path(output))
    let found = summary.warnings.map { "\($0.message)" }.filter { $0.contains("language") }
    let warning = "left out: the language of a stream (de), which this container can't hold"
    #expect(found == (kept == nil ? [warning] : []))
    let languages = try probe(folder.path(output), "format_tags=language:stream_tags=language", of: "a")
    #expect(languages == [kept].compactMap { $0 })
    // A mirror of the mirror has the language of the track again.
    guard kept != nil else { return }
    try await Reverser(folder.path(output), options: options).reverse(to: folder.path("c.mkv"))
    #expect(try probe(folder.path("c.mkv"), "stream_tags=language", of: "a") == ["ger"])
  }

  /// FLAC stores the language as text (`deu`); other containers store a code of their own.
  @Test("verify treats two codes of one language as equal", arguments: ["b.mka", "b.m4a", "b.ogg"])
  func languageCode(output: String) async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(LabelTests.tone + ["-metadata", "language=deu", folder.path("a.flac")])
    var options = ReverseOptions()
    options.output.isVerified = true
    try await Reverser(folder.path("a.flac"), options: options).reverse(to: folder.path(output))
    let found = try probe(folder.path(output), "format_tags=language:stream_tags=language", of: "a")
    #expect(found.count == 1 && ["ger", "deu", "de"].contains(found[0]), "\(found)")
  }

  @Test("a file's language tag may become its audio's language", arguments: ["b.flac", "b.ogg"])
  func languageOfFile(output: String) async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(LabelTests.tone + ["-c:a", "flac", "-metadata", "language=eng", folder.path("a.mka")])
    var options = ReverseOptions()
    options.output.isVerified = true
    try await Reverser(folder.path("a.mka"), options: options).reverse(to: folder.path(output))
    let found = try probe(folder.path(output), "format_tags=language:stream_tags=language", of: "a")
    #expect(found == ["eng"])
  }

  @Test("the language of a file is reported as lost if its audio has another one", arguments: ["b.flac", "b.ogg"])
  func lostLanguageOfFile(output: String) async throws {
    let folder = try TemporaryFolder()
    let languages = ["-metadata", "language=eng", "-metadata:s:a", "language=deu"]
    _ = try FFmpeg.bytes(LabelTests.tone + ["-c:a", "flac"] + languages + [folder.path("a.mka")])
    let summary = try await Reverser(folder.path("a.mka")).reverse(to: folder.path(output))
    let found = summary.warnings.map { "\($0.message)" }
    #expect(found == ["left out: the tag LANGUAGE, which this container's muxer does not write"])
    #expect(try probe(folder.path(output), "format_tags=language:stream_tags=language", of: "a") == ["de"])
  }

  /// In Matroska, the priming of AAC delays all streams.
  @Test("in audio without video, verify accepts chapters that are late by the priming")
  func primedChapters() async throws {
    let folder = try TemporaryFolder()
    let chapters =
      ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/10\nSTART=0\nEND=2\ntitle=One\n"
      + "[CHAPTER]\nTIMEBASE=1/10\nSTART=2\nEND=5\ntitle=Two\n"
    try Data(chapters.utf8).write(to: URL(fileURLWithPath: folder.path("c.txt")))
    _ = try FFmpeg.bytes(
      LabelTests.tone + ["-i", folder.path("c.txt"), "-map", "0", "-map_chapters", "1", "-c:a", "aac"]
        + [folder.path("a.m4a")])
    var options = ReverseOptions()
    options.output.isVerified = true
    let summary = try await Reverser(folder.path("a.m4a"), options: options).reverse(to: folder.path("b.mka"))
    #expect(summary.warnings.map { "\($0.message)" } == [])
  }

  @Test("an undefined language does not become a tag", arguments: ["b.flac", "b.ogg"])
  func undefinedLanguage(output: String) async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(LabelTests.tone + ["-c:a", "flac", folder.path("a.mka")])
    try await Reverser(folder.path("a.mka")).reverse(to: folder.path(output))
    #expect(try probe(folder.path(output), "format_tags=language:stream_tags=language", of: "a").isEmpty)
  }

  @Test("languages, flags and chapters that the output can't store are reported")
  func lostLabels() async throws {
    let folder = try TemporaryFolder()
    let chapters = """
      ;FFMETADATA1
      [CHAPTER]
      TIMEBASE=1/1000
      START=0
      END=300
      title=first
      [CHAPTER]
      TIMEBASE=1/1000
      START=5000
      END=6000
      title=late
      """
    try Data(chapters.utf8).write(to: URL(fileURLWithPath: folder.path("c.txt")))
    _ = try FFmpeg.bytes(
      LabelTests.film + LabelTests.tone + [
        "-i", folder.path("c.txt"), "-map", "0", "-map", "1", "-map_chapters", "2", "-c:v", "libx264",
        "-metadata:s:a:0",
        "language=zh-Hans", "-disposition:a:0", "default+comment+hearing_impaired", folder.path("a.mkv"),
      ])
    var options = ReverseOptions()
    options.output.isVerified = true
    let summary = try await Reverser(folder.path("a.mkv"), options: options).reverse(to: folder.path("b.mkv"))
    let messages = summary.warnings.map(\.message)
    for words in ["zh-Hans", "FlagHearingImpaired", "FlagCommentary", "begins at the end of the source"] {
      #expect(messages.contains { $0.contains(words) }, "\(words): \(messages)")
    }
    #expect(try probe(folder.path("b.mkv"), "stream_tags=language", of: "a") == ["chi"])
  }

  /// The source has two covers. qtmux writes only the first one, Opus in Ogg gets one, and Matroska
  /// gets none.
  @Test(
    "covers that are not written are reported",
    arguments: [("b.flac", 2), ("b.mp3", 2), ("b.m4a", 1), ("b.opus", 1), ("b.mka", 0)])
  func covers(output: String, count: Int) async throws {
    let folder = try TemporaryFolder()
    let colours = ["red", "blue"]
    for colour in colours {
      _ = try FFmpeg.bytes([
        "-f", "lavfi", "-i", "color=\(colour):s=32x32", "-frames:v", "1", folder.path("\(colour).png"),
      ])
    }
    _ = try FFmpeg.bytes(
      LabelTests.tone + colours.flatMap { ["-i", folder.path("\($0).png")] } + [
        "-map", "0", "-map", "1", "-map", "2", "-c:v", "copy", "-disposition:v", "attached_pic", "-metadata:s:v:0",
        "comment=Cover (front)", "-metadata:s:v:1", "comment=Cover (back)", folder.path("a.mp3"),
      ])
    func pictures(_ name: String) throws -> [String] {
      let sums = try Program.succeed(
        "/usr/bin/ffmpeg",
        [
          "-v", "error", "-i", folder.path(name), "-map", "0:v?", "-map", "0:a", "-c:v", "copy", "-f", "streamhash",
          "-",
        ])
      return String(decoding: sums.output, as: UTF8.self).split(separator: "\n").filter { $0.contains(",v,") }
        .compactMap { $0.split(separator: "=").last.map(String.init) }
    }
    let summary = try await Reverser(folder.path("a.mp3")).reverse(to: folder.path(output))
    #expect(try pictures(output) == Array(pictures("a.mp3").prefix(count)))
    #expect(summary.warnings.contains { $0.message.contains("cover") && $0.count == 2 - count } == (count < 2))
  }
}
