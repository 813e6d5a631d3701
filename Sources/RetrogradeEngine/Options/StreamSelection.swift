import Containers

/// Selection of a source's streams. Playback options without a selection play all streams.
public struct StreamSelection: Hashable, Sendable, Codable {
  private struct Item: Hashable, Sendable, Codable {
    var kind: StreamKind
    /// Number of the stream within its kind, counted from 0; nil for all streams of the kind.
    var number: Int?
  }
  private var items: [Item]

  /// Reads a list such as `video,audio:1,subtitles,chapters`, or in short form `v,a:1,s,c`. Numbers
  /// are counted from 0 within each kind. Returns nil if the text is not such a list.
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
  /// True if stream `number` of a kind is wanted; `number` counts from 0 within the kind.
  func wants(_ kind: StreamKind, _ number: Int = 0) -> Bool {
    wantsAny(kind) && streams?.contains(kind, number) ?? true
  }

  package var wantsChapters: Bool { wants(.chapters) }

  /// True if any stream of a kind is wanted.
  func wantsAny(_ kind: StreamKind) -> Bool {
    if kind == .audio && noAudio || kind == .video && noVideo { return false }
    return streams?.contains(kind) ?? true
  }
}
