import MediaTime

extension ContainerReport {
  /// Sun's and NeXT's audio ("Header Files: Audio File Format", Sun, audio_filehdr(4)): a header with the
  /// number of bytes of audio that follow it, or a mark that the number was not known.
  static func au(_ file: RandomAccessFile) -> ContainerReport? {
    func field(_ number: Int) -> Int? { file.number(at: 4 * number, 4) }
    guard let start = field(1), let size = field(2), let encoding = field(3), let rate = field(4),
      let channels = field(5), start >= 24, size > 0, rate > 0, channels > 0
    else { return nil }
    // A program that writes into a pipe does not know the length.
    guard size != 0xFFFF_FFFF else { return nil }
    // For ADPCM the length is not known, only whether its bytes are there.
    let end = bytesPerSample[encoding].map { ClockTime(sampleIndex: size / ($0 * channels), rate: rate) }
    return ContainerReport(
      isCut: size > file.size - start, end: end, streams: [Stream(kind: .audio, frames: nil, end: end)])
  }

  /// ``ContainerFacts/fault``: auparse reads behind the end of such a file.
  static func auFault(_ file: RandomAccessFile) -> String? {
    file.number(at: 4, 4).map { $0 > file.size } ?? false ? "its audio begins after its end" : nil
  }

  /// The text between the header and the audio; nil if there is none.
  static func auAnnotation(_ file: RandomAccessFile) -> String? {
    guard let start = file.number(at: 4, 4), (24..<1 << 16).contains(start) else { return nil }
    return file.read(24..<start)?.annotation
  }

  /// Bytes of a sample by encoding: µ-law, integers of 8 to 32 bits, floating point numbers, A-law.
  private static let bytesPerSample = [1: 1, 2: 1, 3: 2, 4: 3, 5: 4, 6: 4, 7: 8, 27: 1]
}
