/// RIFF chunks of a WAVE file, except the audio: markers, loops and descriptions.
///
/// Chunks with markers or loops are parsed, some other chunks are copied to the output, and
/// redundant chunks are ignored. ``played(isWhole:_:)`` returns the names of all other chunks.
///
/// Sources: "Multimedia Programming Interface and Data Specifications 1.0" (IBM and Microsoft), EBU
/// Tech 3285 (`bext`), EBU Tech 3306 (`ds64`), AES46 (`cart`).
package struct WAVEChunks: Sendable {
  package struct Chunk: Sendable, Equatable {
    package var name: String
    package var body: [UInt8]
  }

  /// Marker: a position between two sample frames, or a region (`cue `, and `ltxt` in `LIST adtl`).
  package struct Marker: Sendable {
    package var identifier: Int
    /// Range of the region; empty for a position.
    package var frames: Range<Int>
    package var title: String
    /// Labels, notes and texts: RIFF chunks in `LIST adtl`. The identifier at the start of each
    /// body is removed.
    var texts: [Chunk] = []
  }

  /// Range that samplers repeat (`smpl`).
  struct Loop: Sendable {
    var frames: Range<Int>
    var entry: [UInt8]
  }

  package private(set) var markers: [Marker] = []
  private(set) var loops: [Loop] = []
  /// The bytes before and after the loops in the body of `smpl`.
  private(set) var sampler: (head: [UInt8], rest: [UInt8])?
  /// Entries of `LIST INFO`.
  private(set) var info: [Chunk] = []
  /// All other RIFF chunks, which are copied to the output or reported.
  private(set) var others: [Chunk] = []
  /// Names of RIFF chunks that are too large or truncated.
  private(set) var unread: [String] = []

  /// Names of ignored RIFF chunks: file structure, padding, and levels (`PEAK`, `levl`), which any
  /// program can measure again in the audio.
  private static let technical: Set = [
    "fmt ", "data", "fact", "ds64", "JUNK", "junk", "PAD ", "FLLR", "FILL", "filr", "PEAK", "levl",
  ]
  /// Limit of the total size of the RIFF chunks, in bytes. Chunks beyond the limit become
  /// ``unread``.
  private static let most = 1 << 24

  /// - Parameter frameCount: number of sample frames in the file.
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
      // In Wave64, the name of this chunk is `list`, in lowercase.
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
    // Identifiers should be unique, so a second cue with the same identifier gets no texts.
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
      // The declared end is the last sample frame of the loop, but some programs declare the frame
      // after the loop. Such an end may exceed the audio, so limit the range to the audio.
      let end = min(entry.littleEndian(12) + 1, max(frameCount, 1))
      return Loop(frames: start..<max(start, end), entry: entry)
    }
    sampler = (Array(bytes[..<36]), Array(bytes[(36 + count * 24)...]))
  }

  /// Returns the RIFF chunks in `bytes`. If a chunk declares more bytes than remain, its body has
  /// only the remaining bytes.
  static func chunks(in bytes: ArraySlice<UInt8>) -> [Chunk] {
    var found: [Chunk] = []
    var rest = bytes
    while rest.count >= 8 {
      let head = Array(rest.prefix(8))
      // Stop at a name that is not ASCII: the rest is zero padding or damaged, and such a name
      // could not be written back in four bytes.
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
  /// Reads an unsigned 32-bit little-endian integer at `offset`.
  func littleEndian(_ offset: Int) -> Int {
    Int(self[offset]) | Int(self[offset + 1]) << 8 | Int(self[offset + 2]) << 16 | Int(self[offset + 3]) << 24
  }

  /// Writes a 32-bit little-endian integer at `offset`.
  mutating func setLittleEndian(_ value: Int, at offset: Int) {
    for byte in 0..<4 { self[offset + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte)) }
  }

  /// Encodes `value` as a 32-bit little-endian integer.
  static func littleEndian(_ value: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
