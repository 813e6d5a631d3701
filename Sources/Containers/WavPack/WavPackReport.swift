import MediaTime

extension ContainerReport {
  /// Returns the report of a WavPack file ("WavPack 4 & 5 Binary File / Block Format", 2.0):
  /// blocks, each with a header of 32 bytes. The first header declares the total number of samples.
  static func wavPack(_ file: RandomAccessFile, from start: Int = 0) -> ContainerReport? {
    guard file.text(at: start) == "wvpk" else { return nil }
    func field(_ place: Int, _ count: Int = 4) -> Int? {
      file.number(at: place, count, isLittleEndian: true)
    }
    guard let low = field(start + 12), let high = field(start + 11, 1), let flags = field(start + 24) else {
      return nil
    }
    // `wavpackdec` ignores rate changes after the first block, so report such a change as damage.
    var changedAt: Int?
    var walk = walk(file, from: start) { place in
      guard file.text(at: place) == "wvpk", let size = field(place + 4), let others = field(place + 24) else {
        return nil
      }
      if others >> 23 & 15 != flags >> 23 & 15, changedAt == nil { changedAt = place }
      return size + 8
    }
    walk.brokenAt = changedAt ?? walk.brokenAt
    let rate = rates.indices.contains(flags >> 23 & 15) ? rates[flags >> 23 & 15] : nil
    // 0xFFFFFFFF means that the number was unknown when the file was written. For DSD, the number
    // is a number of bytes.
    let isCounted = low != 0xFFFF_FFFF && flags >> 31 & 1 == 0
    let end = isCounted ? rate.map { ClockTime(sampleIndex: low + high << 32 - high, rate: $0) } : nil
    return audio(end: end, walk)
  }

  /// Sample rates by index; index 15 means a custom rate stored later in the block.
  private static let rates = [
    6000, 8000, 9600, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 64000, 88200, 96000, 192_000,
  ]
}
