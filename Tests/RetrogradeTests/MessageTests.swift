import Foundation
import RetrogradeEngine
import TestSupport
import Testing

@testable import Retrograde

/// Texts of errors and warnings, and the setting names in them.
@Suite struct MessageTests {
  private static let message: Message =
    "a.mp4: takes \(ByteCount(5 << 20)): \(setting: .memory) is too small" + ("; leave out " + "\(setting: .isStrict)")

  @Test("the caller chooses the names of settings that appear in messages")
  func settingNames() {
    #expect(
      MessageTests.message.description
        == "a.mp4: takes 5.0 MiB: `resources.memory` is too small; leave out `output.isStrict`")
    let other = MessageTests.message.naming { "<\($0.rawValue)>" }
    #expect(other == "a.mp4: takes 5.0 MiB: <resources.memory> is too small; leave out <output.isStrict>")
    #expect(Message.list([.start, .end, .width]).naming(\.rawValue) == "playback.start, playback.end, encoding.width")
    #expect(Message.list([]).description.isEmpty)
  }

  @Test("an error has the same text, however it is printed")
  func errorText() {
    let error: any Error = RetrogradeError(.usage, MessageTests.message)
    #expect(error.localizedDescription == MessageTests.message.description)
    #expect("\(error)" == MessageTests.message.description)
  }

  @Test("an error has a subject, a reason and a remedy")
  func errorParts() async throws {
    let folder = try TemporaryFolder()
    let source = try TestMedia().write(to: folder)
    let error = await #expect(throws: RetrogradeError.self) { try await Reverser(source).reverse(to: source) }
    #expect(error?.subject == source)
    #expect(error?.reason == "is the input itself")
    #expect(error?.remedy == "use another output")
    #expect(error?.message == "\(source): is the input itself; use another output")
    let taken = folder.path("taken.mkv")
    try Data().write(to: URL(fileURLWithPath: taken))
    let refused = await #expect(throws: RetrogradeError.self) { try await Reverser(source).reverse(to: taken) }
    #expect(refused?.remedy == "\(setting: .overwrites) replaces it")
  }

  @Test("warnings survive a JSON round trip")
  func warningJSON() throws {
    let warning = Warning(
      .damaged, MessageTests.message, count: 3, span: TimeSpan(start: .zero, end: ClockTime(seconds: 2)))
    let encoder = JSONEncoder()
    let plain = try JSONDecoder().decode(Warning.self, from: encoder.encode(warning))
    #expect(plain.code == .damaged && plain.count == 3 && plain.span == warning.span)
    #expect(plain.message.description == MessageTests.message.description)
    let naming: @Sendable (Setting) -> String = { "--\($0.rawValue)" }
    encoder.userInfo[try #require(Warning.naming)] = naming
    let named = try JSONDecoder().decode(Warning.self, from: encoder.encode(warning))
    #expect(
      named.message.description == "a.mp4: takes 5.0 MiB: --resources.memory is too small; leave out --output.isStrict")
  }
}
