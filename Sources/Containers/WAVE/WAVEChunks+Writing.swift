extension WAVEChunks {
  /// Adds the RIFF chunks `chunks` to a finished WAVE file, after the audio.
  ///
  /// The muxer writes some tags (`LIST INFO`). An entry in `chunks` replaces the muxer's entry of
  /// the same name; other entries stay.
  /// - Returns: false if the file would exceed the size that its header can declare.
  /// - Throws: ``FileError``.
  package static func add(_ chunks: [Chunk], to path: String) throws -> Bool {
    guard let file = RandomAccessFile(path, forWriting: true) else { throw FileError.last }
    guard let start = WAVEHeader.endOfSamples(in: file), let rest = file.read(min(start, file.size)..<file.size) else {
      throw FileError.missing("its samples (data)")
    }
    let written = WAVEChunks.chunks(in: rest[...])
    let known = Set(chunks.flatMap { $0.entries.map(\.name) })
    var added = written.filter { !$0.isInfo }
    let others = written.flatMap(\.entries).filter { !known.contains($0.name) }
    for chunk in chunks {
      added.append(chunk.entries.isEmpty ? chunk : Chunk.list("INFO", chunk.entries + others))
    }
    if known.isEmpty, !others.isEmpty { added.append(Chunk.list("INFO", others)) }
    let bytes = [UInt8](repeating: 0, count: max(start - file.size, 0)) + added.flatMap(\.encoded)
    let size = start + added.reduce(0) { $0 + $1.encoded.count } - 8
    let isLong = file.text(at: 0) == "RF64"
    guard isLong || size < 0xFFFF_FFFF else { return false }
    let field = isLong ? withUnsafeBytes(of: UInt64(size).littleEndian, Array.init) : .littleEndian(size)
    guard file.write(bytes, at: min(start, file.size)), file.truncate(to: size + 8),
      file.write(field, at: isLong ? 20 : 4)
    else { throw FileError.last }
    return true
  }
}

extension WAVEChunks.Chunk {
  /// Entries of a `LIST INFO`; empty for other RIFF chunks.
  fileprivate var entries: [Self] {
    isInfo ? WAVEChunks.chunks(in: body[4...]) : []
  }

  fileprivate var isInfo: Bool { name == "LIST" && body.starts(with: "INFO".utf8) }
}
