/// MPEG's transport streams and program streams.
extension ContainerReport {
  static func transportStream(_ scan: TransportScan) -> ContainerReport {
    var report = ContainerReport(
      isCut: scan.isCut,
      streams: scan.streams.map { kind, isEmpty in
        var stream = Stream(kind: kind, frames: nil, end: nil)
        stream.isEmpty = isEmpty
        return stream
      })
    report.gaps = scan.gaps
    report.furtherPrograms = scan.furtherPrograms
    return report
  }

  /// Packs of packets that say how long they are, and of which stream (ISO/IEC 13818-1, 2.5.3, table 2-22); only the end of the
  /// file is looked at. mpegpsdemux 1.22 passes over streams that begin after its first packets without a word.
  static func programStream(_ file: RandomAccessFile) -> ContainerReport? {
    let start = max(0, file.size - 1 << 20)
    guard let tail = file.read(start..<file.size), let pack = tail.firstRange(of: [0, 0, 1, 0xBA])?.lowerBound else {
      return nil
    }
    var place = pack
    var streams: Set<UInt8> = []
    while place + 4 <= tail.count, tail[place..<place + 3] == [0, 0, 1] {
      switch tail[place + 3] {
      case 0xB9: place += 4
      case 0xBA:
        guard place + 14 <= tail.count else { return ContainerReport(isCut: true) }
        // MPEG-2's is longer than MPEG-1's, and may be filled up.
        place += tail[place + 4] & 0xC0 == 0x40 ? 14 + Int(tail[place + 13] & 7) : 12
      case 0xBB...:
        guard place + 6 <= tail.count else { return ContainerReport(isCut: true) }
        streams.insert(tail[place + 3])
        place += 6 + Int(tail[place + 4]) << 8 + Int(tail[place + 5])
      default: return nil
      }
    }
    let kinds: [(ids: ClosedRange<UInt8>, kind: StreamKind)] = [(0xE0...0xEF, .video), (0xC0...0xDF, .audio)]
    return ContainerReport(
      isCut: place > tail.count,
      streams: kinds.flatMap { ids, kind in
        streams.filter(ids.contains).map { _ in Stream(kind: kind, frames: nil, end: nil) }
      })
  }
}
