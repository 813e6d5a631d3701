import Containers

/// Which streams of a source are mirrored: all, unless said otherwise.
public struct StreamSelection: Hashable, Sendable, Codable {
  private struct Item: Hashable, Sendable, Codable {
    var kind: StreamKind
    /// The place among those of its kind; nil: all of them.
    var number: Int?
  }
  private var items: [Item]

  /// Reads a list such as `video,audio:1,subtitles,chapters`, or short, `v,a:1,s,c`; numbers are counted from 0 within each
  /// kind. Nil if it is none.
  public init?(parsing text: String) {
    let names: [String: StreamKind] = [
      "video": .video, "v": .video, "audio": .audio, "a": .audio, "subtitles": .subtitles, "s": .subtitles,
      "chapters": .chapters, "c": .chapters,
    ]
    var items: [Item] = []
    for part in text.lowercased().split(separator: ",", omittingEmptySubsequences: false) {
      let pair = part.split(separator: ":", omittingEmptySubsequences: false)
      guard pair.count <= 2, let kind = pair.first.flatMap({ names[String($0)] }) else { return nil }
      guard pair.count == 1 || Int(pair[1]).map({ $0 >= 0 }) == true else { return nil }
      items.append(Item(kind: kind, number: pair.count == 2 ? Int(pair[1]) : nil))
    }
    self.items = items
  }

  /// The first video stream and all audio.
  package static let played = StreamSelection(items: [Item(kind: .video, number: 0), Item(kind: .audio)])

  private init(items: [Item]) { self.items = items }

  func contains(_ kind: StreamKind, _ number: Int) -> Bool {
    items.contains { $0.kind == kind && ($0.number == nil || $0.number == number) }
  }

  func contains(_ kind: StreamKind) -> Bool { items.contains { $0.kind == kind } }
}

extension PlaybackOptions {
  /// Whether stream `number` of those of its kind is wanted.
  func wants(_ kind: StreamKind, _ number: Int = 0) -> Bool {
    wantsAny(kind) && streams?.contains(kind, number) ?? true
  }

  package var wantsChapters: Bool { wants(.chapters) }

  /// Whether any stream of a kind is wanted.
  func wantsAny(_ kind: StreamKind) -> Bool {
    if kind == .audio && noAudio || kind == .video && noVideo { return false }
    return streams?.contains(kind) ?? true
  }
}
