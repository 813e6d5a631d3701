import MediaTime

extension ContainerReport {
  /// STREAMINFO (RFC 9639, 8.2) counts all samples.
  static func flac(_ file: RandomAccessFile, _ place: Int) -> ContainerReport? {
    guard let bytes = file.read(place + 4..<place + 22) else { return nil }
    let rate = bytes.number(10..<14) >> 12
    let total = bytes.number(13..<18) & 0xF_FFFF_FFFF
    guard rate > 0, total > 0 else { return nil }
    return audio(end: ClockTime(seconds: Double(total) / Double(rate)), slack: ClockTime(nanoseconds: 1_000_000))
  }
}
