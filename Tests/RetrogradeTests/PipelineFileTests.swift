import Foundation
import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Pipeline files, whose format is described in docs/pipeline-files.md.
@Suite struct PipelineFileTests {
  private let small = """
    # One line of summary.

    filesrc location=${input} ! decodebin ! appsink name=v
    ---
    appsrc name=v ! textoverlay text="${text=a b}" ! fakesink name=${name=plain}
    """

  @Test("the default and the position of each parameter are read")
  func parameterDefaults() throws {
    let file = try PipelineFile(small, name: "f")
    #expect(file.summary == "One line of summary.")
    #expect(file.parameters.map(\.name) == ["input", "text", "name"])
    #expect(file.parameters.map(\.fallback) == [nil, "a b", "plain"])
    #expect(file.parameters[0].place == PipelineFile.Place(line: 3, column: 18))
  }

  @Test("a file with a byte order mark and CRLF is read")
  func windowsFile() throws {
    let file = try PipelineFile("\u{FEFF}" + small.replacing("\n", with: "\r\n"), name: "f")
    let plain = try PipelineFile(small, name: "f")
    #expect(file.summary == plain.summary)
    #expect(file.parameters == plain.parameters)
    let values = ["input": "a.mp4"]
    #expect(try file.resolved(values).encoding == plain.resolved(values).encoding)
  }

  @Test(
    "a value is never parsed as pipeline syntax",
    arguments: [
      "plain", "two words", "a \"quoted\" word", "back\\slash", "one ! fakesink", "$x ${input} $$", "it's", "ünï", "",
      " ", "a=b;c",
      "\\\"", "'", "# no comment", "@no setting", "---",
    ])
  func literalValue(value: String) throws {
    let resolved = try PipelineFile(small, name: "f").resolved(["input": value, "text": value])
    let decoding = try Pipeline(resolved.decoding)
    #expect(decoding.elements(ofFactory: "filesrc").first?.string("location") ?? "" == value)
    let encoding = try Pipeline(resolved.encoding)
    #expect(encoding.elements(ofFactory: "textoverlay").first?.string("text") == Markup.escaped(value))
    #expect(encoding.elements(ofFactory: "fakesink").count == 1)
  }

  private static let black =
    "videotestsrc num-buffers=2 pattern=black ! video/x-raw,format=I420,width=320,height=64,framerate=25/1"

