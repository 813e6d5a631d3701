import Retrograde

extension Message {
  package func contains(_ words: String) -> Bool { description.contains(words) }
  package func hasPrefix(_ words: String) -> Bool { description.hasPrefix(words) }
}
