import Foundation
import Testing

/// All Swift code in the documentation is compiled. Code in articles and comments is also in
/// Tests/Samples; the files of tutorials are a separate target.
@Suite struct SampleTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Returns the files in a folder and its subfolders whose names end with `suffix`.
  private static func files(_ folder: String, _ suffix: String) throws -> [URL] {
    let base = root.appending(path: folder)
    return try FileManager.default.subpathsOfDirectory(atPath: base.path).filter { $0.hasSuffix(suffix) }.sorted()
      .map { base.appending(path: $0) }
  }

  /// Returns the lines that are not empty, without their indentation.
  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }

  /// Returns the Swift code blocks of a page, or of the doc comments in a source file.
  private static func blocks(_ file: URL) throws -> [[String]] {
    var blocks: [[String]] = []
    var isOpen = false
    for line in lines(try String(contentsOf: file, encoding: .utf8)) {
      var line = line
      if file.pathExtension == "swift" {
        guard line.hasPrefix("///") else { continue }
        line = line.dropFirst(3).trimmingCharacters(in: .whitespaces)
      }
      if line == "```swift" {
        isOpen = true
        blocks.append([])
      } else if line == "```" {
        isOpen = false
      } else if isOpen, !line.isEmpty {
        blocks[blocks.count - 1].append(line)
      }
    }
    return blocks
  }

  @Test("every code sample in the documentation is compiled")
  func compiledSamples() throws {
    let samples = try Self.files("Tests/Samples", ".swift").map {
      Self.lines(try String(contentsOf: $0, encoding: .utf8))
    }
    let pages =
      [Self.root.appending(path: "README.md")]
      + (try Self.files("docs", ".md") + Self.files("Sources/Retrograde/Retrograde.docc", ".md")
        + ["MediaTime", "Drawing", "RetrogradeEngine", "Retrograde", "RetrogradePlayer"].flatMap {
          try Self.files("Sources/\($0)", ".swift")
        })
    var count = 0
    for page in pages {
      for block in try Self.blocks(page) {
        count += 1
        // The sample has its imports at the top of the file, so they are not expected directly
        // before the code.
        let (imports, code) = (block.filter { $0.hasPrefix("import ") }, block.filter { !$0.hasPrefix("import ") })
        let isCompiled = samples.contains { sample in
          imports.allSatisfy(sample.contains)
            && sample.indices.contains { sample[$0...].starts(with: code) }
        }
        #expect(
          isCompiled,
          "\(page.lastPathComponent) shows what no file in Tests/Samples has:\n\(code.joined(separator: "\n"))")
      }
    }
    #expect(count > 25)
  }

  @Test("every code file of the tutorials is shown in a tutorial")
  func tutorialFiles() throws {
    let folder = "Sources/Retrograde/Retrograde.docc/Tutorials"
    let tutorials = try Self.files(folder, ".tutorial").map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    for file in try Self.files("\(folder)/Code", ".swift") {
      #expect(tutorials.contains("file: \"\(file.lastPathComponent)\""), "\(file.lastPathComponent)")
    }
  }
}