  /// Each case gives a property, the caption, and the markup that shows the caption literally.
  @Test(
    "a caption shows every character literally",
    arguments: [
      (#"text="${caption}""#, #"It works! "q" $x & <b>"#, "It works! &#34;q&#34; $x &#38; &#60;b&#62;"),
      ("text=${caption}", "a<b", "a&#60;b"),
      ("halignment=left\n  text = \"- ${caption}\"", "&amp;", "- &#38;amp;"),
      ("text=\"<b>${caption}</b>\"", "R & D", "<b>R &#38; D</b>"),
    ])
  func literalCaption(property: String, caption: String, markup: String) async throws {
    let folder = try TemporaryFolder()
    let file = try PipelineFile(
      """
      \(PipelineFileTests.black) ! appsink name=v
      ---
      appsrc name=v ! textoverlay \(property) ! avenc_ffv1 ! matroskamux ! filesink location=${output}
      """, name: "f")
    _ = try await file.start(["caption": caption, "output": folder.path("o.mkv")]).summary()
    let shown = try DecodedMedia.buffers(
      of:
        "filesrc location=\(folder.path("o.mkv")) ! matroskademux ! avdec_ffv1 ! videoconvert ! video/x-raw,format=I420"
    )
    let alignment = property.contains("left") ? "left" : "center"
    let wanted = try DecodedMedia.buffers(
      of: "\(PipelineFileTests.black) ! textoverlay halignment=\(alignment) text=\(Description.quoted(markup))")
    let blank = try DecodedMedia.buffers(of: PipelineFileTests.black)
    #expect(shown.count == 2)
    let (isSame, isDrawn) = (shown == wanted, wanted != blank)
    #expect(isSame)
    #expect(isDrawn)
  }

  @Test("only values of properties that accept markup are escaped")
  func markupEscaping() throws {
    let file = try PipelineFile(
      """
      filesrc location=${name} ! appsink name=v
      ---
      appsrc name=v ! textoverlay text=x font-desc=${name} ! identity ! filesink location="${name}"
      """, name: "f")
    let resolved = try file.resolved(["name": "R&D <1>"])
    #expect(try Pipeline(resolved.decoding).elements(ofFactory: "filesrc").first?.string("location") == "R&D <1>")
    #expect(try Pipeline(resolved.encoding).elements(ofFactory: "filesink").first?.string("location") == "R&D <1>")
  }

  @Test(
    "errors in a pipeline file have a line and a column",
    arguments: [
      ("a ! b", "f:1:1", "---"), ("a\n---\nb\n---\nc", "f:4:1", "only one"),
      ("x ! ${1} y\n---\nb", "f:1:5", "parameter"),
      ("x ${abc\n---\nb", "f:1:3", "the closing }"), ("x '${abc}'\n---\nb", "f:1:4", "single quotes"),
    ])
  func errorPositions(text: String, place: String, words: String) throws {
    let error = #expect(throws: RetrogradeError.self) { try PipelineFile(text, name: "f") }
    #expect(error?.message.hasPrefix(place + ":") ?? false, "\(error?.message ?? "")")
    #expect(error?.message.contains(words) ?? false)
  }

  @Test(
    "checking a pipeline file finds pipelines that can't run",
    arguments: [
      ("filesrc location=${input} ! nosuchelement ! appsink name=v\n---\nappsrc name=v ! fakesink", "f:1:29: "),
      ("videotestsrc ! appsink name=v\n---\nappsrc name=v !\n  identity nosuch=1 ! fakesink", "f:4:12: "),
      ("videotestsrc ! appsink name=v\n---\nappsrc name=w ! fakesink", "f:1:1: "),
      ("videotestsrc ! fakesink\n---\nappsrc name=w ! fakesink", "f:1:1: "),
      ("@loop sideways\nvideotestsrc ! appsink name=v\n---\nappsrc name=v ! fakesink", "f:1:1: "),
    ])
  func failingCheck(text: String, place: String) async throws {
    let file = try PipelineFile(text, name: "f")
    let values = file.parameters.isEmpty ? [:] : ["input": "x"]
    let error = await #expect(throws: RetrogradeError.self) { try await file.check(values) }
    #expect(error?.message.hasPrefix(place) ?? false, "\(error?.message ?? "")")
  }

  @Test("missing and unknown values are reported")
  func missingValues() throws {
    let file = try PipelineFile(small, name: "f")
    #expect(throws: RetrogradeError.self) { try file.resolved([:]) }
    let error = #expect(throws: RetrogradeError.self) { try file.resolved(["input": "x", "inptu": "y"]) }
    #expect(error?.message.contains("inptu") ?? false)
  }

  /// Writes two seconds of numbered frames and audio.
  private func clip(_ folder: TemporaryFolder) throws -> (path: String, media: TestMedia) {
    var media = TestMedia()
    media.width = 192
    media.height = 128
    media.times = TestMedia.regular(50, rate: 25)
    media.sampleCount = 96_000
    media.muxer = "matroskamux"
    media.name = "source.mkv"
    return (try media.write(to: folder), media)
  }

  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "pipelines")

