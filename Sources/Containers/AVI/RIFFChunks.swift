/// RIFF chunks ("Multimedia Programming Interface and Data Specifications 1.0", IBM and Microsoft).
/// A RIFF chunk has a four-character name, the length of the body, and the body, which is padded to
/// an even length.
extension RandomAccessFile {
  /// Returns the RIFF chunks in `range`. Their bodies are clamped to `range`.
  func chunks(in range: Range<Int>) -> [(name: String, body: Range<Int>)] {
    var found: [(name: String, body: Range<Int>)] = []
    _ = forEachChunk(in: range) { name, body in
      found.append((name, body.clamped(to: range)))
      return true
    }
    return found
  }

  /// Calls `visit` with each RIFF chunk in `range` until `visit` returns false. The last RIFF chunk
  /// may extend beyond `range`.
  /// - Returns: true if the RIFF chunks fill `range`, and `visit` returned true for each of them.
  func forEachChunk(in range: Range<Int>, _ visit: (_ name: String, _ body: Range<Int>) -> Bool) -> Bool {
    var place = range.lowerBound
    for _ in 0..<RandomAccessFile.mostChunks {
      guard place + 8 <= range.upperBound, let name = text(at: place),
        let size = number(at: place + 4, 4, isLittleEndian: true)
      else { break }
      guard visit(name, place + 8..<place + 8 + size) else { return false }
      place += 8 + size + size % 2
      // The padding byte of the last RIFF chunk may be missing.
      if place - size % 2 == range.upperBound { return true }
    }
    return place == range.upperBound
  }

  /// Maximum number of sibling RIFF chunks. Several days of audio need fewer.
  private static let mostChunks = 1 << 24

  /// Contents of each stream list (`strl`) of an AVI file, as ranges that exclude the list type.
  var aviStreams: [Range<Int>] {
    guard text(at: 12) == "LIST", text(at: 20) == "hdrl", let size = number(at: 16, 4, isLittleEndian: true),
      (4..<1 << 24).contains(size)
    else { return [] }
    return chunks(in: 24..<20 + size)
      .filter { $0.name == "LIST" && $0.body.count >= 4 && text(at: $0.body.lowerBound) == "strl" }
      .map { $0.body.dropFirst(4) }
  }

  /// Tracks of an AVI file in order, with their names (`strn`), which avidemux does not read.
  var aviTracks: [ContainerTrack] {
    aviStreams.map { list in
      let parts = chunks(in: list)
      let type = parts.first { $0.name == "strh" }.flatMap { text(at: $0.body.lowerBound) }
      let kind: StreamKind = ["vids": .video, "auds": .audio, "txts": .subtitles][type] ?? .other
      let title = parts.first { $0.name == "strn" && $0.body.count < 1 << 16 }.flatMap { read($0.body) }
        .map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      return ContainerTrack(kind: kind, disposition: nil, title: title.flatMap { $0.isEmpty ? nil : $0 })
    }
  }

  /// Entries of an AVI file's `LIST INFO` that GStreamer does not read.
  var aviTags: [NamedTag] {
    guard let size = number(at: 4, 4, isLittleEndian: true), case let end = min(8 + size, self.size), end > 12 else {
      return []
    }
    let lists = chunks(in: 12..<end).filter { $0.name == "LIST" && $0.body.count >= 4 }
    return lists.filter { text(at: $0.body.lowerBound) == "INFO" }.flatMap { chunks(in: $0.body.dropFirst(4)) }
      .compactMap { name, body in
        body.count < 1 << 16 ? read(body).flatMap { NamedTag(info: name, $0) } : nil
      }
  }
}

extension NamedTag {
  /// Creates a tag from an entry of `LIST INFO`; nil if GStreamer reads the entry, or if its text
  /// is empty.
  init?(info name: String, _ body: [UInt8]) {
    let text = body.prefix { $0 != 0 }
    guard !NamedTag.knownInfo.contains(name), !text.isEmpty else { return nil }
    self.init(name: NamedTag.words[name] ?? name, text: String(decoding: text, as: UTF8.self))
  }

  /// Names of the entries that GStreamer reads as tags (`gst_riff_parse_info_with_tag`).
  private static let knownInfo: Set = [
    "IARL", "IAAR", "IART", "ICMT", "ICOP", "ICRD", "IGNR", "IKEY", "INAM", "IPRD", "ISBJ", "ISFT", "ISRC", "ITRK",
  ]

  /// Tag names in other containers, by name of the `LIST INFO` entry.
  private static let words = ["ITCH": "ENCODED_BY", "IPRT": "TRACKNUMBER", "IENG": "ENGINEER", "ILNG": "LANGUAGE_NAME"]
}
