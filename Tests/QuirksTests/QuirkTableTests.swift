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
    let all = Quirk.all + Quirk.limits
    #expect(Set(all.map(\.name)).count == all.count)
    for quirk in all { #expect(quirk.name.contains("-"), "\(quirk.name)") }
  }

  @Test("docs/limits.md says in which release each limit ends")
  func limits() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../../docs/limits.md")
    var rows: [String: String] = [:]
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") where line.hasPrefix("| `") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      let name = cells[0].trimmingCharacters(in: ["`"])
      #expect(rows.updateValue(cells[2], forKey: name) == nil, "\(name) has two rows")
    }
    for limit in Quirk.limits { #expect(rows[limit.name] != nil, "\(limit.name) has no row") }
    for (name, end) in rows {
      let limit = (Quirk.limits + Quirk.all).first { $0.name == name }
      #expect(end == limit.map { $0.releases.end ?? "—" }, "\(name)")
    }
  }
}
