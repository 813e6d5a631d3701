/// What RIFF files are made of ("Multimedia Programming Interface and Data Specifications 1.0", IBM and Microsoft): a name of four letters, the
/// length of the body, the body, and a byte more where that is odd.
extension RandomAccessFile {
  /// The chunks in `range`, none of them longer than it.
  func chunks(in range: Range<Int>) -> [(name: String, body: Range<Int>)] {
    var found: [(name: String, body: Range<Int>)] = []
    _ = forEachChunk(in: range) { name, body in
      found.append((name, body.clamped(to: range)))
      return true
    }
    return found
  }

  /// Calls `visit` with each chunk in `range`, of which the last may be longer than it, until it returns false.
  /// - Returns: whether they fill `range`, and none was refused.
  func forEachChunk(in range: Range<Int>, _ visit: (_ name: String, _ body: Range<Int>) -> Bool) -> Bool {
    var place = range.lowerBound
    for _ in 0..<RandomAccessFile.mostChunks {
      guard place + 8 <= range.upperBound, let name = text(at: place),
        let size = number(at: place + 4, 4, isLittleEndian: true)
      else { break }
      guard visit(name, place + 8..<place + 8 + size) else { return false }
      place += 8 + size + size % 2
      // The last one's byte more may be left out.
      if place - size % 2 == range.upperBound { return true }
    }
    return place == range.upperBound
  }

  /// How many chunks are read side by side, at the most: days of audio have fewer.
  private static let mostChunks = 1 << 24

  /// The bodies of the stream lists (`strl`) of an AVI file, without their names.
  var aviStreams: [Range<Int>] {
    guard text(at: 12) == "LIST", text(at: 20) == "hdrl", let size = number(at: 16, 4, isLittleEndian: true),
      (4..<1 << 24).contains(size)
    else { return [] }
    return chunks(in: 24..<20 + size)
      .filter { $0.name == "LIST" && $0.body.count >= 4 && text(at: $0.body.lowerBound) == "strl" }
      .map { $0.body.dropFirst(4) }
  }
}
