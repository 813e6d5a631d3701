import Foundation
import Containers
import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Everything in a source except the first video and the first audio: subtitles, chapters, tags and
/// further streams.
@Suite struct PresentationTests {
  private static let film =
    "videotestsrc num-buffers=50 ! video/x-raw,width=96,height=64,framerate=25/1 ! x264enc ! h264parse"

  /// Runs a pipeline to its end.
  private func make(_ description: String, _ prepare: (Pipeline) throws -> Void = { _ in }) throws {
    let pipeline = try Pipeline(description)
    defer { pipeline.set(.null) }
    try prepare(pipeline)
    pipeline.set(.playing)
    while let message = pipeline.nextMessage(timeout: ClockTime(seconds: 30)) {
      if case .endOfStream = message { return }
      if case .failed(let error) = message { throw error }
    }
    throw GStreamerError(kind: .other, element: nil, message: "no end", debug: nil)
  }

  /// Indexes a file.
  private func index(_ path: String) throws -> SourceIndex {
    try PlayableSource.open([path], ReverseOptions(), Work()).index
  }

  private func texts(_ track: SubtitleTrack?) -> [String] {
    (track?.texts(isWeb: false) ?? []).map {
      "\($0.span.start.nanoseconds / 1_000_000)-\($0.span.end.nanoseconds / 1_000_000) \($0.text)"
    }
  }

  private let srt = """
    1
    00:00:00,200 --> 00:00:00,600
    First <i>line</i>

    2
    00:00:01,000 --> 00:00:01,500
    Second & last

    """