  @Test("every shipped pipeline file is tested")
  func allFilesTested() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: PipelineFileTests.folder.path)
    #expect(Set(names) == Set(PipelineFileTests.shipped.map { $0.file + ".pipeline" }), "each is tested below")
  }

  /// The shipped pipeline files, each with parameters and an output.
  static let shipped: [(file: String, values: [String: String], output: String)] = [
    ("h264-mp4", [:], "o.mp4"), ("webm", [:], "o.webm"), ("prores", [:], "o.mov"), ("lossless", [:], "o.mkv"),
    ("audio-flac", [:], "o.flac"), ("ping-pong", ["count": "1"], "o.mp4"),
    ("crop-scale", ["width": "96", "height": "64"], "o.mp4"),
    ("caption", ["caption": "It's \"done\" ! $5", "place": "top"], "o.mp4"), ("deinterlace", [:], "o.mp4"),
    ("capture", ["source": "videotestsrc", "frames": "20"], "o.mp4"), ("hls", ["seconds": "1"], "playlist.m3u8"),
    ("thumbnails", ["rate": "5/1"], "out000.png"),
  ]

  @Test("each shipped pipeline file runs", arguments: shipped.indices)
  func shippedFiles(index: Int) async throws {
    let (name, given, output) = PipelineFileTests.shipped[index]
    let folder = try TemporaryFolder()
    let (source, media) = try clip(folder)
    let file = try PipelineFile(path: PipelineFileTests.folder.appending(path: "\(name).pipeline").path)
    #expect(!file.summary.isEmpty)
    var values = given
    for parameter in file.parameters where values[parameter.name] == nil {
      switch parameter.name {
      case "input": values["input"] = source
      case "output": values["output"] = folder.path(output)
      case "folder": values["folder"] = folder.url.path
      default: #expect(parameter.fallback != nil, "\(parameter.name) can be left out")
      }
    }
    let summary = try await file.start(values).summary()
    #expect(folder.names.contains(output))
    #expect(folder.names.allSatisfy { !$0.hasPrefix(".") }, "nothing else is left behind")
    var like = TestMedia()
    like.sampleCount = 0
    switch name {
    case "h264-mp4", "webm", "prores", "lossless", "crop-scale":
      #expect(try DecodedMedia(folder.path(output), like: like).numbers == (0..<media.frameCount).reversed())
    case "ping-pong":
      #expect(
        try DecodedMedia(folder.path(output), like: like).numbers == Array(0..<50) + Array((0..<49).reversed()))
    case "audio-flac":
      #expect(summary.samples == [96_000])
    case "capture": #expect(summary.frames == 39)
    case "thumbnails":
      #expect(folder.names.count(where: { $0.hasSuffix(".png") }) == summary.frames && summary.frames > 8)
    case "hls": #expect(folder.names.count(where: { $0.hasSuffix(".ts") }) >= 1)
    default: #expect(summary.frames >= media.frameCount)
    }
  }

  @Test("a stream that the source lacks is left out, and a warning reports it")
  func missingStream() async throws {
    let folder = try TemporaryFolder()
    let media = TestMedia()
    let source = try media.write(to: folder)
    let file = try PipelineFile(path: PipelineFileTests.folder.appending(path: "h264-mp4.pipeline").path)
    let summary = try await file.start(["input": source, "output": folder.path("o.mp4")]).summary()
    #expect(
      summary.warnings.filter { $0.code == .streamLeftOut } == [
        Warning(.streamLeftOut, "left out: the stream of appsink audio, which received no data")
      ])
    #expect(try DecodedMedia(folder.path("o.mp4"), like: media).numbers == (0..<media.frameCount).reversed())
  }

  @Test("a truncated source is reported")
  func truncatedSource() async throws {
    let folder = try TemporaryFolder()
    let (whole, _) = try clip(folder)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: whole))
    let cut = folder.path("cut.mkv")
    try bytes.prefix(bytes.count * 3 / 4).write(to: URL(fileURLWithPath: cut))
    let file = try PipelineFile(path: PipelineFileTests.folder.appending(path: "lossless.pipeline").path)
    let summary = try await file.start(["input": cut, "output": folder.path("o.mkv")]).summary()
    #expect(summary.warnings.contains { $0.code == .truncated && $0.message.contains(cut) }, "\(summary.warnings)")
    var options = ReverseOptions()
    options.output.isStrict = true
    let error = await #expect(throws: RetrogradeError.self) {
      try await file.start(["input": cut, "output": folder.path("strict.mkv")], options: options).summary()
    }
    #expect(error?.code == .damagedInput)
    #expect(!folder.names.contains("strict.mkv"))
  }

  /// The first AAC packet produces no output. GStreamer sets the timestamp of this packet on the
  /// first decoded buffer, which is then 21 ms early.
  @Test("audio from decodebin stays in sync")
  func decodebinAudio() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.muxer = "mp4mux"
    media.audio = "avenc_aac ! aacparse"
    media.sampleCount = 96_000
    media.click = 30_000
    let source = try media.write(to: folder)
    try await Reverser(source, options: PipelineFileTests.lossless).reverse(to: folder.path("a.mkv"))
    let file = try PipelineFile(path: PipelineFileTests.folder.appending(path: "lossless.pipeline").path)
    _ = try await file.start(["input": source, "output": folder.path("b.mkv")]).summary()
    let direct = try DecodedMedia(folder.path("a.mkv"), like: media)
    let run = try DecodedMedia(folder.path("b.mkv"), like: media)
    #expect(direct.audioStart == run.audioStart)
    let isSame = direct.audio == run.audio
    #expect(isSame)
  }

  private static var lossless: ReverseOptions {
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    return options
  }

  @Test("a printed pipeline writes the same bytes as `Reverser`")
  func printedPipeline() async throws {
    let folder = try TemporaryFolder()
    let (source, _) = try clip(folder)
    var options = ReverseOptions()
    options.playback.loop = .pingPong
    options.resources.memory = ByteCount(1 << 20)
    let reverser = Reverser(source, options: options)
    let printed = try await reverser.pipelines(to: folder.path("a.ts")).file
    try await reverser.reverse(to: folder.path("a.ts"))
    let direct = try Data(contentsOf: folder.url.appending(path: "a.ts"))
    options.output.overwrites = true
    _ = try await PipelineFile(printed, name: "printed").start([:], options: options).summary()
    let run = try Data(contentsOf: folder.url.appending(path: "a.ts"))
    #expect(run.count == direct.count)
    let isSame = run == direct
    #expect(isSame)
  }

  @Test("every playback option is printed and read back")
  func printedSettings() throws {
    var options = ReverseOptions()
    options.playback = PlaybackOptions(
      loop: .pingPong, score: try Score(parsing: "0..1, 1..0 x2"), joint: .seconds(0.5),
      dissolve: .seconds(2), interpolation: .blend, keepsPitch: true, count: 3, dropsSeam: false,
      timing: .source, start: .time(.seconds(1)), end: .frame(50), frameRate: FrameRate(30000, 1001))
    options.playback.streams = .played
    options.encoding.encoder = "x264enc"
    let lines =
      PipelineSettings(options: options, orientation: "rotate-90").lines
      + [#"@tags taglist, title=(string)"a b""#]
    let text = (lines.map(PipelineFile.literal) + [small]).joined(separator: "\n")
    let pipelines = try PipelineFile(text, name: "f").resolved(["input": "x"])
    let read = try PipelineSettings(pipelines, ReverseOptions())
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    #expect(try encoder.encode(read.options.playback) == encoder.encode(options.playback))
    #expect(read.orientation == "rotate-90" && read.tags?.string("title") == "a b")
    #expect(read.options.encoding.encoder == "x264enc")
    #expect(PipelineSettings(options: ReverseOptions()).lines.isEmpty)
  }

  @Test("the error for an unknown setting lists all settings")
  func unknownSetting() async throws {
    let file = try PipelineFile(
      "@fbs 10\nvideotestsrc ! appsink name=v\n---\nappsrc name=v ! fakesink", name: "f")
    let error = await #expect(throws: RetrogradeError.self) { try await file.check([:]) }
    for word in ["no setting @fbs", "@fps RATE", "@score SCORE", "@pitch follow|keep", "@tags TAGLIST"] {
      #expect(error?.message.contains(word) ?? false, "\(word)")
    }
  }

  @Test("a printed pipeline outputs the requested frame rate")
  func printedRate() async throws {
    let folder = try TemporaryFolder()
    var options = ReverseOptions()
    options.playback.frameRate = FrameRate(10, 1)
    let reverser = Reverser(try clip(folder).path, options: options)
    let printed = try await reverser.pipelines(to: folder.path("a.ts")).file
    try await reverser.reverse(to: folder.path("a.ts"))
    let direct = try Data(contentsOf: folder.url.appending(path: "a.ts"))
    options.output.overwrites = true
    let file = try PipelineFile(printed, name: "printed")
    #expect(try await file.start([:], options: options).summary().frames == 20)
    let isSame = try Data(contentsOf: folder.url.appending(path: "a.ts")) == direct
    #expect(isSame)
  }

  @Test("options that a pipeline file can't express are refused")
  func unprintableOptions() async throws {
    let folder = try TemporaryFolder()
    let source = try clip(folder).path
    let settings: [(Setting, (inout ReverseOptions) -> Void)] = [
      (.soundtrack, { $0.soundtrack = source }), (.subtitles, { $0.subtitles = "a.srt" }),
      (.subtitlesOutput, { $0.output.subtitles = "b.srt" }),
      (.isVerified, { $0.output.isVerified = true }),
    ]
    for (setting, change) in settings {
      var options = ReverseOptions()
      change(&options)
      let error = await #expect(throws: RetrogradeError.self) {
        try await Reverser(source, options: options).pipelines(to: folder.path("a.mp4"))
      }
      #expect(error?.code == .usage && error?.description.contains(setting.rawValue) ?? false)
    }
  }

  @Test("an existing output is refused, and no other file is left")
  func existingOutput() async throws {
    let folder = try TemporaryFolder()
    let (source, _) = try clip(folder)
    try Data("mine".utf8).write(to: folder.url.appending(path: "o.mkv"))
    let file = try PipelineFile(path: PipelineFileTests.folder.appending(path: "lossless.pipeline").path)
    let values = ["input": source, "output": folder.path("o.mkv")]
    let error = await #expect(throws: RetrogradeError.self) { try await file.start(values).summary() }
    #expect(error?.code == .cannotCreateOutput)
    #expect(Set(folder.names) == ["source.mkv", "o.mkv"])
    let same = await #expect(throws: RetrogradeError.self) {
      var options = ReverseOptions()
      options.output.overwrites = true
      return try await file.start(["input": source, "output": source], options: options).summary()
    }
    #expect(same?.code == .cannotCreateOutput)
  }

  @Test(
    "an output that is also the input is refused for any file name and source element",
    arguments: ["filesrc location=${input} ! decodebin", "uridecodebin uri=file://${input}"])
  func inputAsOutput(reading: String) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.name = "50%.mp4"
    let source = try media.write(to: folder)
    let before = try Data(contentsOf: URL(fileURLWithPath: source))
    // A URI contains a percent sign as %25.
    let input = reading.contains("uri=") ? source.replacing("%", with: "%25") : source
    let file = try PipelineFile(
      "\(reading) ! video/x-raw ! videoconvert ! appsink name=v\n---\n"
        + "appsrc name=v ! videoconvert ! x264enc ! mp4mux ! filesink location=${output}", name: "f")
    var options = ReverseOptions()
    options.output.overwrites = true
    let error = await #expect(throws: RetrogradeError.self) {
      try await file.start(["input": input, "output": source], options: options).summary()
    }
    #expect(error?.code == .cannotCreateOutput)
    #expect(try Data(contentsOf: URL(fileURLWithPath: source)) == before)
  }

  /// If frames have no rate, videorate 1.22 repeats them endlessly.
  @Test(
    "changing the speed of frames without a rate is refused", arguments: ["videorate rate=0.5", "identity"],
    ["videorate rate=2.0", "identity"])
  func speedWithoutRate(first: String, second: String) async throws {
    guard first != second else { return }
    let folder = try TemporaryFolder()
    let file = try PipelineFile(
      """
      videotestsrc num-buffers=30 ! video/x-raw,width=96,height=64,framerate=30/1
        ! capssetter caps="video/x-raw,framerate=(fraction)0/1" ! \(first) ! appsink name=video
      ---
      appsrc name=video ! \(second) ! videoconvert ! vp8enc deadline=1 ! webmmux ! filesink location=\(folder.path("o.webm"))
      """, name: "f")
    let error = await #expect(throws: RetrogradeError.self) { try await file.start([:]).summary() }
    #expect(error?.message.contains("framerate=0/1") ?? false, "\(String(describing: error))")
    #expect(folder.names.isEmpty)
  }
}
