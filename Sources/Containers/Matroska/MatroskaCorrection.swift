import MediaTime

/// Corrections to a Matroska or WebM file, for matroskademux. The declared duration is increased,
/// because a seek makes the demuxer stop at it (`Quirk.matroskademuxSeekEnd`). Three structures are
/// hidden: the chapters (`Quirk.matroskademuxChapters`), tag names that are not ASCII
/// (`Quirk.matroskademuxTagNames`), and a concatenated file, whose packets the demuxer would append
/// to those of the first file.
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
  ///   - chapters: chapters of the file; nil if there are none.
  ///   - nextFile: offset in bytes of the second concatenated file; nil if there is none.
  /// - Returns: nil if no change is needed.
  init?(_ file: RandomAccessFile, _ chapters: MatroskaChapters?, nextFile: Int?) {
    // Replace the identifier of the chapters with an unassigned one, because the demuxer skips
    // unknown EBML elements.
    let hidden = chapters.map { Patch(place: $0.mark..<$0.mark + 1, bytes: [0x71]) }
    // Turn the rest of the file into a `Void` element (RFC 8794, 11.3.2) with a length field of
    // eight bytes.
    let void = nextFile.map { place in
      let size = UInt64(max(file.size - place - 9, 0)) | 1 << 56
      return Patch(place: place..<place + 9, bytes: [0xEC] + withUnsafeBytes(of: size.bigEndian, Array.init))
    }
    // Replace the identifier of each `TagName` that is not ASCII with an unassigned one, because
    // the demuxer skips tags without a name.
    let names = MatroskaTags.offsetsOfNonASCIINames(in: file).map { Patch(place: $0..<$0 + 2, bytes: [0x45, 0xA2]) }
    patches = [MatroskaCorrection.longerDuration(of: file), hidden, void].compactMap { $0 } + names
    if patches.isEmpty { return nil }
  }

  /// Returns a patch with a longer duration than declared; nil if the file declares no valid one.
  private static func longerDuration(of file: RandomAccessFile) -> Patch? {
    guard let segment = file.firstElement(MatroskaID.segment, in: 0..<file.size),
      let info = file.firstElement(MatroskaID.info, in: segment), info.count < 1 << 20,
      let duration = file.firstElement(MatroskaID.duration, in: info), let number = file.read(duration)
    else { return nil }
    // Double the declared duration, because the actual duration is never twice as long.
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
  /// Finds the first EBML element `id` in `range`, the body of a master element, and returns its
  /// body. The body of a Matroska segment of unknown length extends to the end of the file. Nil if
  /// the element is not among the first 64.
  /// - Parameter last: identifier of the EBML element at which the search stops; nil for no limit.
  func firstElement(_ id: UInt32, in range: Range<Int>, before last: UInt32? = nil) -> Range<Int>? {
    var place = range.lowerBound
    for _ in 0..<64 {
      guard place < range.upperBound, let bytes = read(place..<min(place + 12, size)) else { return nil }
      guard let header = EBMLElement.header(in: bytes[...]) else {
        // The Matroska segment of a live recording has an unknown length.
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

  /// Finds the first EBML element `id` of a Matroska segment, and returns its body. Nil unless the
  /// EBML element precedes the packets or is listed in the `SeekHead` (RFC 9559, 5.1.1).
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
