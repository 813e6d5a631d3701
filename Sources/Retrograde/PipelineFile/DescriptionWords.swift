/// Splits pipeline descriptions in `gst-launch-1.0` syntax into words.
package enum DescriptionWords {
  /// Splits `text` at spaces outside quotes.
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

  /// If `text` ends within the value of a property, returns the name of that property and the
  /// factory of the property's element; otherwise returns nil.
  static func property(atEndOf text: String) -> (name: String, factory: String)? {
    // Remove the spaces that GStreamer allows on both sides of the equals sign.
    let words = all(in: text.replacing(/\s*=\s*/, with: "="))
    let assignment = /([A-Za-z][A-Za-z0-9_-]*)=.*/.dotMatchesNewlines()
    guard let last = words.last, let match = last.wholeMatch(of: assignment),
      // If a space outside quotes follows the value, `text` does not end within the value.
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
