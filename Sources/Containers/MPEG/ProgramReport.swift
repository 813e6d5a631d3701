/// Reports of MPEG program streams. A program stream consists of packs of packets. Each packet has
/// a length and a stream identifier (ISO/IEC 13818-1, 2.5.3, table 2-22).
extension ContainerReport {
  /// Creates the report of a program stream: damage, truncation and streams. mpegpsdemux silently
  /// skips bytes that are not a packet, and streams that begin after the first packets of the file.
  static func programStream(_ file: RandomAccessFile) -> ContainerReport {
    var report = ContainerReport()
    var streams: Set<UInt8> = []
    var place = 0
    while place < file.size {
      guard let packet = ProgramPacket(file, at: place) else {
        let next = ProgramPacket.nextPack(in: file, after: place)
        guard let next else {
          // A start code at the end belongs to a truncated packet. Any other bytes at the end are
          // padding.
          report.isCut = file.read(place..<place + 3) == [0, 0, 1]
          break
        }
        report.brokenAt = report.brokenAt ?? place
        place = next
        continue
      }
      streams.insert(packet.stream)
      place += packet.size
    }
    report.isCut = report.isCut || place > file.size
    let kinds: [(ids: ClosedRange<UInt8>, kind: StreamKind)] = [(0xE0...0xEF, .video), (0xC0...0xDF, .audio)]
    report.streams = kinds.flatMap { ids, kind in
      streams.filter(ids.contains).map { _ in Stream(kind: kind, frames: nil, end: nil) }
    }
    return report
  }
}

/// Header of a packet, pack, or system header.
private struct ProgramPacket {
  /// Identifier of the stream, pack or system header.
  let stream: UInt8
  /// Size in bytes, including the header.
  let size: Int

  init?(_ file: RandomAccessFile, at place: Int) {
    guard let start = file.read(place..<place + 4), start[..<3] == [0, 0, 1] else { return nil }
    stream = start[3]
    switch stream {
    case 0xB9: size = 4
    case 0xBA:
      guard let head = file.read(place..<place + 14) else { return nil }
      // An MPEG-2 pack header is longer than an MPEG-1 pack header, and may contain padding.
      size = head[4] & 0xC0 == 0x40 ? 14 + Int(head[13] & 7) : 12
    case 0xBB...:
      guard let length = file.number(at: place + 4, 2) else { return nil }
      size = 6 + length
    default: return nil
    }
  }

  /// Returns the start of the first pack after `place`; nil if none follows.
  static func nextPack(in file: RandomAccessFile, after place: Int) -> Int? {
    var start = place + 1
    while start + 4 <= file.size, let bytes = file.read(start..<min(start + 1 << 16, file.size)) {
      if let found = bytes.firstRange(of: [0, 0, 1, 0xBA]) { return start + found.lowerBound }
      start += max(bytes.count - 3, 1)
    }
    return nil
  }
}
