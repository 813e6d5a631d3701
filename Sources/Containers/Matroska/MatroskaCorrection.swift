import MediaTime

/// The duration that matroskademux has to read to give all of a Matroska or WebM file after a seek
/// (`Quirk.matroskademuxSeekEnd`), and the parts that it must not read: the chapters
/// (`Quirk.matroskademuxChapters`), names of tags that are not ASCII (`Quirk.matroskademuxTagNames`), and
/// another file behind the first, whose packets it gives out as the first one's.
struct MatroskaCorrection: FileCorrection {
  private struct Patch: Sendable {
    var place: Range<Int>
    var bytes: [UInt8]
  }
  private let patches: [Patch]

  var demuxer: String { "matroskademux" }
  var isForProbing: Bool { true }
  var ends: [String: ClockTime] { [:] }

  /// - Parameters:
  ///   - chapters: those of the file, if it has any.
  ///   - nextFile: where another one begins in it, in bytes.
  /// - Returns: nil where nothing has to be changed.
  init?(_ file: RandomAccessFile, _ chapters: MatroskaChapters?, nextFile: Int?) {
    // The demuxer skips elements that it does not know; this identifier is not assigned.
    let hidden = chapters.map { Patch(place: $0.mark..<$0.mark + 1, bytes: [0x71]) }
    // A `Void` element of the same length (RFC 8794, 11.3.2), which has its size in eight bytes.
    let void = nextFile.map { place in
      let size = UInt64(max(file.size - place - 9, 0)) | 1 << 56
      return Patch(place: place..<place + 9, bytes: [0xEC] + withUnsafeBytes(of: size.bigEndian, Array.init))
    }
    // `TagName` becomes an identifier that is not assigned: the demuxer passes over a tag without a name.
    let names = MatroskaTags.placesOfForeignNames(in: file).map { Patch(place: $0..<$0 + 2, bytes: [0x45, 0xA2]) }
    patches = [MatroskaCorrection.longerDuration(of: file), hidden, void].compactMap { $0 } + names
    if patches.isEmpty { return nil }
  }

  /// - Returns: nil where it does not say how long it is.
  private static func longerDuration(of file: RandomAccessFile) -> Patch? {
    guard let segment = file.firstElement(MatroskaID.segment, in: 0..<file.size),
      let info = file.firstElement(MatroskaID.info, in: segment), info.count < 1 << 20,
      let duration = file.firstElement(MatroskaID.duration, in: info), let number = file.read(duration)
    else { return nil }
    // Twice as long as it says, and more than any error in it.
    switch number.count {
    case 4:
      let value = max(Float(bitPattern: UInt32(number.integer(0))), 1000) * 2
      guard value.isFinite else { return nil }
      return Patch(place: duration, bytes: withUnsafeBytes(of: value.bitPattern.bigEndian, Array.init))
    case 8:
      let value = max(Double(bitPattern: number.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }), 1000) * 2
      guard value.isFinite else { return nil }
      return Patch(place: duration, bytes: withUnsafeBytes(of: value.bitPattern.bigEndian, Array.init))
    default: return nil
    }
  }

  func changes(_ range: Range<Int>) -> Bool { patches.contains { range.overlaps($0.place) } }

  func apply(to target: UnsafeMutableRawBufferPointer, at offset: Int) {
    for patch in patches {
      for (number, byte) in patch.bytes.enumerated() {
        let index = patch.place.lowerBound + number - offset
        if target.indices.contains(index) { target[index] = byte }
      }
    }
  }
}

extension RandomAccessFile {
  /// The body of the first element `id` in a master whose body is `range`; of a segment of unknown length, all that follows.
  /// - Parameter last: none is looked for after the first of these.
  func firstElement(_ id: UInt32, in range: Range<Int>, before last: UInt32? = nil) -> Range<Int>? {
    var place = range.lowerBound
    for _ in 0..<64 {
      guard place < range.upperBound, let bytes = read(place..<min(place + 12, size)) else { return nil }
      guard let header = EBMLElement.header(in: bytes[...]) else {
        // A live file's segment does not say how long it is.
        guard bytes.count > 4, UInt32(bytes.integer(0)) == id, bytes[4] != 0 else { return nil }
        return min(place + 4 + bytes[4].leadingZeroBitCount + 1, size)..<size
      }
      let body = place + header.size..<place + header.size + min(header.length, size)
      if header.id == id { return body.clamped(to: 0..<size) }
      if header.id == last { return nil }
      place = body.upperBound
    }
    return nil
  }

  /// The body of the first element `id` of a segment that stands before the packets, or that the `SeekHead` lists
  /// (RFC 9559, 5.1.1).
  func listedElement(_ id: UInt32, in segment: Range<Int>) -> Range<Int>? {
    if let found = firstElement(id, in: segment, before: MatroskaID.cluster) { return found }
    guard let list = firstElement(MatroskaID.seekHead, in: segment, before: MatroskaID.cluster), list.count < 1 << 16,
      let bytes = read(list)
    else { return nil }
    return EBMLElement.all(in: bytes).lazy.filter { $0.id == MatroskaID.seek }.compactMap { seek -> Range<Int>? in
      let parts = EBMLElement.all(in: seek.bytes)
      guard parts.first(where: { $0.id == MatroskaID.seekID })?.number == Int64(id),
        let position = parts.first(where: { $0.id == MatroskaID.seekPosition })?.number, position < segment.count
      else { return nil }
      return self.firstElement(
        id, in: segment.lowerBound + Int(position)..<segment.upperBound, before: MatroskaID.cluster)
    }.first
  }
}
