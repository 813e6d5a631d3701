import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// In Ogg, Theora stores frame numbers instead of timestamps. In Matroska, each frame has a
/// timestamp.
@Suite struct TheoraTests {
  @Test("only Ogg gives all frames the same duration", arguments: [("m.ogv", ["converted"]), ("m.mkv", [])])
  func frameLengths(_ name: String, _ codes: [String]) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.frameRate = "30/1"
    media.video = "theoraenc"
    // The second half starts a quarter of a second later.
    media.times = TestMedia.regular(60, rate: 30).enumerated().map { number, time in
      number < 30 ? time : time + ClockTime(nanoseconds: 250_000_000)
    }
    let source = try media.write(to: folder)
    let reversal = Reverser(source).start(to: folder.path(name))
    let warnings = try await reversal.summary().warnings
    #expect(warnings.map(\.code.rawValue) == codes, "\(warnings)")
    guard codes.isEmpty else { return }
    let times = try await Verifier(source, mirror: folder.path(name)).verify().checks.first { $0.subject == "times" }
    #expect(times?.holds == true, "\(times?.finding ?? "")")
  }
}
