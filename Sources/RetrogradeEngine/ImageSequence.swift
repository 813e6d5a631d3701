import Glibc
import GStreamer

/// Pictures in numbered files, named by a pattern such as `frames/%05d.png`.
public struct ImageSequence: Sendable {
  package let pattern: String
  package let numbers: ClosedRange<Int>

  /// Whether `path` is a pattern: one `%d`, or `%05d`, in the file's name.
  public static func isPattern(_ path: String) -> Bool { parts(of: path) != nil }

  private static func parts(of path: String) -> (folder: String, prefix: String, width: Int, suffix: String)? {
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let name = slash.map { path[path.index(after: $0)...] } ?? path[...]
    guard let match = name.wholeMatch(of: /([^%]*)%(?:0(\d{1,2}))?d([^%]*)/) else { return nil }
    return (folder, String(match.1), match.2.flatMap { Int($0) } ?? 0, String(match.3))
  }

  /// The numbers of the files of `pattern` that are there, ascending.
  package static func files(of pattern: String) throws -> [Int] {
    guard let (folder, prefix, width, suffix) = parts(of: pattern) else { return [] }
    guard let directory = opendir(folder) else {
      throw RetrogradeError(.noInput, "\(folder): \(String(cString: strerror(errno)))")
    }
    defer { closedir(directory) }
    var found: [Int] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard name.hasPrefix(prefix), name.hasSuffix(suffix), name.count > prefix.count + suffix.count else { continue }
      let digits = name.dropFirst(prefix.count).dropLast(suffix.count)
      guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(digits),
        digits.count == max(width, String(number).count)
      else { continue }
      found.append(number)
    }
    return found.sorted()
  }

  /// Finds the files of `pattern`, which must follow each other without a gap.
  ///
  /// - Returns: nil where `pattern` is none.
  /// - Throws: ``RetrogradeError`` of code `noInput` where there are no files of it, or one is missing.
  package init?(_ pattern: String) throws {
    guard ImageSequence.isPattern(pattern) else { return nil }
    let found = try ImageSequence.files(of: pattern)
    guard let first = found.first, let last = found.last else {
      throw RetrogradeError(.noInput, "\(pattern): no such files")
    }
    if let gap = zip(found, found.dropFirst()).first(where: { $1 != $0 + 1 }) {
      throw RetrogradeError(
        .noInput,
        "\(pattern): number \(gap.0 + 1) is missing, between \(gap.0) and \(gap.1); give the pictures numbers without a gap"
      )
    }
    self.pattern = pattern
    numbers = first...last
  }

  /// What reads them, in `gst-launch-1.0` syntax.
  func opening(_ rate: FrameRate) -> String {
    "imagesequencesrc name=source location=\(Description.quoted(pattern)) start-index=\(numbers.lowerBound) "
      + "stop-index=\(numbers.upperBound) framerate=\(rate)"
  }
}
