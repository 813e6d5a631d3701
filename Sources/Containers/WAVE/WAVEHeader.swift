import MediaTime

/// What a WAVE file says of how much audio it holds; or one of its long relatives, RF64 (EBU Tech 3306) and Sony's Wave64.
package struct WAVEHeader: Sendable {
  package let duration: ClockTime
  /// GStreamer 1.22's wavparse takes no more than 2^31 - 1 bytes for what a header says, RF64's too. Behind a queue, where
  /// it can't seek, and told to ignore the length, it reads to the end of the file.
  package let isCutShort: Bool
  /// The file ends before the audio does, of which it says how long it is.
  package let isIncomplete: Bool

  /// - Returns: nil where it is no such file, or says nothing that can be believed.
  package init?(_ file: RandomAccessFile) {
    guard let name = file.text(at: 0) else { return nil }
    // Wave64 has identifiers of 16 bytes, and lengths of 8 in which those are counted.
    let isWave64 = name == "riff"
    guard isWave64 || ["RIFF", "RF64"].contains(name) else { return nil }
    func number(_ range: Range<Int>) -> Int? {
      guard let value = file.read(range)?.reversed().reduce(UInt64(0), { $0 << 8 | UInt64($1) }) else { return nil }
      return value < 1 << 60 ? Int(value) : nil
    }
    let header = isWave64 ? 24 : 8
    var place = isWave64 ? 40 : 12
    var bytesPerSecond = 0
    var longSize: Int?
    while let identifier = file.read(place..<place + 4),
      let written = isWave64 ? number(place + 16..<place + 24) : number(place + 4..<place + 8)
    {
      let body = place + header
      let size = isWave64 ? written - header : written
      guard size >= 0 else { return nil }
      switch String(decoding: identifier, as: UTF8.self) {
      case "ds64": longSize = number(body + 8..<body + 16)
      case "fmt ": bytesPerSecond = number(body + 8..<body + 12) ?? 0
      case "data":
        let bytes = size == 0xFFFF_FFFF ? longSize ?? size : size
        guard bytes > 0, bytesPerSecond > 0, bytes / bytesPerSecond < 1 << 32 else { return nil }
        duration = ClockTime(sampleIndex: bytes, rate: bytesPerSecond)
        isCutShort = !isWave64 && bytes > Int(Int32.max)
        // What writes into a pipe does not know the length, and says the most that there can be, or nearly.
        let isUnknown = bytes == size && (size >= 0xFFFF_0000 || (0x7FFF_0000...0x8000_0000).contains(size))
        isIncomplete = bytes > file.size - body && !isUnknown
        return
      default: break
      }
      let unit = isWave64 ? 8 : 2
      place = body + (size + unit - 1) / unit * unit
    }
    return nil
  }
}

extension ContainerReport {
  init(_ wave: WAVEHeader) {
    self.init(
      isCut: wave.isIncomplete, end: wave.duration,
      streams: [Stream(kind: .audio, frames: nil, end: wave.duration)])
  }
}
