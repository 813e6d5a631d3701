/// Reduces a manifest to its best variant, because dashdemux begins with the variant of the lowest
/// bit rate (`Quirk.dashdemuxFirstVariant`).
extension Playlist {
  /// Returns the DASH manifest with only the representation of the highest bit rate in each
  /// adaptation set. The result also contains a base address for the names in the manifest, because
  /// dashdemux reads the result from another location.
  /// - Parameter folder: folder of the original playlist, with a trailing slash.
  func best(from folder: String) -> String {
    var best = text
    for set in text.matches(of: /<(\w+:)?AdaptationSet\b.*?<\/(\w+:)?AdaptationSet>/.dotMatchesNewlines()) {
      best = best.replacing(set.0, with: Playlist.best(set.0))
    }
    return Playlist.based(best, folder)
  }

  private static func best(_ set: Substring) -> String {
    let all = set.matches(
      of: /<(?:\w+:)?Representation\b[^>]*?(?:\/>|>.*?<\/(?:\w+:)?Representation>)/.dotMatchesNewlines()
    ).map(\.0)
    func rate(_ representation: Substring) -> Int {
      representation.firstMatch(of: /\bbandwidth\s*=\s*["'](\d+)["']/).flatMap { Int($0.1) } ?? 0
    }
    guard let kept = all.max(by: { rate($0) < rate($1) }) else { return String(set) }
    return all.filter { $0 != kept }.reduce(String(set)) { $0.replacing($1, with: "") }
  }

  private static func based(_ text: String, _ folder: String) -> String {
    let head = text.firstRange(of: /<(\w+:)?Period\b/).map { text[..<$0.lowerBound] } ?? text[...]
    let base = folder.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    if let known = head.firstMatch(of: /(<(?:\w+:)?BaseURL[^>]*>)\s*([^<]*)/) {
      return known.2.contains("://")
        ? text : text.replacing(known.0, with: "\(known.1)\(base)\(known.2)", maxReplacements: 1)
    }
    guard let root = head.firstMatch(of: /<(\w+:)?MPD\b[^>]*>/) else { return text }
    return text.replacing(
      root.0, with: "\(root.0)<\(root.1 ?? "")BaseURL>\(base)</\(root.1 ?? "")BaseURL>", maxReplacements: 1)
  }
}
