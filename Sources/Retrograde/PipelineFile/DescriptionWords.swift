/// A description in `gst-launch-1.0` syntax, taken apart.
package enum DescriptionWords {
  /// Words between spaces that are not inside quotes.
  package static func all(in text: String) -> [String] {
    var words: [String] = []
    var word = ""
    var quote: Character?
    var isEscaped = false
    for character in text {
      if quote == nil, !isEscaped, character.isWhitespace {
        if !word.isEmpty { words.append(word) }
        word = ""
        continue
      }
      if !isEscaped, character == "\"" || character == "'" {
        quote = quote == nil ? character : quote == character ? nil : quote
      }
      isEscaped = character == "\\" && !isEscaped
      word.append(character)
    }
    return word.isEmpty ? words : words + [word]
  }

  /// The property whose value is being written where `text` ends, and the factory of its element; nil where it is none's.
  static func property(atEndOf text: String) -> (name: String, factory: String)? {
    // GStreamer takes spaces on both sides of the sign.
    let words = all(in: text.replacing(/\s*=\s*/, with: "="))
    let assignment = /([A-Za-z][A-Za-z0-9_-]*)=.*/.dotMatchesNewlines()
    guard let last = words.last, let match = last.wholeMatch(of: assignment),
      // With a space behind it, outside quotes, it is over.
      !isComplete(last, in: text),
      let element = words.dropLast().last(where: { $0.wholeMatch(of: assignment) == nil })
    else { return nil }
    return (String(match.output.1), element.filter { !"(\"".contains($0) })
  }

  private static func isComplete(_ word: String, in text: String) -> Bool {
    let isOpen = word.hasSuffix("=") || word.count(where: { $0 == "\"" }) % 2 == 1
    return !isOpen && text.last?.isWhitespace == true
  }
}