  @Test(
    "subtitles are shown at their reversed times",
    arguments: [("a.mkv", "First <i>line</i>"), ("a.mp4", "First line"), ("a.mov", "First line")])
  func subtitles(_ output: String, _ first: String) async throws {
    let folder = try TemporaryFolder()
    try Data(srt.utf8).write(to: URL(fileURLWithPath: folder.path("a.srt")))
    try make(
      "matroskamux name=m ! filesink location=\(folder.path("in.mkv"))\n\(PresentationTests.film) ! queue ! m.\n"
        + "filesrc location=\(folder.path("a.srt")) ! subparse ! text/x-raw,format=pango-markup ! capssetter replace=true "
        + "caps=text/x-raw,format=utf8 ! taginject tags=\"language-code=fr,title=\\\"Signs\\\\ and\\\\ songs\\\"\" ! queue ! m."
    )
    let source = try index(folder.path("in.mkv"))
    #expect(texts(source.subtitles.first) == ["200-600 First <i>line</i>", "1000-1500 Second & last"])
    let summary = try await Reverser(folder.path("in.mkv")).reverse(to: folder.path(output))
    #expect(summary.warnings.isEmpty)
    let mirror = try index(folder.path(output))
    #expect(texts(mirror.subtitles.first) == ["500-1000 Second & last", "1400-1800 \(first)"])
    #expect(mirror.subtitles.first?.tags?.string("language-code") == "fr")
    if output == "a.mkv" { #expect(mirror.subtitles.first?.tags?.string("title") == "Signs and songs") }
  }

  @Test("subtitles follow the direction of each leg of a loop")
  func loopedSubtitles() {
    let track = SubtitleTrack(
      caps: Caps("text/x-raw,format=utf8")!, tags: nil,
      cues: [
        Cue(span: TimeSpan(start: ms(100), end: ms(300)), bytes: [65]),
        Cue(span: TimeSpan(start: ms(900), end: ms(1100)), bytes: [66]),
      ])
    let timeline = VideoTimeline(starts: (0..<25).map { ms($0 * 40) }, end: ms(1000))
    let legs = PlaybackLegs(
      .pingPong, count: 1, Presentation(TimeSpan(start: .zero, end: ms(1000))), timeline: timeline)
    let played = track.played(legs.all)
    #expect(played.map(\.bytes) == [[65], [66], [66], [65]])
    #expect(played.map(\.span.start) == [100, 900, 1000, 1660].map(ms))
    #expect(played.map(\.span.end) == [300, 1000, 1060, 1860].map(ms))
  }

  private func ms(_ value: Int) -> ClockTime { ClockTime(nanoseconds: Int64(value) * 1_000_000) }

  @Test("ASS cues are renumbered and can be read as text")
  func assCues() {
    let line = "7,0,Default,,0,0,0,,{\\i1}Hello,{\\i0} you\\Nthere"
    #expect(SubtitleText.line(line) == "Hello, you\nthere")
    #expect(SubtitleText.plain("<b>a</b> &lt; <span color=\"red\">b</span> &amp; c") == "a < b & c")
    let script = SubtitleTrack(
      caps: Caps("application/x-ass")!, tags: nil,
      cues: [Cue(span: TimeSpan(start: .zero, end: ms(10)), bytes: Array(line.utf8))])
    let numbered = script.renumbered(script.cues + script.cues)
    #expect(numbered.map { String(decoding: $0.bytes.prefix(2), as: UTF8.self) } == ["0,", "1,"])
    let mp4 = try? script.form(for: Container.of("a.mp4"))
    #expect(mp4.flatMap { texts($0) } == ["0-10 Hello, you\nthere"])
    #expect((try? Container.of("a.webm")).flatMap { script.form(for: $0) } == nil)
  }

  /// Matroska stores ASS scripts unchanged. MP4 can show only one cue at a time.
  @Test("ASS subtitles keep their styles")
  func scriptStyles() async throws {
    let folder = try TemporaryFolder()
    let script = """
      [Script Info]
      ScriptType: v4.00+

      [V4+ Styles]
      Format: Name, Fontname, Fontsize, PrimaryColour, Alignment
      Style: Default,Arial,16,&Hffffff,2
      Style: Red,Arial,16,&H0000ff,8

      [Events]
      Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
      Dialogue: 0,0:00:00.20,0:00:01.00,Red,Bob,5,6,7,,{\\i1}Hello{\\i0}, you
      Dialogue: 0,0:00:00.60,0:00:01.40,Default,,0,0,0,,and you

      """
    try Data(script.utf8).write(to: URL(fileURLWithPath: folder.path("a.ass")))
    try make("\(PresentationTests.film) ! matroskamux ! filesink location=\(folder.path("film.mkv"))")
    _ = try FFmpeg.bytes([
      "-i", folder.path("film.mkv"), "-i", folder.path("a.ass"), "-map", "0", "-map", "1", "-c", "copy",
      folder.path("a.mkv"),
    ])
    var options = ReverseOptions()
    options.output.isVerified = true
    let reverser = Reverser(folder.path("a.mkv"), options: options)
    try await reverser.reverse(to: folder.path("b.mkv"))
    let written = try FFmpeg.bytes(["-i", folder.path("b.mkv"), "-map", "0:s", "-c", "copy", "-f", "ass", "-"])
    let lines = String(decoding: written, as: UTF8.self).split(whereSeparator: \.isNewline)
    #expect(lines.contains { $0.hasPrefix("Style: Red") })
    #expect(
      lines.filter { $0.hasPrefix("Dialogue") } == [
        "Dialogue: 0,0:00:00.60,0:00:01.40,Default,,0,0,0,,and you",
        "Dialogue: 0,0:00:01.00,0:00:01.80,Red,Bob,5,6,7,,{\\i1}Hello{\\i0}, you",
      ])
    try await reverser.reverse(to: folder.path("b.mp4"))
    let shown = try index(folder.path("b.mp4")).subtitles.first
    #expect(
      texts(shown).filter { !$0.hasSuffix(" ") } == [
        "600-1000 and you", "1000-1400 Hello, you\nand you", "1400-1800 Hello, you",
      ])
  }

  @Test("subtitles are read from one file and written to another", arguments: ["out.srt", "out.vtt"])
  func subtitleFiles(_ output: String) async throws {
    let folder = try TemporaryFolder()
    try Data(srt.utf8).write(to: URL(fileURLWithPath: folder.path("in.srt")))
    try make("\(PresentationTests.film) ! mp4mux ! filesink location=\(folder.path("in.mp4"))")
    var options = ReverseOptions()
    options.subtitles = folder.path("in.srt")
    options.output.subtitles = folder.path(output)
    try await Reverser(folder.path("in.mp4"), options: options).reverse(to: folder.path("a.mkv"))
    let text = try String(contentsOfFile: folder.path(output), encoding: .utf8)
    let (point, and) = output.hasSuffix("vtt") ? (".", "&amp;") : (",", "&")
    #expect(
      text.contains(
        "00:00:00\(point)500 --> 00:00:01\(point)000\nSecond \(and) last\n\n"))
    #expect(text.contains("00:00:01\(point)400 --> 00:00:01\(point)800\nFirst <i>line</i>\n\n"))
    #expect(texts(try index(folder.path("a.mkv")).subtitles.first).count == 2)
    let again = await #expect(throws: RetrogradeError.self) {
      try await Reverser(folder.path("in.mp4"), options: options).reverse(to: folder.path("b.mkv"))
    }
    #expect(again?.code == .cannotCreateOutput, "the user's files stay")
  }

  @Test("subtitles after the end of audio and video are reported, in a subtitle file and in the source")
  func lateSubtitles() async throws {
    let folder = try TemporaryFolder()
    let late = "1\n00:00:01,000 --> 00:00:01,500\nin time\n\n2\n00:01:00,000 --> 00:01:01,000\nlate\n\n"
    try Data(late.utf8).write(to: URL(fileURLWithPath: folder.path("in.srt")))
    try make("\(PresentationTests.film) ! mp4mux ! filesink location=\(folder.path("in.mp4"))")
    var options = ReverseOptions()
    options.subtitles = folder.path("in.srt")
    let added = try await Reverser(folder.path("in.mp4"), options: options).reverse(to: folder.path("a.mkv"))
    #expect(added.warnings.contains { "\($0.message)".contains("1 subtitle that begins at") }, "\(added.warnings)")
    _ = try FFmpeg.bytes([
      "-i", folder.path("in.mp4"), "-i", folder.path("in.srt"), "-map", "0", "-map", "1", "-c:v", "copy", "-c:s", "srt",
      folder.path("own.mkv"),
    ])
    let own = try await Reverser(folder.path("own.mkv")).reverse(to: folder.path("b.mkv"))
    #expect(own.warnings.contains { "\($0.message)".contains("1 subtitle that begins at") }, "\(own.warnings)")
  }

  @Test("a subtitle of more than 32 KiB is refused", arguments: [(30_000, true), (40_000, false)])
  func longSubtitle(_ length: Int, _ isRead: Bool) async throws {
    let folder = try TemporaryFolder()
    let text = "1\n00:00:00,100 --> 00:00:01,000\n\(String(repeating: "a", count: length))\n\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path("in.srt")))
    try make("\(PresentationTests.film) ! mp4mux ! filesink location=\(folder.path("in.mp4"))")
    var options = ReverseOptions()
    options.subtitles = folder.path("in.srt")
    let reverser = Reverser(folder.path("in.mp4"), options: options)
    do {
      try await reverser.reverse(to: folder.path("a.mkv"))
      #expect(isRead)
    } catch let error as RetrogradeError {
      #expect(!isRead && error.code == .damagedInput && error.description.contains("32 KiB"), "\(error)")
    }
  }

  private let contents = TableOfContents(entries: [
    .init(
      start: .zero, end: ClockTime(seconds: 0.8), title: "Début",
      children: [
        .init(start: ClockTime(seconds: 0.2), end: ClockTime(seconds: 0.4), title: "inner", children: [])
      ]),
    .init(start: ClockTime(seconds: 0.8), end: ClockTime(seconds: 2), title: "Rest", children: []),
  ])

  private func chapters(_ chapters: [Chapter]) -> [String] {
    chapters.map {
      "\($0.span.start.nanoseconds / 1_000_000)-\($0.span.end.nanoseconds / 1_000_000) \($0.title) \(self.chapters($0.children))"
    }
  }

  @Test("chapters are reversed with their titles and nesting")
  func chaptersTest() async throws {
    let folder = try TemporaryFolder()
    let contents = contents
    try make("\(PresentationTests.film) ! matroskamux ! filesink location=\(folder.path("in.mkv"))") { pipeline in
      #expect(pipeline.setTableOfContents(contents))
    }
    #expect(
      chapters(try index(folder.path("in.mkv")).chapters) == ["0-800 Début [\"200-400 inner []\"]", "800-2000 Rest []"])
    try await Reverser(folder.path("in.mkv")).reverse(to: folder.path("a.mkv"))
    #expect(
      chapters(try index(folder.path("a.mkv")).chapters) == [
        "0-1200 Rest []", "1200-2000 Début [\"1600-1800 inner []\"]",
      ])
    let written = try await Reverser(folder.path("in.mkv")).reverse(to: folder.path("a.mp4"))
    #expect(
      written.warnings.map(\.description) == [
        "left out: a chapter inside another chapter, which this container can't hold"
      ])
    let flat = chapters(try index(folder.path("a.mp4")).chapters)
    #expect(flat == ["0-1200 Rest []", "1200-2000 Début []"])
    let ts = try await Reverser(folder.path("in.mkv")).reverse(to: folder.path("a.ts"))
    #expect(ts.warnings.contains { $0.message.contains("chapters") })
  }

  /// The chapter list of MP4 (`chpl`) has one byte for the number of chapters, and one byte for the
  /// length of a title.
  @Test("chapters that do not fit are reported")
  func tooManyChapters() async throws {
    let folder = try TemporaryFolder()
    let contents = TableOfContents(
      entries: (0..<300).map { number in
        .init(
          start: .milliseconds(number * 6), end: .milliseconds(number * 6 + 6),
          title: number == 299 ? String(repeating: "long ", count: 60) : "\(number)", children: [])
      })
    try make("\(PresentationTests.film) ! matroskamux ! filesink location=\(folder.path("in.mkv"))") { pipeline in
      #expect(pipeline.setTableOfContents(contents))
    }
    let written = try await Reverser(folder.path("in.mkv")).reverse(to: folder.path("a.mp4"))
    #expect(
      written.warnings.map(\.description) == [
        "left out: 45 of 300 chapters, from 0:00:01.730 of the output on: this container can hold only 255",
        "cut: the title of 1 chapter, since this container can hold only 255 bytes per title",
      ])
    #expect(written.warnings.map(\.count) == [45, 1])
    let held = try index(folder.path("a.mp4")).chapters
    #expect(held.count == 255 && held.dropFirst().first?.title == "298")
    let whole = try await Reverser(folder.path("in.mkv")).reverse(to: folder.path("a.mkv"))
    #expect(try whole.warnings.isEmpty && index(folder.path("a.mkv")).chapters.count == 300)
  }

  @Test("a gap between chapters is reported if the container stores no chapter ends")
  func chapterGaps() async throws {
    let folder = try TemporaryFolder()
    let chapters = [(0, 4), (4, 6), (8, 10)].enumerated().map { number, times in
      "[CHAPTER]\nTIMEBASE=1/10\nSTART=\(times.0)\nEND=\(times.1)\ntitle=Part \(number)\n"
    }
    try Data((";FFMETADATA1\n" + chapters.joined()).utf8).write(to: URL(fileURLWithPath: folder.path("c.txt")))
    _ = try FFmpeg.bytes([
      "-f", "lavfi", "-i", "testsrc=s=64x64:r=10:d=1", "-i", folder.path("c.txt"), folder.path("s.mkv"),
    ])
    let mirror = try await Reverser(folder.path("s.mkv")).reverse(to: folder.path("m.mp4"))
    #expect(mirror.warnings.map(\.code) == [.detailLeftOut] && mirror.warnings.first?.count == 1)
    #expect(mirror.warnings.first?.message.description.contains("0:00:00.200") == true)
    let kept = try await Reverser(folder.path("s.mkv")).reverse(to: folder.path("m.mkv"))
    #expect(kept.warnings.isEmpty)
    #expect(try index(folder.path("m.mkv")).chapters.map(\.span.end) == [ms(200), ms(600), ms(1000)])
  }

  @Test("the tags of an MP3 are kept in the output")
  func mp3Tags() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.audioOnly("a.mp3", "lamemp3enc ! mpegaudioparse", muxer: "id3v2mux")
    media.title = "A day"
    let path = try media.write(to: folder)
    #expect(try index(path).tags?.string("title") == "A day")
    try await Reverser(path).reverse(to: folder.path("b.mka"))
    #expect(try index(folder.path("b.mka")).tags?.string("title") == "A day")
    // Inserts an ID3v2.4 tag with two empty chapters before the file's own tag.
    let chapter: [UInt8] = Array("CHAP".utf8) + [0, 0, 0, 4, 0, 0, 0x61, 0, 0, 0]
    let chapters = chapter + chapter
    let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(chapters.count)] + chapters
    try (Data(tag) + Data(contentsOf: URL(fileURLWithPath: path))).write(to: URL(fileURLWithPath: folder.path("c.mp3")))
    let warnings = try await Reverser(folder.path("c.mp3")).plan().warnings
    #expect(warnings.filter { $0.message.contains("chapters") }.map(\.count) == [2])
  }

  @Test("all streams are reversed and keep their languages", arguments: ["a.mkv", "a.mp4"])
  func allStreams(_ output: String) async throws {
    let folder = try TemporaryFolder()
    let film = { (pattern: Int, frames: Int) in
      "videotestsrc num-buffers=\(frames) pattern=\(pattern) ! video/x-raw,width=96,height=64,framerate=25/1 ! x264enc ! h264parse"
    }
    let audio = { (language: String, rate: Int) in
      "audiotestsrc num-buffers=20 samplesperbuffer=\(rate / 10) ! audio/x-raw,rate=\(rate),channels=1 ! "
        + "taginject tags=language-code=\(language) ! flacenc ! flacparse"
    }
    try make(
      "matroskamux name=m ! filesink location=\(folder.path("in.mkv"))\n\(film(0, 50)) ! queue ! m.\n\(film(18, 30)) ! queue ! m.\n"
        + "\(audio("en", 16000)) ! queue ! m.\n\(audio("de", 32000)) ! queue ! m.")
    let summary = try await Reverser(folder.path("in.mkv")).reverse(to: folder.path(output))
    #expect(summary.warnings.isEmpty)
    let mirror = try index(folder.path(output))
    #expect(mirror.video?.starts?.count == 50 && mirror.furtherVideos.map { $0.index.starts?.count } == [30])
    #expect(mirror.audio.map { $0.tags?.string("language-code") } == ["en", "de"])
    // The output begins with the last frame of the shorter video. This frame is shown while only
    // the longer video plays.
    let starts = try #require(mirror.furtherVideos.first?.index.starts)
    #expect(abs((starts[1] - starts[0]).seconds - 0.84) < 0.002)
    #expect(abs((starts[0] - (mirror.video?.starts?.first ?? .zero)).seconds) < 0.002)
    var options = ReverseOptions()
    options.playback.streams = StreamSelection(parsing: "v:1,audio:1")
    options.output.overwrites = true
    try await Reverser(folder.path("in.mkv"), options: options).reverse(to: folder.path(output))
    let part = try index(folder.path(output))
    #expect(part.video?.starts?.count == 30 && part.furtherVideos.isEmpty)
    #expect(part.audio.map { $0.tags?.string("language-code") } == ["de"])
  }

  @Test("default and forced streams keep their flags", arguments: ["a.mkv", "a.mp4"])
  func dispositions(_ output: String) async throws {
    let folder = try TemporaryFolder()
    let audio = "audiotestsrc num-buffers=10 ! audio/x-raw,rate=16000,channels=1 ! flacenc ! flacparse ! queue ! m."
    let text = "! taginject tags=title=Signs ! queue ! m."
    try "1\n00:00:00,100 --> 00:00:00,300\nHi\n".write(toFile: folder.path("a.srt"), atomically: true, encoding: .utf8)
    try make(
      "matroskamux name=m ! filesink location=\(folder.path("in.mkv"))\nvideotestsrc num-buffers=10 ! x264enc ! h264parse ! queue ! m.\n"
        + "\(audio)\n\(audio)\nfilesrc location=\(folder.path("a.srt")) ! subparse \(text)")
    let plain = MatroskaHeader.Track(disposition: Disposition())
    let other = MatroskaHeader.Track(disposition: Disposition(isDefault: false))
    let forced = MatroskaHeader.Track(disposition: Disposition(isDefault: false, isForced: true))
    try MatroskaHeader(videos: [plain], audio: [other, plain], subtitles: [forced], unquoted: { $0 }).apply(
      to: folder.path("in.mkv"))
    try await Reverser(folder.path("in.mkv")).reverse(to: folder.path(output))
    let mirror = try index(folder.path(output))
    #expect(mirror.video?.disposition == Disposition())
    #expect(mirror.audio.map(\.disposition) == [Disposition(isDefault: false), Disposition()])
    // qtmux and mp4mux can't mark subtitles as forced.
    #expect(mirror.subtitles.map(\.disposition) == [Disposition(isDefault: false, isForced: output == "a.mkv")])
    #expect(mirror.video?.tags?.string("language-code") != "en")
  }

  @Test("non-square pixels stay exact", arguments: ["a.mkv", "a.webm", "a.mp4"])
  func pixelAspectRatio(_ output: String) async throws {
    let folder = try TemporaryFolder()
    // Matroska stores the display size in whole pixels. For 96x64 at 16:11, this size is 139x64,
    // which is not exact.
    try make(
      "videotestsrc num-buffers=5 ! video/x-raw,width=96,height=64,pixel-aspect-ratio=16/11 ! x264enc ! h264parse ! mp4mux ! "
        + "filesink location=\(folder.path("in.mp4"))")
    try await Reverser(folder.path("in.mp4")).reverse(to: folder.path(output))
    let pixel = try #require(try index(folder.path(output)).video?.caps.fraction("pixel-aspect-ratio"))
    #expect(pixel.numerator == 16 && pixel.denominator == 11)
  }

  @Test("the luminance of the mastering display is kept in Matroska")
  func masteringLuminance() async throws {
    let folder = try TemporaryFolder()
    // matroskamux writes a fifth of the luminances, so the 5000 and 0.0005 cd/m² below become 1000
    // and 0.0001 cd/m².
    let display = "34000:16000:13250:34500:7500:3000:15635:16450:50000000:5"
    try make(
      "videotestsrc num-buffers=5 ! video/x-raw,width=64,height=64 ! avenc_ffv1 ! "
        + "capssetter caps=\"video/x-ffv,mastering-display-info=(string)\(display)\" ! matroskamux ! "
        + "filesink location=\(folder.path("in.mkv"))")
    try await Reverser(folder.path("in.mkv")).reverse(to: folder.path("out.mkv"))
    for name in ["in.mkv", "out.mkv"] {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path(name)))
      for (id, value) in [(0xD9, 1000.0), (0xDA, 0.0001)] {
        let element = [0x55, UInt8(id), 0x88] + withUnsafeBytes(of: value.bitPattern.bigEndian, Array.init)
        #expect(bytes.firstRange(of: element) != nil, "\(name)")
      }
    }
  }

  @Test("MP4 timestamps have the precision of the source's timestamps")
  func fineTimes() async throws {
    let folder = try TemporaryFolder()
    // qtmux's default timescale, 491, would be too coarse.
    try make(
      "videotestsrc num-buffers=20 ! video/x-raw,width=96,height=64,framerate=59/12 ! x264enc ! h264parse ! "
        + "mp4mux trak-timescale=15712 ! filesink location=\(folder.path("in.mp4"))")
    try await Reverser(folder.path("in.mp4")).reverse(to: folder.path("out.mp4"))
    func lengths(_ name: String) throws -> [Int64] {
      let starts = try #require(try index(folder.path(name)).video?.starts)
      return zip(starts, starts.dropFirst()).map { ($1 - $0).nanoseconds }
    }
    // The starts of the frames do not give the duration of a file's last frame. So the first and
    // the last frame of the source are not compared.
    let (source, mirror) = (try lengths("in.mp4").dropFirst(), try lengths("out.mp4").dropFirst())
    #expect(source.count == 18 && mirror.count == 18)
    #expect(zip(source.reversed(), mirror).allSatisfy { abs($0 - $1) < 1_000_000_000 / 15_712 })
  }

  @Test("stream selections are parsed")
  func streamSelections() {
    #expect(StreamSelection(parsing: "video,a:2,s,chapters")?.contains(.audio, 2) == true)
    #expect(StreamSelection(parsing: "video,a:2")?.contains(.audio, 0) == false)
    for text in ["", "x", "a:", "a:-1", "a:1:2", "a,,v"] { #expect(StreamSelection(parsing: text) == nil) }
  }

  @Test(
    "the field order is reversed",
    arguments: [("ffv1.mkv", "lossless"), ("h264.mkv", "source"), ("h264.mp4", "source"), ("h264.ts", "source")])
  func fieldOrder(_ output: String, _ quality: String) async throws {
    let folder = try TemporaryFolder()
    try make(
      "videotestsrc num-buffers=50 ! video/x-raw,width=96,height=64,framerate=50/1 ! interlace field-pattern=1:1 top-field-first=true ! "
        + "avenc_ffv1 ! matroskamux ! filesink location=\(folder.path("in.mkv"))")
    var options = ReverseOptions()
    options.encoding.quality = try #require(.init(rawValue: quality))
    try await Reverser(folder.path("in.mkv"), options: options).reverse(to: folder.path(output))
    let before = try #require(try DecodedFields(folder.path("in.mkv")).fields.first)
    #expect(before == true)
    let after = try DecodedFields(folder.path(output)).fields
    // Since 1.26.1 (123a7a515f, also in 1.24.13), matroskademux ignores the field order that the
    // frames declare. It uses FieldOrder instead, but knows only the values 9 and 14. The file
    // contains 6, which players and FFmpeg read as bottom field first, so the order is lost. 1.28
    // uses the order of the frames again (seen in 1.28.8).
    let release = try #require(Registry.release(ofPluginWith: "matroskademux"))
    let isOverridden = output.hasSuffix(".mkv") && (Release(1, 26, 1)..<Release(1, 28)).contains(release)
    #expect(after.count == 25 && after.allSatisfy { $0 == (isOverridden ? nil : false) })
    if output == "ffv1.mkv" {
      // FlagInterlaced 1, FieldOrder 6: bottom field first.
      let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path(output)))
      #expect(bytes.range(of: Data([0x9A, 0x81, 1, 0x9D, 0x81, 6])) != nil)
    }
    options.encoding.deinterlaces = true
    options.encoding.quality = .source
    try await Reverser(folder.path("in.mkv"), options: options).reverse(to: folder.path("whole.mp4"))
    let whole = try DecodedFields(folder.path("whole.mp4")).fields
    #expect(whole.count == 25 && whole.allSatisfy { $0 == nil })
  }

  private func makeInterlaced(_ path: String, frames: Int) throws {
    try make(
      "videotestsrc num-buffers=\(2 * frames) ! video/x-raw,width=96,height=64,framerate=50/1 ! "
        + "interlace field-pattern=1:1 top-field-first=true ! x264enc interlaced=true ! mp4mux ! "
        + "filesink location=\(path)")
  }

  @Test("interlaced video plays forwards at double speed, then backwards")
  func interlacedScore() async throws {
    let folder = try TemporaryFolder()
    try makeInterlaced(folder.path("in.mp4"), frames: 25)
    var options = ReverseOptions()
    options.playback.score = try Score(parsing: "0..0.4 x2, end..end-0.2")
    let reverser = Reverser(folder.path("in.mp4"), options: options)
    let summary = try await reverser.reverse(to: folder.path("out.mp4"))
    #expect(try DecodedFields(folder.path("out.mp4")).fields.count == 15)
    #expect(summary.warnings.map(\.code) == [.converted])
    let work = try await reverser.start(to: folder.path("chunks.mp4"), in: folder.path("work")).summary()
    #expect(work.warnings.isEmpty)
    // Each chunk is encoded separately, so chunks that play backwards can declare another field
    // order.
    let fields = try DecodedFields(folder.path("chunks.mp4")).fields
    #expect(fields == Array(repeating: true, count: 10) + Array(repeating: false, count: 5))
  }

  @Test("a codec that can't mark frames as interlaced causes a warning", arguments: [("mp4", true), ("mkv", false)])
  func interlacedHEVC(_ container: String, _ isLost: Bool) async throws {
    let folder = try TemporaryFolder()
    try makeInterlaced(folder.path("in.mp4"), frames: 5)
    var options = ReverseOptions()
    options.encoding.videoCodec = "hevc"
    let summary = try await Reverser(folder.path("in.mp4"), options: options).reverse(to: folder.path("m.\(container)"))
    #expect(summary.warnings.contains { $0.description.contains("interlace flag") } == isLost, "\(summary.warnings)")
  }

  @Test("images can't be marked as interlaced", arguments: ["m.apng", "m.webp", "m.gif", "m%d.png"])
  func interlacedImages(_ output: String) async throws {
    let folder = try TemporaryFolder()
    try makeInterlaced(folder.path("in.mp4"), frames: 5)
    var options = ReverseOptions()
    options.output.isVerified = output == "m.apng"
    let summary = try await Reverser(folder.path("in.mp4"), options: options).reverse(to: folder.path(output))
    #expect(summary.warnings.contains { $0.description.contains("interlace flag, which images") })
  }

  /// Field order of each decoded frame.
  private struct DecodedFields {
    var fields: [Bool?] = []

    init(_ path: String) throws {
      let pipeline = try Pipeline("filesrc location=\(path) ! decodebin ! video/x-raw ! appsink name=out sync=false")
      defer { pipeline.set(.null) }
      let sink = try pipeline.appSink("out")
      pipeline.set(.playing)
      while let sample = sink.pull(timeout: ClockTime(seconds: 20)) { fields.append(sample.isTopFieldFirst) }
    }
  }

  @Test("reversed frames have no timecode")
  func timecodesAndCaptions() throws {
    let pipeline = try Pipeline(
      "videotestsrc num-buffers=1 ! video/x-raw,framerate=25/1 ! timecodestamper ! appsink name=out sync=false")
    defer { pipeline.set(.null) }
    pipeline.set(.playing)
    let sample = try #require(try pipeline.appSink("out").pull(timeout: ClockTime(seconds: 20)))
    #expect(sample.buffer.hasTimeCode)
    #expect(!sample.buffer.retimed(pts: .zero, duration: nil, isMirrored: true).hasTimeCode)
  }

  @Test("Matroska tags are plain text, without GStreamer's escapes")
  func matroskaTags() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(10, rate: 25)
    media.title = "A \\\"day\\\" at the sea"
    let source = try media.write(to: folder)
    try await Reverser(source).reverse(to: folder.path("a.mkv"))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path("a.mkv")))
    #expect(bytes.range(of: Data("A \"day\" at the sea".utf8)) != nil)
    #expect(bytes.range(of: Data("\\ day".utf8)) == nil)
    #expect(try index(folder.path("a.mkv")).tags?.string("title") == "A \"day\" at the sea")
  }

  @Test("Matroska whose video starts late is decoded in windows")
  func lateStream() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.frameRate = "25/1"
    media.times = (0...50).map { ms(7 + $0 * 40) }
    media.sampleCount = 96_000
    media.audioFormat = "S16LE"
    let source = try media.write(to: folder)
    let report = try await Reverser(source).plan()
    #expect(report.plan?.method == .windows)
    #expect(report.streams.map(\.start) == [.milliseconds(7), .zero])
    #expect(report.chapters.isEmpty && report.mirrors.map(\.container) == ["mkv", "mp4", "webm"])
  }

  @Test("transparency is kept", arguments: ["webp", "apng"])
  func transparency(_ format: String) async throws {
    let folder = try TemporaryFolder()
    try make(
      "videotestsrc num-buffers=3 pattern=solid-color foreground-color=0x80ff8000 ! video/x-raw,format=RGBA,width=32,height=32,framerate=25/1 ! "
        + "pngenc ! multifilesink location=\(folder.path("%d.png")) index=1")
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    try await Reverser(folder.path("%d.png"), options: options).reverse(to: folder.path("a.\(format)"))
    let read = try DecodedAnimation(folder.path("a.\(format)"))
    #expect(Array(read.first.prefix(4)) == [255, 128, 0, 128])
  }

  @Test("cover art is kept as cover art", arguments: ["out.mp3", "out.flac"])
  func coverArt(output: String) async throws {
    let folder = try TemporaryFolder()
    try make(
      "videotestsrc num-buffers=1 ! video/x-raw,width=16,height=16 ! pngenc ! filesink location=\(folder.path("c.png"))"
    )
    let png = try Data(contentsOf: URL(fileURLWithPath: folder.path("c.png")))
    let hex = png.map { String(format: "%02x", $0) }.joined()
    // Format of gst_value_serialize_sample: the bytes, the caps in base64 with _ for =, no
    // GStreamer segment, no structure.
    let caps = Data("image/png".utf8).base64EncodedString().replacing("=", with: "_")
    let source = folder.path("in.mp3")
    try make(
      "audiotestsrc num-buffers=20 ! audioconvert ! lamemp3enc ! taginject tags=\"image=(sample)\(hex):\(caps):None:None\" ! "
        + "id3v2mux ! filesink location=\(source)")
    try await Reverser(source).reverse(to: folder.path(output))
    for path in [source, folder.path(output)] {
      #expect(try tags(of: path).contains { $0.description.contains(hex) }, "the same frame")
    }
  }

  /// Reads the tags that a player receives.
  private func tags(of path: String) throws -> [TagList] {
    let pipeline = try Pipeline("filesrc location=\(path) ! decodebin ! fakesink")
    defer { pipeline.set(.null) }
    pipeline.set(.playing)
    var found: [TagList] = []
    while let message = pipeline.nextMessage(timeout: ClockTime(seconds: 20)) {
      if case .tags(let list) = message { found.append(list) }
      if case .failed(let error) = message { throw error }
      if case .endOfStream = message { break }
    }
    return found
  }

  @Test("audio within Matroska's CodecDelay is left out")
  func codecDelay() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.video = nil
    media.sampleCount = 48_000
    media.audioFormat = "S16LE"
    let source = try media.write(to: folder)
    // Replaces the generated name of the track by a CodecDelay of 10 ms.
    var bytes = try Data(contentsOf: URL(fileURLWithPath: source))
    let name = try #require(bytes.range(of: Data([0x53, 0x6E]) + Data([0x86]) + Data("Audio\0".utf8)))
    let delay: [UInt8] = [0x56, 0xAA, 0x84, 0x00, 0x98, 0x96, 0x80]
    bytes.replaceSubrange(name, with: delay + [0xEC, 0x80])
    try bytes.write(to: URL(fileURLWithPath: source))
    let track = try #require(try index(source).audio.first)
    #expect(track.frames == 0..<47_520, "480 samples are priming")
  }
}
