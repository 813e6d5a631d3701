import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

@Suite struct ParsingTests {
  @Test(
    "sizes are parsed with and without units",
    arguments: [
      ("512MiB", 512 << 20), ("2G", 2 << 30), ("1.5k", 1536), ("100", 100), ("64mb", 64 << 20), ("7b", 7),
    ])
  func sizes(text: String, bytes: Int) {
    #expect(ByteCount(parsing: text)?.bytes == bytes)
  }

  @Test("invalid sizes are rejected", arguments: ["", "MiB", "-5", "0", "12 parsecs", "1e400"])
  func invalidSizes(text: String) { #expect(ByteCount(parsing: text) == nil) }

  @Test("positions are parsed as times or frames")
  func positions() {
    #expect(SourcePosition(parsing: "2.5") == .time(ClockTime(nanoseconds: 2_500_000_000)))
    #expect(SourcePosition(parsing: "1:02.5") == .time(ClockTime(nanoseconds: 62_500_000_000)))
    #expect(SourcePosition(parsing: "1:00:00") == .time(ClockTime(nanoseconds: 3_600_000_000_000)))
    #expect(SourcePosition(parsing: "250f") == .frame(250))
  }

  @Test(
    "invalid positions are rejected",
    arguments: [
      "", "f", "-1", "1:60", "1:2:3:4", "nan", "inf", "x", "-3f", "0x10", "0x1p-1", "0X1:00", "end-0x1",
    ])
  func invalidPositions(text: String) { #expect(SourcePosition(parsing: text) == nil) }

  @Test("hexadecimal numbers are invalid in scores", arguments: ["0..0x1", "0..1 x0x2", "0..1 ramp 0x1..2"])
  func hexadecimalScore(text: String) {
    #expect(throws: RetrogradeError.self) { try Score(parsing: text) }
    #expect(FrameRate(parsing: "0x10") == nil)
  }

  @Test("a sample index survives the conversion to a time and back")
  func sampleIndexRoundTrip() {
    var generator = SeededGenerator(5)
    for _ in 0..<5000 {
      let rate = [8000, 11025, 22050, 44100, 48000, 96000, 192_000].randomElement(using: &generator) ?? 48000
      let index = Int.random(in: 0...2_000_000_000, using: &generator)
      #expect(ClockTime(sampleIndex: index, rate: rate).sampleIndex(rate: rate) == index)
    }
  }
}
