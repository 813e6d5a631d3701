import Foundation
import GStreamer
import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Regression tests for failures that `make fuzz` and `make hostile` found.
@Suite struct HostileInputTests {
  @Test("times out of range saturate")
  func saturatedTimes() throws {
    let far = ClockTime(nanoseconds: .max)
    #expect(far.sampleIndex(rate: Int(Int32.max)) == Int.max / 4)
    #expect(ClockTime(nanoseconds: .min).sampleIndex(rate: Int(Int32.max)) == -(Int.max / 4))
    #expect(ClockTime(sampleIndex: .max, rate: 1).nanoseconds == Int64.max / 4)
    // Values in range are unchanged.
    #expect(ClockTime(seconds: 86_400).sampleIndex(rate: 384_000) == 86_400 * 384_000)
    let buffers = [ClockTime.zero, far, ClockTime(nanoseconds: .min)].map {
      DecodedAudio(stamp: $0, packetStamp: nil, count: 1 << 31)
    }
    let placed = try AudioLayout(rate: Int(Int32.max), segment: Segment()).place(buffers).chunks
    #expect(placed.map(\.position) == [0, Int.max / 4])
  }

  @Test("thinning skips a gap of a century without stepping through it")
  func centuryGap() {
    let century = ClockTime(seconds: 100 * 365.25 * 86_400)
    let timeline = VideoTimeline(
      starts: [.zero, ClockTime(seconds: 0.01), ClockTime(seconds: 1), century], end: ClockTime(nanoseconds: .max))
    let (frames, thinned) = timeline.thinned(to: .usual, from: .zero)
    #expect(frames == [1, 2, 3])
    #expect(thinned.starts == [.zero, ClockTime(seconds: 1), century])
  }

  @Test("the number of frames before a time includes every frame that starts before that time")
  func frameCountBeforeTime() throws {
    var generator = SystemRandomNumberGenerator()
    for (numerator, denominator) in [(25, 1), (30000, 1001), (1, 3600), (1000, 1)] {
      let rate = try #require(FrameRate(numerator, denominator))
      for frame in [1, 2, 3, 1000] + (0..<20).map({ _ in Int.random(in: 4...100_000, using: &generator) }) {
        #expect(rate.count(before: rate.start(of: frame)) == frame, "\(rate) \(frame)")
        #expect(rate.count(before: rate.start(of: frame) + ClockTime(nanoseconds: 1)) == frame + 1, "\(rate) \(frame)")
      }
    }
    for (numerator, denominator) in [(Int(Int32.max) - 1, 1), (1, Int(Int32.max) - 1)] {
      let rate = try #require(FrameRate(numerator, denominator))
      #expect(rate.start(of: .max) >= rate.start(of: 1))
      #expect(rate.count(before: ClockTime(nanoseconds: .max)) > 0)
    }
    #expect(FrameRate.usual.count(before: ClockTime(nanoseconds: -1)) == 0)
  }

  @Test("64-bit numbers in parameter sets cause no crash")
  func hugeParameterSetNumber() throws {
    let number = [UInt8](repeating: 0, count: 7) + [1] + [UInt8](repeating: 0, count: 8)
    let set: [UInt8] = [0x67, 77, 64, 31] + number
    let sets = try #require(ParameterSets([1, 77, 64, 31, 255, 225, 0, UInt8(set.count)] + set + [0]))
    #expect(sets.freeNumber == 0)
  }

  @Test("parameter sets are not joined if a configuration record cannot contain all of them")
  func tooManyParameterSets() throws {
    let frames = (0..<200).flatMap { _ in [0, 2, 0x68, 0x50] as [UInt8] }
    let one = try #require(ParameterSets([1, 77, 64, 31, 255, 225, 0, 5, 0x67, 77, 64, 31, 0x80, 200] + frames))
    let more = (0..<200).flatMap { _ in [0, 2, 0x68, 0x80] as [UInt8] }
    let other = try #require(ParameterSets([1, 77, 64, 31, 255, 225, 0, 5, 0x67, 77, 64, 31, 0x40, 200] + more))
    #expect(one.joined(with: other) == nil)
  }

  @Test("an SSA or ASS script is refused as a subtitle file", arguments: ["", "\u{FEFF}", "; comment\r\n\r\n"])
  func scriptFile(beginning: String) throws {
    let folder = try TemporaryFolder()
    // The file is recognized by its content, not by its suffix.
    let path = folder.path("a.srt")
    try Data("\(beginning)[Script Info]\r\nScriptType: v4.00+\r\n".utf8).write(to: URL(fileURLWithPath: path))
    let error = #expect(throws: RetrogradeError.self) { try SubtitleFile.read(path, Resources(), Cancellation()) }
    #expect(error?.code == .missingPlugin)
    #expect(error?.description.contains("ffmpeg -i") == true, "\(error as Any)")
  }

