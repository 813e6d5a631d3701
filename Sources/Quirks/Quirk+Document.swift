extension Quirk {
  /// Text of docs/quirks.md: the table of all quirks.
  package static var document: String {
    let seeks = all.filter(\.isForSeeks).map { "`\($0.name)`" }.joined(separator: ", ")
    return """
      # Workarounds for GStreamer

      Retrograde works around \(all.count) faults and gaps of GStreamer's elements, each on the releases that have it. The
      values in `Sources/Quirks` are this table; `make quirks` writes it. Tests produce each symptom with plain
      elements, and expect it on exactly the releases below.

      | quirk | element | releases | symptom | workaround | upstream |
      |---|---|---|---|---|---|
      \(all.map(\.row).joined(separator: "\n"))

      Only seeks of demuxers need these: \(seeks.isEmpty ? "none" : seeks).

      """
  }

  private var row: String {
    "| `\(name)` | `\(element)` | \(releases) | \(symptom) | \(workaround) | \(upstream ?? "") |"
  }
}
