/// Chunks of a WAVE file beside its samples: markers, loops and descriptions.
///
/// Each chunk is read as markers or loops, kept for the output, or is known to say nothing that the samples
/// do not say; ``played(isWhole:_:)`` names all others.
///
/// Sources: "Multimedia Programming Interface and Data Specifications 1.0" (IBM and Microsoft), EBU Tech 3285
/// (`bext`), EBU Tech 3306 (`ds64`), AES46 (`cart`).
package struct WAVEChunks: Sendable {
  package struct Chunk: Sendable, Equatable {
    package var name: String
    package var body: [UInt8]
  }

  /// A place between two sample frames, or a region (`cue `, and `ltxt` in `LIST adtl`).
  package struct Marker: Sendable {
    package var identifier: Int
    /// Empty if it is a point.
    package var frames: Range<Int>
    package var title: String
    /// Its labels, notes and texts: chunks of `LIST adtl` without the identifier.
    var texts: [Chunk] = []
  }

  /// A stretch that samplers repeat (`smpl`).
  struct Loop: Sendable {
    var frames: Range<Int>
    var entry: [UInt8]
  }

  package private(set) var markers: [Marker] = []
  private(set) var loops: [Loop] = []
  /// The body of `smpl` before its loops, and after them.
  private(set) var sampler: (head: [UInt8], rest: [UInt8])?
  /// The entries of `LIST INFO`.
  private(set) var info: [Chunk] = []
  /// The chunks with a meaning that are none of these.
  private(set) var others: [Chunk] = []
  /// Names of chunks that are too large to be held, or cut.
  private(set) var unread: [String] = []

  /// Chunks that describe or fill the file, and measurements of its samples, which a reader can repeat.
  private static let technical: Set = [
    "fmt ", "data", "fact", "ds64", "JUNK", "junk", "PAD ", "FLLR", "FILL", "filr", "PEAK", "levl",
  ]
  /// More than any description takes: a damaged size is not believed.
  private static let most = 1 << 24

  /// - Parameter frameCount: sample frames in the file.
  init(_ file: RandomAccessFile, frameCount: Int) {
    var cues: [(identifier: Int, position: Int)] = []
    var texts: [(identifier: Int, text: Chunk)] = []
    var total = 0
    WAVEHeader.forEachChunk(in: file) { name, body in
      guard name.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return false }
      guard !WAVEChunks.technical.contains(name), !body.isEmpty else { return true }
      total += body.count
      guard body.upperBound <= file.size, total < WAVEChunks.most, let bytes = file.read(body) else {
        unread.append(name)
        return body.upperBound <= file.size
      }
      // Wave64 writes the names of its own chunks in small letters.
      let list = name.uppercased() == "LIST" && bytes.count >= 4 ? bytes.text(0) : nil
      switch list ?? name {
      case "cue " where list == nil: cues += WAVEChunks.cues(bytes, frameCount)
      case "smpl" where list == nil: readLoops(bytes, frameCount)
      case "adtl" where list != nil:
        texts += WAVEChunks.chunks(in: bytes[4...]).compactMap { text in
          text.body.count < 4
            ? nil : (text.body.littleEndian(0), Chunk(name: text.name, body: Array(text.body[4...])))
        }
      case "INFO" where list != nil: info += WAVEChunks.chunks(in: bytes[4...])
      default: others.append(Chunk(name: list.map { "LIST \($0)" } ?? name, body: bytes))
      }
      return true
    }
    var groups = Dictionary(grouping: texts) { $0.identifier }
    // Identifiers are unique: a second cue of the same one has no texts.
    markers = cues.map { cue in
      let own = groups.removeValue(forKey: cue.identifier) ?? []
      return Marker(cue, own.map(\.text), frameCount)
    }
  }

  private static func cues(_ bytes: [UInt8], _ frameCount: Int) -> [(identifier: Int, position: Int)] {
    guard bytes.count >= 4 else { return [] }
    return (0..<min(bytes.littleEndian(0), (bytes.count - 4) / 24)).map { number in
      let entry = 4 + number * 24
      return (bytes.littleEndian(entry), bytes.littleEndian(entry + 20))
    }
  }

  private mutating func readLoops(_ bytes: [UInt8], _ frameCount: Int) {
    guard bytes.count >= 36 else {
      others.append(Chunk(name: "smpl", body: bytes))
      return
    }
    let count = min(bytes.littleEndian(28), (bytes.count - 36) / 24)
    loops = (0..<count).map { number in
      let entry = Array(bytes[36 + number * 24..<60 + number * 24])
      let start = entry.littleEndian(8)
      // The last frame belongs to the loop; some programs name the one after it.
      let end = min(entry.littleEndian(12) + 1, max(frameCount, 1))
      return Loop(frames: start..<max(start, end), entry: entry)
    }
    sampler = (Array(bytes[..<36]), Array(bytes[(36 + count * 24)...]))
  }

  /// The chunks that `bytes` are made of, none of them longer than those.
  static func chunks(in bytes: ArraySlice<UInt8>) -> [Chunk] {
    var found: [Chunk] = []
    var rest = bytes
    while rest.count >= 8 {
      let head = Array(rest.prefix(8))
      // Zeros at the end, or damage: other names could not be written again in four bytes.
      guard head[..<4].allSatisfy({ (0x20..<0x7F).contains($0) }) else { break }
      let size = head.littleEndian(4)
      found.append(Chunk(name: head.text(0), body: Array(rest.dropFirst(8).prefix(size))))
      rest = rest.dropFirst(8 + size + size % 2)
    }
    return found
  }
}

extension WAVEChunks.Marker {
  fileprivate init(
    _ cue: (identifier: Int, position: Int), _ texts: [WAVEChunks.Chunk], _ frameCount: Int
  ) {
    identifier = cue.identifier
    let length = texts.filter { $0.name == "ltxt" && $0.body.count >= 4 }.map { $0.body.littleEndian(0) }.max()
    frames = cue.position..<max(cue.position, min(cue.position + (length ?? 0), frameCount))
    self.texts = texts
    func text(_ name: String, _ start: Int) -> String? {
      texts.first { $0.name == name && $0.body.count > start }
        .map { String(decoding: $0.body.dropFirst(start).prefix { $0 != 0 }, as: UTF8.self) }
        .flatMap { $0.isEmpty ? nil : $0 }
    }
    title = text("labl", 0) ?? text("ltxt", 16) ?? text("note", 0) ?? ""
  }
}

extension [UInt8] {
  /// Four bytes, the lowest first.
  func littleEndian(_ offset: Int) -> Int {
    Int(self[offset]) | Int(self[offset + 1]) << 8 | Int(self[offset + 2]) << 16 | Int(self[offset + 3]) << 24
  }

  /// Writes four bytes, the lowest first.
  mutating func setLittleEndian(_ value: Int, at offset: Int) {
    for byte in 0..<4 { self[offset + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte)) }
  }

  /// `value` in four bytes, the lowest first.
  static func littleEndian(_ value: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