  /// With a slow conversion, this test takes noticeably long: 10 s at half a millisecond per cue.
  @Test("the markup of many cues is converted for MP4, SubRip and WebVTT")
  func manyCues() throws {
    let text = "<i>Hello</i> &amp; <font color=\"red\">{\\an8}good-bye</font>"
    let span = { TimeSpan(start: ClockTime(nanoseconds: $0 * 10), end: ClockTime(nanoseconds: $0 * 10 + 9)) }
    let track = SubtitleTrack(
      caps: try #require(Caps("text/x-raw, format=pango-markup")), tags: nil,
      cues: (0..<20_000).map { Cue(span: span(Int64($0)), bytes: Array(text.utf8)) })
    #expect(track.texts(isWeb: true)?.last?.text == "<i>Hello</i> &amp; good-bye")
    #expect(track.texts(isWeb: false)?.last?.text == text.replacing("&amp;", with: "&"))
    let movie = try track.form(for: Container.of("a.mp4"))
    #expect(movie?.cues.count == track.cues.count)
    #expect(movie?.cues.last?.bytes == Array("Hello & good-bye".utf8))
  }

  @Test("text full of unclosed tags is scanned once")
  func unclosedTags() {
    for mark in ["<span", "<b", "{\\an8", "{"] {
      let text = String(repeating: mark, count: 20_000)
      #expect(SubtitleText.line("0,0,Default,,0,0,0,," + text) == text)
      #expect(SubtitleText.plain(text) == text)
    }
    #expect(SubtitleText.line("0,0,Default,,0,0,0,,{\\b1}one{\\b0} {two") == "one {two")
  }

  /// FFmpeg's decoders crash in GStreamer 1.22 if they output a pixel format that GStreamer does
  /// not know.
  @Test(
    "formats that would crash a decoder are refused",
    arguments: [
      ("video/x-h265, chroma-format=4:2:0, bit-depth-luma=(uint)9", true),
      ("video/x-h265, chroma-format=4:0:0, bit-depth-luma=(uint)12", true),
      ("video/x-h265, chroma-format=4:0:0, bit-depth-luma=(uint)8", false),
      ("video/x-h265, chroma-format=4:2:2, bit-depth-luma=(uint)10", false),
      ("video/x-h265, codec_data=(buffer)01", false),
      ("video/x-h264, chroma-format=4:2:0, bit-depth-luma=(uint)14", true),
      ("video/x-h264, chroma-format=4:0:0, bit-depth-luma=(uint)10", false),
      ("video/x-vp9, bit-depth-luma=(uint)9", false),
    ])
  func crashingFormats(packets: String, isRefused: Bool) throws {
    let caps = try #require(Caps(packets))
    try MisreadVideo.refuse(caps, by: "libde265dec", source: "a.mp4")
    do {
      try MisreadVideo.refuse(caps, by: "avdec_h265", source: "a.mp4")
      #expect(!isRefused)
    } catch let error as RetrogradeError {
      #expect(isRefused && error.code == .missingPlugin)
      #expect(error.message.contains("bits per sample, 4:"), "\(error.message)")
    }
  }

  @Test("10-bit grey HEVC is refused only if its decoder does not support the format")
  func greyHEVC() throws {
    let caps = try #require(Caps("video/x-h265, chroma-format=4:0:0, bit-depth-luma=(uint)10"))
    let format = try #require(Caps("video/x-raw, format=GRAY10_LE16"))
    let isKnown = try #require(Registry.sourceCaps(of: "avdec_h265")).intersects(format)
    let isLetThrough = (try? MisreadVideo.refuse(caps, by: "avdec_h265", source: "a.mp4")) != nil
    #expect(isLetThrough == isKnown)
  }

  @Test(
    "FFV1 in a pixel format that GStreamer does not know is refused before it is decoded",
    arguments: [("gbrp14le", 3), ("yuv440p10le", 3), ("ya8", 3), ("yuv444p9le", 1), ("yuv440p", 0)])
  func unknownFFV1Format(_ format: (name: String, version: Int)) async throws {
    let folder = try TemporaryFolder()
    let source = folder.path("a.mkv")
    _ = try FFmpeg.bytes([
      "-f", "lavfi", "-i", "testsrc=s=64x48:d=0.4:r=10", "-pix_fmt", format.name, "-c:v", "ffv1", "-level",
      "\(format.version)", source,
    ])
    do {
      try await Reverser(source).reverse(to: folder.path("m.mp4"))
      Issue.record("it is not refused")
    } catch let error as RetrogradeError {
      #expect(error.code == .missingPlugin)
      #expect(error.message.contains("no such pixel format"), "\(error.message)")
    }
  }

  @Test("a source that contains only subtitles is refused")
  func subtitleFile() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.srt")
    let cues = (10..<60).map { "\($0)\n00:00:\($0),000 --> 00:00:\($0),900\nline \($0)\n\n" }.joined()
    try Data(cues.utf8).write(to: URL(fileURLWithPath: path))
    let error = await #expect(throws: RetrogradeError.self) { try await Reverser(path).plan() }
    #expect(error?.code == .damagedInput)
    #expect(error?.description.contains("contains only subtitles") == true, "\(error as Any)")
  }
}
