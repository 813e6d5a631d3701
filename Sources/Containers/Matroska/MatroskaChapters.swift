import MediaTime

/// Chapters of a Matroska or WebM file (RFC 9559, 5.1.7), which matroskademux reads slowly
/// (`Quirk.matroskademuxChapters`).
struct MatroskaChapters {
  /// Offset in the file of the last byte of the `Chapters` identifier.
  let mark: Int
  /// Chapters of the first edition that is not hidden.
  let chapters: [ChapterMark]

  /// Maximum size of the chapters in bytes; a larger value is treated as damage.
  private static let longest = 1 << 26
  /// Maximum nesting of chapters; deeper chapters are omitted.
  private static let deepest = 16

  /// - Returns: nil if there are no chapters before the packets, and the `SeekHead` lists none.
  init?(_ file: RandomAccessFile) {
    guard let segment = file.firstElement(MatroskaID.segment, in: 0..<file.size),
      let place = MatroskaChapters.place(in: segment, of: file),
      let bytes = file.read(place.body)
    else { return nil }
    mark = place.mark
    let editions = EBMLElement.all(in: bytes).filter { $0.id == MatroskaID.editionEntry }
    let shown = editions.lazy.map { EBMLElement.all(in: $0.bytes) }.first { parts in
      parts.contains { $0.id == MatroskaID.chapterAtom }
        && !parts.contains { $0.id == MatroskaID.editionFlagHidden && $0.number != 0 }
    }
    chapters = MatroskaChapters.chapters(in: shown ?? [], MatroskaChapters.deepest)
  }

  private static func place(
    in segment: Range<Int>, of file: RandomAccessFile
  ) -> (mark: Int, body: Range<Int>)? {
    file.listedElement(MatroskaID.chapters, in: segment).flatMap { place(before: $0, in: segment, of: file) }
  }

  /// Finds the identifier of the `Chapters` element with this body.
  private static func place(
    before body: Range<Int>, in range: Range<Int>, of file: RandomAccessFile
  ) -> (mark: Int, body: Range<Int>)? {
    // An identifier of four bytes and a length of one to eight bytes precede the body.
    let start = max(body.lowerBound - 12, range.lowerBound)
    let name = withUnsafeBytes(of: MatroskaID.chapters.bigEndian, Array.init)
    guard body.count < longest, let header = file.read(start..<body.lowerBound),
      let size = (5...12).first(where: { header.suffix($0).starts(with: name) && header.count >= $0 })
    else { return nil }
    return (body.lowerBound - size + 3, body)
  }

  private static func chapters(in parts: [EBMLElement], _ levels: Int) -> [ChapterMark] {
    guard levels > 0 else { return [] }
    return parts.compactMap { atom in
      guard atom.id == MatroskaID.chapterAtom else { return nil }
      let parts = EBMLElement.all(in: atom.bytes)
      func number(_ id: UInt32) -> Int64? { parts.first { $0.id == id }?.number }
      guard let start = number(MatroskaID.chapterTimeStart), number(MatroskaID.chapterFlagHidden) ?? 0 == 0,
        number(MatroskaID.chapterFlagEnabled) ?? 1 != 0
      else { return nil }
      let display = parts.first { $0.id == MatroskaID.chapterDisplay }.map { EBMLElement.all(in: $0.bytes) }
      let title = display?.first { $0.id == MatroskaID.chapString }?.bytes.prefix { $0 != 0 }
      return ChapterMark(
        start: ClockTime(nanoseconds: start),
        end: number(MatroskaID.chapterTimeEnd).flatMap { $0 > start ? ClockTime(nanoseconds: $0) : nil },
        title: String(decoding: title ?? [], as: UTF8.self), children: chapters(in: parts, levels - 1))
    }
  }
}
