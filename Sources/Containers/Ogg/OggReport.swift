import MediaTime

/// Ogg files (RFC 3533).
extension ContainerReport {
  /// Returns the report of an Ogg file. In a complete file, the last page of each stream has the
  /// end-of-stream flag (RFC 3533, 6).
  static func ogg(_ file: RandomAccessFile) -> ContainerReport? {
    var declared = ContainerReport()
    var open: Set<Int> = []
    var vorbisRates: [Int: Int] = [:]
    var isLast = false
    var hasEnded = false
    var place = 0
    while place < file.size, let head = file.read(place..<min(place + 27, file.size)), head.count >= 4,
      head.text(0) == "OggS"
    {
      guard head.count == 27, let segments = file.read(place + 27..<place + 27 + Int(head[26])) else {
        declared.isCut = true
        return declared
      }
      let serial = Int(UInt32(truncatingIfNeeded: head.integer(14)).byteSwapped)
      if head[5] & 2 != 0, declared.streamNumbers.count < mostStreams { declared.streamNumbers.append(serial) }
      // A concatenated file begins if a stream begins after all earlier streams have ended.
      if head[5] & 2 != 0, hasEnded, open.isEmpty {
        declared.noteFile(at: place)
        hasEnded = false
      }
      isLast = head[5] & 4 != 0
      if isLast { hasEnded = true }
      if isLast { open.remove(serial) } else { open.insert(serial) }
      let body = place + 27 + segments.count
      let size = 27 + segments.count + segments.reduce(0) { $0 + Int($1) }
      if head[5] & 2 != 0, vorbisRates.count < mostStreams { vorbisRates[serial] = vorbisRate(file, at: body) }
      // The last page may declare an end before the end of its samples (Vorbis I, A.2).
      if isLast, let rate = vorbisRates[serial], let samples = file.number(at: place + 6, 8, isLittleEndian: true),
        samples < 1 << 48
      {
        declared.vorbisEnds[serial] = ClockTime(sampleIndex: samples, rate: rate)
      }
      // A page with a wrong checksum counts as damage, because demuxers skip the page.
      if declared.brokenAt == nil, let page = file.read(place..<place + size), !OggChecksum.holds(page) {
        declared.brokenAt = place
      }
      place += size
    }
    if declared.brokenAt == nil, place < file.size, !open.isEmpty, follows(place, in: file) {
      declared.brokenAt = place
    }
    // Some writers set the end-of-stream flag only on the last page of the file, not on the last
    // page of each stream. Such a file is complete.
    declared.isCut = place > file.size || !isLast && !open.isEmpty && place == file.size
    return declared
  }

  /// Maximum number of streams that are listed in the report.
  private static let mostStreams = 1 << 12

  /// Returns the sample rate from the identification header at `place` (Vorbis I, 4.2.2); nil for
  /// other codecs.
  private static func vorbisRate(_ file: RandomAccessFile, at place: Int) -> Int? {
    guard file.text(at: place + 1) == "vorb", let rate = file.number(at: place + 12, 4, isLittleEndian: true), rate > 0
    else { return nil }
    return rate
  }

  /// True if another page begins within 128 KiB from `place`, about twice the maximum length of a
  /// page (RFC 3533, 6).
  private static func follows(_ place: Int, in file: RandomAccessFile) -> Bool {
    (place..<min(place + 1 << 17, file.size)).contains { file.text(at: $0) == "OggS" }
  }
}

/// Checksum of a page (RFC 3533, 6, field 7): a CRC-32 with the polynomial 0x04C11DB7, computed
/// with 0 in the checksum field. NUT has the same checksum.
enum OggChecksum {
  private static let table = (0..<256 as Range<UInt32>).map { number in
    (0..<8).reduce(number << 24) { rest, _ in rest & 0x8000_0000 != 0 ? rest << 1 ^ 0x04C1_1DB7 : rest << 1 }
  }

  /// True if the checksum of a page is correct.
  /// - Parameter page: complete page, at least 27 bytes.
  static func holds(_ page: [UInt8]) -> Bool {
    let said = page[22..<26].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return sum(page[26...], after: sum([0, 0, 0, 0], after: sum(page[..<22], after: 0))) == said
  }

  static func sum(_ bytes: some Sequence<UInt8>, after start: UInt32) -> UInt32 {
    bytes.reduce(start) { $0 << 8 ^ table[Int(truncatingIfNeeded: $0 >> 24) ^ Int($1)] }
  }
}
