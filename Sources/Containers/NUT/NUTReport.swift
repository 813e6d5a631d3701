extension ContainerReport {
  /// Bytes with which every NUT file begins. The first packet follows.
  static let nutStart = Array("nut/multimedia container\0".utf8)

  /// Returns the report of a NUT file ("NUT Open Container Format", nut.txt of FFmpeg): a sequence
  /// of packets, each with a start code and a length. The headers of all streams come before the
  /// media.
  static func nut(_ file: RandomAccessFile) -> ContainerReport? {
    var report = ContainerReport()
    var place = nutStart.count
    // A start code begins with the letter N and a letter for the kind of packet.
    while let code = file.read(place..<place + 2), code[0] == 0x4E, code[1] != nutSyncPoint,
      let length = nutNumber(file, at: place + 8)
    {
      // A packet of more than 4,096 bytes has a header checksum of four bytes.
      let body = length.end + (length.value > 4096 ? 4 : 0)
      if code[1] == nutStream, let number = nutNumber(file, at: body), let kind = nutNumber(file, at: number.end),
        nutKinds.indices.contains(kind.value)
      {
        report.streams.append(Stream(kind: nutKinds[kind.value], frames: nil, end: nil))
      }
      guard length.value > 0, length.value < file.size else { break }
      place = body + length.value
    }
    return report.streams.isEmpty ? nil : report
  }

  private static let (nutStream, nutSyncPoint) = (UInt8(ascii: "S"), UInt8(ascii: "K"))
  private static let nutKinds: [StreamKind] = [.video, .audio, .subtitles]

  /// Reads a number that is stored in groups of seven bits, most significant group first.
  private static func nutNumber(_ file: RandomAccessFile, at place: Int) -> (value: Int, end: Int)? {
    var value = 0
    for next in place..<place + 5 {
      guard let byte = file.read(next..<next + 1)?.first else { return nil }
      value = value << 7 | Int(byte & 0x7F)
      if byte < 0x80 { return (value, next + 1) }
    }
    return nil
  }
}
