import Foundation
import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Subtitle files in all encodings and with errors, and styles and effects of subtitles.
@Suite struct SubtitleTests {
  private static let film = ["-f", "lavfi", "-i", "testsrc2=d=2:r=10:s=64x48"]

  /// Reads a subtitle file with the given content.
  /// - Returns: start and end in milliseconds and text of each subtitle, and the warnings.
  private func read(_ content: Data) throws -> (cues: [String], warnings: [String]) {
    let folder = try TemporaryFolder()
    try content.write(to: URL(filePath: folder.path("a.srt")))
    let (track, warnings) = try SubtitleFile.read(folder.path("a.srt"), Resources(), Cancellation())
    let cues = (track.texts(isWeb: false) ?? []).map {
      "\($0.span.start.nanoseconds / 1_000_000)-\($0.span.end.nanoseconds / 1_000_000) \($0.text)"
    }
    return (cues, warnings.map { "\($0.message)" })
  }

  private func read(_ text: String) throws -> (cues: [String], warnings: [String]) { try read(Data(text.utf8)) }

  private func warnings(_ path: String, _ output: String, subtitles: String? = nil) async throws -> [String] {
    var options = ReverseOptions()
    options.output.overwrites = true
    options.subtitles = subtitles
    return try await Reverser(path, options: options).reverse(to: output).warnings.map { "\($0.message)" }
  }

  @Test(
    "a subtitle file is read to its end in every Unicode encoding",
    arguments: [
      (String.Encoding.utf8, [] as [UInt8]), (.utf8, [0xEF, 0xBB, 0xBF]), (.utf16LittleEndian, [0xFF, 0xFE]),
      (.utf16BigEndian, [0xFE, 0xFF]), (.utf16LittleEndian, []), (.utf16BigEndian, []),
      (.utf32LittleEndian, [0xFF, 0xFE, 0, 0]), (.utf32BigEndian, [0, 0, 0xFE, 0xFF]),
    ], ["\n", "\r\n", "\r"])
  func encodings(_ encoding: (String.Encoding, [UInt8]), _ lineEnd: String) throws {
    let lines = ["1", "00:00:00,100 --> 00:00:00,500", "Größe 🎬", "", "2", "00:00:00,600 --> 00:00:01,000", "Привет"]
    for end in ["", lineEnd, lineEnd + lineEnd] {
      let text = try #require((lines.joined(separator: lineEnd) + end).data(using: encoding.0))
      let found = try read(Data(encoding.1) + text)
      #expect(found.cues == ["100-500 Größe 🎬", "600-1000 Привет"])
      #expect(found.warnings == [])
    }
  }

  @Test("a line that is not UTF-8 does not change the other lines")
  func mixedEncodings() throws {
    let text = Data("00:00,100 --> 00:00,200\nGröße\n\n00:00,300 --> 00:00,400\nbad ".utf8) + Data([0xE4, 0xA4])
    #expect(try read(text).cues == ["100-200 Größe", "300-400 bad ä€"])
  }

