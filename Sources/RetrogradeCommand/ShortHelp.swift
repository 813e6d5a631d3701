/// Help for `-h`: the usage and the first options of `--help`, each shortened to one sentence.
enum ShortHelp {
  private static let mostOptions = 10
  /// Column in which explanations start (the same as in `--help`), and width of a line.
  private static let (column, width) = (26, 80)

  /// Returns the text of `-h`.
  /// - Parameter help: text of `--help`.
  static func of(_ help: String) -> String {
    let lines = help.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let usage = lines.firstIndex { $0.hasPrefix("USAGE:") } ?? lines.endIndex
    let overview = lines[..<usage].prefix { !$0.isEmpty }
    let sections = lines[usage...].split(separator: "").map { Section(Array($0)) }
    let counts = optionCounts(of: sections)
    var shortened = [Array(overview)]
    for (section, count) in zip(sections, counts) {
      guard let heading = section.heading else {
        shortened.append(section.lines)
        continue
      }
      let kept = section.others + section.options.prefix(count)
      if !kept.isEmpty { shortened.append([heading] + kept.flatMap(shown)) }
    }
    return shortened.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
      + "\n\n--help shows all options, and examples.\n"
  }

  private struct Entry {
    var label: String
    var text: String
    var isOption: Bool { label.hasPrefix("  -") }
  }

  private struct Section {
    let lines: [String]
    /// Heading of a list of options; nil for other text.
    let heading: String?
    let options: [Entry]
    let others: [Entry]

    init(_ lines: [String]) {
      self.lines = lines
      heading = lines.first.flatMap { $0.hasSuffix(":") ? $0 : nil }
      let entries = heading == nil ? [] : ShortHelp.entries(of: lines.dropFirst())
      options = entries.filter { $0.isOption && !$0.label.contains("--version") && !$0.label.contains("--help") }
      others = entries.filter { !$0.isOption }
    }
  }

  /// Returns the number of options to show in each section. No section shows a second option before
  /// every section shows its first one.
  private static func optionCounts(of sections: [Section]) -> [Int] {
    var counts = sections.map { _ in 0 }
    var left = mostOptions
    while left > 0,
      let smallest = sections.indices.filter({ counts[$0] < sections[$0].options.count }).min(by: {
        counts[$0] < counts[$1]
      })
    {
      counts[smallest] += 1
      left -= 1
    }
    return counts
  }

  /// Returns arguments, options or commands, each with the first sentence of its explanation.
  private static func entries(of lines: some Sequence<String>) -> [Entry] {
    var entries: [Entry] = []
    for line in lines {
      if line.hasPrefix("   ") {
        if !entries.isEmpty { entries[entries.count - 1].text += " " + line.drop { $0 == " " } }
      } else {
        let label = line.count >= column ? line.prefix(column) : line[...]
        // A label that is too wide for its column is on a separate line.
        let isLong = !label.hasSuffix(" ") && line.count >= column
        entries.append(
          Entry(label: isLong ? line : label.trimmedAtEnd, text: isLong ? "" : String(line.dropFirst(column))))
      }
    }
    return entries.map { Entry(label: $0.label, text: sentence($0.text)) }
  }

  /// Returns the first sentence of `text`, without surrounding spaces.
  private static func sentence(_ text: String) -> String {
    let words = text.split(separator: " ")
    let end = words.firstIndex { $0.hasSuffix(".") }.map { $0 + 1 } ?? words.endIndex
    return words[..<end].joined(separator: " ")
  }

  private static func shown(_ entry: Entry) -> [String] {
    var lines: [String] = []
    for word in entry.text.split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= width - column {
        lines[lines.count - 1] = last + " " + word
      } else {
        lines.append(String(word))
      }
    }
    let indent = String(repeating: " ", count: column)
    if entry.label.count < column, let first = lines.first {
      return [entry.label.padded(to: column) + first] + lines.dropFirst().map { indent + $0 }
    }
    return [entry.label] + lines.map { indent + $0 }
  }
}

extension Substring {
  fileprivate var trimmedAtEnd: String { String(reversed().drop { $0 == " " }.reversed()) }
}
