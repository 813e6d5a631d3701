import MediaTime

/// The duration that matroskademux has to read to give all of a Matroska or WebM file after a seek
/// (`Quirk.matroskademuxSeekEnd`).
struct MatroskaCorrection: FileCorrection {
  /// Where the number stands, and what is to stand there.
  private let place: Range<Int>
  private let bytes: [UInt8]

  var demuxer: String { "matroskademux" }
  var ends: [String: ClockTime] { [:] }

  /// - Returns: nil where it does not say how long it is.
  init?(_ file: RandomAccessFile) {
    guard let segment = file.firstElement(MatroskaID.segment, in: 0..<file.size),
      let info = file.firstElement(MatroskaID.info, in: segment), info.count < 1 << 20,
      let duration = file.firstElement(MatroskaID.duration, in: info), let number = file.read(duration)
    else { return nil }
    place = duration
    // Twice as long as it says, and more than anybody is wrong by.
    switch number.count {
    case 4:
      let value = max(Float(bitPattern: UInt32(number.integer(0))), 1000) * 2
      guard value.isFinite else { return nil }
      bytes = withUnsafeBytes(of: value.bitPattern.bigEndian, Array.init)
    case 8:
      let value = max(Double(bitPattern: number.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }), 1000) * 2
      guard value.isFinite else { return nil }
      bytes = withUnsafeBytes(of: value.bitPattern.bigEndian, Array.init)
    default: return nil
    }
  }

  func changes(_ range: Range<Int>) -> Bool { range.overlaps(place) }

  func apply(to target: UnsafeMutableRawBufferPointer, at offset: Int) {
    for (number, byte) in bytes.enumerated() {
      let index = place.lowerBound + number - offset
      if target.indices.contains(index) { target[index] = byte }
    }
  }
}

extension RandomAccessFile {
  /// The body of the first element `id` in a master whose body is `range`; of a segment of unknown length, all that follows.
  fileprivate func firstElement(_ id: UInt32, in range: Range<Int>) -> Range<Int>? {
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
      place = body.upperBound
    }
    return nil
  }
}