  @Test("formats other than SubRip and WebVTT keep their last line", arguments: [false, true])
  func otherFormats(isWide: Bool) throws {
    let text = "{24}{48}first line\n{72}{96}last line"
    let found = try read(
      isWide ? Data([0xFF, 0xFE]) + #require(text.data(using: .utf16LittleEndian)) : Data(text.utf8))
    #expect(found.cues == ["1001-2002 first line", "3003-4004 last line"])
  }

  @Test("all text of SubRip subtitles is kept, and lines outside them are reported")
  func subRip() throws {
    let found = try read(
      """
      stray
      1
      00:00:00,100 --> 00:00:09,000
      A\u{0}B <i>C</i> <font color="red">D</font> <E>

      still A < & &lt;

      2
      00:00:01,000 --> 00:00:02,000  X1:1 X2:2 Y1:3 Y2:4
      inside the first

      00:00:00.5 --> 0:0:1, 50
      earlier, without a number
      17
      3
      00:00:05,000 --> 00:00:05,000
      no duration
      """)
    #expect(
      found.cues == [
        "100-9000 AB <i>C</i> <font color=\"red\">D</font> <E>\n\nstill A < & &lt;",
        "500-1050 earlier, without a number\n17", "1000-2000 inside the first", "5000-5000 no duration",
      ])
    #expect(
      found.warnings == [
        "left out: 1 line of the subtitle file outside its subtitles",
        "left out: the settings of 1 subtitle, such as the position",
      ])
  }

  @Test("WebVTT keeps bold, italics, underline and text; warnings name what is left out")
  func webVTT() throws {
    let found = try read(
      """
      WEBVTT - title
      Kind: captions

      STYLE
      ::cue { color: red }

      NOTE a comment

      first
      00:00.100 --> 00:00.500 line:0 align:start
      <v Bob>Hi <b.loud>there</b></v> <00:00.300>now &amp; 1 < 2 &lt;i&gt; <3

      00:00:00.600 --> 00:00:01.000
      <ruby>x<rt>y</rt></ruby> <lang en>z</lang> <c>c</c>

      stray
      """)
    #expect(found.cues == ["100-500 Hi <b>there</b> now & 1 < 2 <i> <3", "600-1000 xy z c"])
    #expect(
      found.warnings == [
        "left out: 1 line of the subtitle file outside its subtitles",
        "left out: the settings of 1 subtitle, such as the position",
        "left out: WebVTT tags in 2 subtitles: classes, languages, ruby, times of words, voices",
        "left out: the styles of the WebVTT file",
      ])
    // Automatic captions of YouTube begin or end with a line of one space.
    let automatic = try read("WEBVTT\n\n00:00.1 --> 00:00.5\n \nI am\n\n00:00.5 --> 00:00.9\ngoing\n \n")
    #expect(automatic.cues == ["100-500 I am", "500-900 going"] && automatic.warnings == [])
    #expect(try read("WEBVTT\n\n00:00.100 --> 00:00.500\n<i>plain</i> <c>c</c>\n\nNOTE end").warnings == [])
  }

  @Test("times that overflow, and lines without times, are text")
  func brokenTimes() throws {
    let text = "00:00,1 --> 00:00,2\na\n99999999:00:00,0 --> 00:01,0\n00:00 -->\n1:2:3:4 --> 5\n-->\n5 --> 6"
    #expect(
      try read(text).cues == [
        "100-200 a\n99999999:00:00,0 --> 00:01,0\n00:00 -->\n1:2:3:4 --> 5\n-->\n5 --> 6"
      ])
    #expect(try read("999999:999999:999999 --> 999999:999999:999999,9\na").cues.count == 1)
  }

  @Test("subtitles without a duration are reported")
  func noDuration() async throws {
    let folder = try TemporaryFolder()
    let text = "1\n00:00:00,100 --> 00:00:00,400\nHello\n\n2\n00:00:00,600 --> 00:00:00,600\nZero\n"
    try Data(text.utf8).write(to: URL(filePath: folder.path("a.srt")))
    _ = try FFmpeg.bytes(
      Self.film + ["-i", folder.path("a.srt"), "-map", "0", "-map", "1", "-c:s", "srt", folder.path("a.mkv")])
    #expect(
      try await warnings(folder.path("a.mkv"), folder.path("b.mkv"))
        == ["changed: 1 subtitle without a duration is shown until the next one, or for 5 s"])
    _ = try FFmpeg.bytes(Self.film + [folder.path("c.mkv")])
    #expect(
      try await warnings(folder.path("c.mkv"), folder.path("d.mkv"), subtitles: folder.path("a.srt"))
        == ["left out: 1 subtitle without a duration"])
  }

  @Test("lost styles of MP4 subtitles are reported", arguments: [("<i>Hello</i>", 1), ("Hello", 0)])
  func timedTextStyles(text: String, count: Int) async throws {
    let folder = try TemporaryFolder()
    try Data("1\n00:00:00,100 --> 00:00:00,400\n\(text)\n".utf8).write(to: URL(filePath: folder.path("a.srt")))
    let path = folder.path("a.mp4")
    _ = try FFmpeg.bytes(Self.film + ["-i", folder.path("a.srt"), "-map", "0", "-map", "1", "-c:s", "mov_text", path])
    let named = Array(repeating: "left out: the styles of subtitles (styl)", count: count)
    #expect(try await warnings(path, folder.path("b.mkv")) == named)
    #expect(try await warnings(folder.path("b.mkv"), folder.path("c.mp4")) == [])
    #expect(try await warnings(folder.path("c.mp4"), folder.path("d.mp4")) == [], "GStreamer's own timed text")
    // Bold in the sample description applies to the whole track.
    var bytes = try Data(contentsOf: URL(filePath: path))
    let entry = try #require(bytes.range(of: Data("tx3g".utf8))?.lowerBound)
    bytes[entry + 36] = 1
    try bytes.write(to: URL(filePath: folder.path("e.mp4")))
    let all = count == 0 ? "(tx3g)" : "(styl, tx3g)"
    #expect(
      try await warnings(folder.path("e.mp4"), folder.path("f.mkv")) == ["left out: the styles of subtitles \(all)"])
  }

  @Test(
    "fades and moves of ASS are reversed",
    arguments: [
      ("{\\fad(100,200)}a", "{\\fad(200,100)}a"), ("{\\b1\\move(1,2,3,4)}a", "{\\b1\\move(3,4,1,2)}a"),
      ("{\\move( 1, 2, 3, 4, 100, 300)}a", "{\\move(3,4,1,2,700,900)}a"),
      ("{\\move(1,2,3,4,0,0)}a", "{\\move(3,4,1,2)}a"),
      ("{\\fade(255,32,224,0,500,600,700)}a", "{\\fade(224,32,255,300,400,500,1000)}a"),
      ("\\fad(1,2) {\\fad(1,2", "\\fad(1,2) {\\fad(1,2"),
      ("{\\fad(1,2,3)}{\\k20}{\\t(\\b1)}", "{\\fad(1,2,3)}{\\k20}{\\t(\\b1)}"),
      ("{\\move(1,2,3,4,5,99999999999999999999)}", "{\\move(1,2,3,4,5,99999999999999999999)}"),
    ])
  func effects(line: String, reversed: String) {
    let fields = "0,0,Default,,0,0,0,,"
    let effects = ScriptEffects(Array((fields + line).utf8), ClockTime(seconds: 1))
    #expect(String(decoding: effects.reversedLine, as: UTF8.self) == fields + reversed)
  }

  @Test("ASS effects that are not reversed are reported")
  func scriptEffects() async throws {
    let folder = try TemporaryFolder()
    let script = """
      [Script Info]
      ScriptType: v4.00+

      [V4+ Styles]
      Format: Name, Fontname, Fontsize, PrimaryColour, Alignment
      Style: Default,Arial,16,&Hffffff,2

      [Events]
      Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
      Dialogue: 0,0:00:00.20,0:00:01.00,Default,,0,0,0,,{\\fad(100,200)}fades
      Dialogue: 0,0:00:01.00,0:00:01.20,Default,,0,0,0,,{\\kf20}sung {\\t(0,100,\\fs20)}grows
      Dialogue: 0,0:00:01.20,0:00:01.40,Default,,0,0,0,Banner;10,moves

      """
    try Data(script.utf8).write(to: URL(filePath: folder.path("a.ass")))
    let path = folder.path("a.mkv")
    _ = try FFmpeg.bytes(Self.film + ["-i", folder.path("a.ass"), "-map", "0", "-map", "1", "-c:s", "copy", path])
    #expect(
      try await warnings(path, folder.path("b.mkv")) == ["not reversed: effects in 2 subtitles (Banner, \\k, \\t)"])
    let written = try FFmpeg.bytes(["-i", folder.path("b.mkv"), "-map", "0:s", "-c", "copy", "-f", "ass", "-"])
    #expect(String(decoding: written, as: UTF8.self).contains("{\\fad(200,100)}fades"))
    #expect(try await warnings(path, folder.path("b.mp4")) == [], "MP4 gets plain text")
  }
}
