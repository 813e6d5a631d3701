import Glibc
import GStreamer
import MediaTime
import Paths

/// Images in numbered files. A pattern such as `frames/%05d.png` stands for their names.
package struct ImageSequence: Sendable {
  package let pattern: String
  package let numbers: ClosedRange<Int>

  /// True if the file name of `path` contains one number placeholder, such as `%d` or `%05d`.
  package static func isPattern(_ path: String) -> Bool { parts(of: path) != nil }

  private static func parts(of path: String) -> (folder: String, prefix: String, width: Int, suffix: String)? {
    guard let match = path.lastPart.wholeMatch(of: /([^%]*)%(?:0(\d{1,2}))?d([^%]*)/) else { return nil }
    return (path.folderPath, String(match.1), match.2.flatMap { Int($0) } ?? 0, String(match.3))
  }

  /// Returns the file name of image `number`, without a folder; `pattern` itself if it contains no
  /// number placeholder.
  package static func name(_ pattern: String, _ number: Int) -> String {
    guard let (_, prefix, width, suffix) = parts(of: pattern) else { return pattern }
    let digits = String(number)
    return prefix + String(repeating: "0", count: max(0, width - digits.count)) + digits + suffix
  }

  /// Returns the names of the existing files that match `pattern`, without folders, in numerical
  /// order.
  package static func names(of pattern: String) throws -> [String] {
    try files(of: pattern).map { name(pattern, $0) }
  }

  /// Returns the numbers of the existing files that match `pattern`, ascending.
  package static func files(of pattern: String) throws -> [Int] {
    guard let (folder, prefix, width, suffix) = parts(of: pattern) else { return [] }
    guard let names = fileNames(in: folder) else {
      throw RetrogradeError(.noInput, about: folder, "\(String(cString: strerror(errno)))")
    }
    return names.compactMap { name -> Int? in
      // Compare bytes, because `String` treats different Unicode forms of a letter as equal, but
      // file names in different forms name different files.
      let bytes = Array(name.utf8)
      let digits = bytes.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
      guard bytes.starts(with: prefix.utf8), bytes.reversed().starts(with: suffix.utf8.reversed()),
        digits.count >= max(width, 1), bytes.count == prefix.utf8.count + digits.count + suffix.utf8.count,
        digits.allSatisfy({ (48...57).contains($0) }), let number = Int(String(decoding: digits, as: UTF8.self)),
        digits.count == max(width, String(number).count)
      else { return nil }
      return number
    }.sorted()
  }

  /// Finds the files that match `pattern`. Their numbers must be consecutive.
  ///
  /// - Returns: nil if `pattern` is not a pattern.
  /// - Throws: ``RetrogradeError`` of code `noInput` if no file exists, or a number is missing.
  package init?(_ pattern: String) throws {
    guard ImageSequence.isPattern(pattern) else { return nil }
    let found = try ImageSequence.files(of: pattern)
    guard let first = found.first, let last = found.last else {
      throw RetrogradeError(.noInput, about: pattern, "no files match this pattern")
    }
    if let gap = zip(found, found.dropFirst()).first(where: { $1 != $0 + 1 }) {
      throw RetrogradeError(
        .noInput,
        about: pattern, "number \(gap.0 + 1) is missing, between \(gap.0) and \(gap.1)",
        remedy: "number the images without gaps"
      )
    }
    self.pattern = pattern
    numbers = first...last
  }

  /// Paths of the images, in order.
  var paths: some Sequence<String> {
    numbers.lazy.map { number in "\(pattern.folderPath)/\(ImageSequence.name(pattern, number))" }
  }

  /// Returns the source element that reads the images, in `gst-launch-1.0` syntax.
  func sourceDescription(_ rate: FrameRate) -> String {
    "imagesequencesrc name=source location=\(Description.quoted(pattern)) start-index=\(numbers.lowerBound) "
      + "stop-index=\(numbers.upperBound) framerate=\(rate)"
  }
}
