import Foundation
import Quirks
import Testing

@Suite("The table of quirks") struct QuirkTableTests {
  @Test("docs/quirks.md is up to date with the quirks")
  func document() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../../docs/quirks.md")
    if ProcessInfo.processInfo.environment["RETROGRADE_WRITE_QUIRKS"] != nil {
      try Quirk.document.write(to: file, atomically: true, encoding: .utf8)
    }
    #expect(try String(contentsOf: file, encoding: .utf8) == Quirk.document)
  }

  @Test("each quirk has a unique name of at least two words")
  func names() {
    let all = Quirk.all + Quirk.limits
    #expect(Set(all.map(\.name)).count == all.count)
    for quirk in all { #expect(quirk.name.contains("-"), "\(quirk.name)") }
  }

  @Test("each quirk and limit has a test of its symptom")
  func tests() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    func text(in folder: URL) throws -> String {
      let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      return try files.filter { $0.pathExtension == "swift" }
        .map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
    }
    let tests = try text(in: folder)
    let expected = Set(tests.matches(of: /expect\(\s*\.(\w+)/).map(\.1))
    let values = try text(in: folder.appendingPathComponent("../../Sources/Quirks"))
      .matches(of: /static let (\w+) = Quirk\(/).map(\.1)
    #expect(values.count == (Quirk.all + Quirk.limits).count)
    #expect(Set(values).subtracting(expected).sorted() == [], "no test expects them")
  }

  @Test("docs/limits.md and limits-outputs.md name the release in which each limit ends")
  func limits() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../docs")
    let pages = try ["limits.md", "limits-outputs.md"].map {
      try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)
    }
    var rows: [String: String] = [:]
    for line in pages.joined(separator: "\n").split(separator: "\n") where line.hasPrefix("| `") {
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
