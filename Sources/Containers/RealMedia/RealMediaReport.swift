import MediaTime

extension ContainerReport {
  /// Returns the ``ContainerFacts/fault`` of a file that lacks the chunk `PROP` or declares a
  /// packet size of 0. With a packet size of 0, rmdemux requests 0 bytes endlessly.
  static func realMediaFault(_ file: RandomAccessFile) -> String? {
    var place = 0
    while let name = file.text(at: place), let size = file.number(at: place + 4, 4), size >= 8, name != "DATA" {
      if name == "PROP" { return file.number(at: place + 22, 4) == 0 ? "its header declares packets of 0 bytes" : nil }
      place += size
    }
    return file.text(at: place) == "DATA" ? "its header (PROP) is missing" : nil
  }

  /// Returns the report of a RealMedia file ("RealMedia File Format", RealNetworks); nil if the
  /// file is intact, or a live stream. The file consists of RealMedia chunks, each with a name and
  /// a size. The chunk `PROP` declares the duration and the offset of the index.
  static func realMedia(_ file: RandomAccessFile) -> ContainerReport? {
    var isCut = false
    var broken: Int?
    var end: ClockTime?
    var place = 0
    while place < file.size {
      guard let name = file.text(at: place), let size = file.number(at: place + 4, 4) else {
        isCut = true
        break
      }
      // Stop at a chunk of size 0, as in a live stream, and at an ID3 tag at the end, which is not
      // a RealMedia chunk.
      guard size >= 8, realMediaChunks.contains(name) else { break }
      // FFmpeg counts the header of `DATA` (18 bytes) twice in the declared size of this chunk, so
      // ignore that excess.
      let excess = name == "DATA" ? 18 : 0
      if size - excess > file.size - place { isCut = true }
      if name == "PROP" {
        // Bit 2 marks a live stream.
        guard let flags = file.number(at: place + 48, 2), flags & 4 == 0 else { return nil }
        end = file.number(at: place + 30, 4).map { ClockTime(seconds: Double($0) / 1000) }
        if let index = file.number(at: place + 38, 4), index >= file.size { isCut = true }
      }
      if name == "DATA" { broken = brokenPacket(in: file, place..<min(place + size - excess, file.size)) }
      place += size
    }
    guard isCut || broken != nil else { return nil }
    var report = ContainerReport(isCut: isCut, end: end == .zero ? nil : end)
    report.brokenAt = broken
    if broken != nil { report.slack = ClockTime(nanoseconds: 500_000_000) }
    return report
  }

  /// Follows the declared packet sizes. Returns the offset of the first packet header that is not
  /// valid; nil if all headers are valid.
  /// - Parameter data: byte range of the RealMedia chunk `DATA`.
  private static func brokenPacket(in file: RandomAccessFile, _ data: Range<Int>) -> Int? {
    var place = data.lowerBound + 18
    guard let count = file.number(at: data.lowerBound + 10, 4) else { return nil }
    for _ in 0..<count {
      guard place + 12 <= data.upperBound else { return nil }
      guard let version = file.number(at: place, 2), let length = file.number(at: place + 2, 2), version <= 1,
        length >= 12
      else { return place }
      place += length
    }
    return nil
  }

  private static let realMediaChunks: Set = [".RMF", "PROP", "CONT", "MDPR", "DATA", "INDX"]
}
