import MediaTime

/// Matroska and WebM files (RFC 9559).
extension ContainerReport {
  static func matroska(_ file: RandomAccessFile) -> ContainerReport? {
    var declared = ContainerReport(slack: ClockTime(seconds: 1))
    var place = 0
    /// End of the current Matroska segment, if known.
    var segmentEnd: Int?
    while place < file.size, let bytes = file.read(place..<min(place + 12, file.size)) {
      guard let header = EBMLElement.header(in: bytes[...]) else {
        // In a live recording, the Matroska segment and its clusters have an unknown length.
        // Continue with the EBML elements inside them, whose lengths are known.
        guard let skipped = EBMLElement.unknownLength(bytes) else {
          declared.isCut = declared.isCut || bytes.count < 12
          break
        }
        place += skipped
        continue
      }
      let body = place + header.size
      if header.length > file.size - body { declared.isCut = true }
      switch header.id {
      case MatroskaID.ebml where place > 0:
        // A concatenated file follows.
        declared.noteFile(at: place)
        return declared
      case MatroskaID.segment:
        segmentEnd = header.length > file.size - body ? file.size : body + header.length
        place = body
      case MatroskaID.info:
        // At most 1 MiB is read, because the length may be damaged. A valid `Info` element is far
        // shorter.
        declared.end =
          file.read(body..<min(body + min(header.length, 1 << 20), file.size)).flatMap(duration) ?? declared.end
        // Skip to the end of the Matroska segment if its length is known: a long video has
        // thousands of clusters, and reading all of their headers would be slow.
        place = max(segmentEnd ?? 0, body + min(header.length, file.size))
      default: place = body + min(header.length, file.size)
      }
    }
    return declared
  }

  private static func duration(_ info: [UInt8]) -> ClockTime? {
    let elements = EBMLElement.all(in: info)
    guard let value = elements.first(where: { $0.id == MatroskaID.duration })?.float else { return nil }
    let scale = elements.first { $0.id == MatroskaID.timestampScale }?.number ?? 1_000_000
    let seconds = value * Double(scale) / 1e9
    return seconds.isFinite && seconds > 0 ? ClockTime(seconds: seconds) : nil
  }
}
