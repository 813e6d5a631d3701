import MediaTime

extension ContainerReport {
  /// Creates the report of a Sun or NeXT audio file ("Header Files: Audio File Format", Sun, manual
  /// page audio_filehdr). The header declares the size of the audio data, or marks the size as
  /// unknown.
  static func au(_ file: RandomAccessFile) -> ContainerReport? {
    func field(_ number: Int) -> Int? { file.number(at: 4 * number, 4) }
    guard let start = field(1), let size = field(2), let encoding = field(3), let rate = field(4),
      let channels = field(5), start >= 24, size > 0, rate > 0, channels > 0
    else { return nil }
    // The size is unknown if the file was written to a pipe.
    guard size != 0xFFFF_FFFF else { return nil }
    // The duration of ADPCM is unknown; only the number of bytes can be checked.
    let end = bytesPerSample[encoding].map { ClockTime(sampleIndex: size / ($0 * channels), rate: rate) }
    return ContainerReport(
      isCut: size > file.size - start, end: end, streams: [Stream(kind: .audio, frames: nil, end: end)],
      countsSamples: end != nil)
  }

  /// Returns ``ContainerFacts/fault`` if the header places the audio after the end of the file,
  /// because auparse would then read past the end; nil for other files.
  static func auFault(_ file: RandomAccessFile) -> String? {
    file.number(at: 4, 4).map { $0 > file.size } ?? false
      ? "its header places the audio after the end of the file" : nil
  }

  /// Returns ``ContainerFacts/uncommonAudio`` for encodings other than PCM, A-law and µ-law, and
  /// for more than two channels, because auparse refuses them; nil for other files.
  static func uncommonAUFormat(_ file: RandomAccessFile) -> String? {
    guard let encoding = file.number(at: 12, 4), let channels = file.number(at: 20, 4) else { return nil }
    if bytesPerSample[encoding] == nil { return "AU with encoding \(encoding)" }
    return channels > 2 ? "AU with \(channels) channels" : nil
  }

  /// Returns the annotation text between the header and the audio; nil if there is none.
  static func auAnnotation(_ file: RandomAccessFile) -> String? {
    guard let start = file.number(at: 4, 4), (24..<1 << 16).contains(start) else { return nil }
    return file.read(24..<start)?.annotation
  }

  /// Bytes per audio sample, by encoding: µ-law, integers of 8 to 32 bits, floating point, A-law.
  private static let bytesPerSample = [1: 1, 2: 1, 3: 2, 4: 3, 5: 4, 6: 4, 7: 8, 27: 1]
}
