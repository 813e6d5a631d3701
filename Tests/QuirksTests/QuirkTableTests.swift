import Foundation
import Quirks
import Testing

@Suite("The table of quirks") struct QuirkTableTests {
  @Test("docs/quirks.md says what the quirks say; make quirks writes it")
  func document() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../../docs/quirks.md")
    if ProcessInfo.processInfo.environment["RETROGRADE_WRITE_QUIRKS"] != nil {
      try Quirk.document.write(to: file, atomically: true, encoding: .utf8)
    }
    #expect(try String(contentsOf: file, encoding: .utf8) == Quirk.document)
  }

  @Test("each quirk has a name of its own, which begins with an element")
  func names() {
    #expect(Set(Quirk.all.map(\.name)).count == Quirk.all.count)
    for quirk in Quirk.all { #expect(quirk.name.contains("-"), "\(quirk.name)") }
  }
}
