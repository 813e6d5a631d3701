import MediaTime

extension ContainerReport {
  /// Returns the report of a True Audio file, version 1 (tausoft.org, "True Audio codec format"): a
  /// header of 22 bytes, which declares the number of samples; then the sizes of all frames; then
  /// the frames.
  static func tta(_ file: RandomAccessFile, from start: Int) -> ContainerReport? {
    func field(_ place: Int) -> Int? { file.number(at: start + place, 4, isLittleEndian: true) }
    guard file.text(at: start) == "TTA1", let rate = field(10), let samples = field(14), rate > 0, rate < 1 << 20 else {
      return nil
    }
    let frameLength = rate * 256 / 245
    let frames = (samples + frameLength - 1) / frameLength
    let end = ClockTime(sampleIndex: samples, rate: rate)
    // The 22 bytes of the header include its checksum. Another checksum, of four bytes, follows the
    // frame sizes.
    var place = start + 22 + 4 * frames + 4
    for frame in 0..<frames {
      guard place <= file.size, let size = field(22 + 4 * frame) else { break }
      place += size
    }
    guard place <= file.size else { return audio(end: end, (true, nil)) }
    // Tags may follow the frames, and another True Audio file may follow the tags.
    let rest = file.read(place..<min(place + 1 << 16, file.size)) ?? []
    return audio(end: end, (false, rest.firstRange(of: Array("TTA1".utf8)).map { place + $0.lowerBound }))
  }
}
