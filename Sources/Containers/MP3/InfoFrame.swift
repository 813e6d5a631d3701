import MediaTime

/// The frame at the start of an MP3 file that holds no audio, but says how much there is: Xing's, with LAME's addition, which
/// FFmpeg writes too ("Mp3 Info Tag rev 1 specifications", LAME).
package struct InfoFrame {
  /// Place at which it starts in the file.
  package let start: Int
  package let bytes: [UInt8]
  /// Place in it at which Xing's part starts.
  package let info: Int
  package let rate: Int
  package let samplesPerFrame: Int
  /// How many frames of audio follow; nil where it does not say.
  package let frames: Int?

  /// Samples that every decoder of layer III puts before the first one.
  package static let decoderDelay = 529

  /// - Returns: nil where the file does not begin with such a frame.
  package init?(_ file: RandomAccessFile) {
    let start = ID3Tag.end(in: file)
    // The longest is 1,441 bytes; the wanted fields lie in the first of them.
    guard let bytes = file.read(start..<start + 192) else { return nil }
    let version = bytes[1] >> 3 & 3  // 3 is MPEG-1, 2 is MPEG-2, 0 is 2.5
    let rateIndex = Int(bytes[2] >> 2 & 3)
    guard bytes[0] == 0xFF, bytes[1] & 0xE0 == 0xE0, bytes[1] >> 1 & 3 == 1, version != 1, rateIndex < 3 else {
      return nil
    }
    let isFirst = version == 3
    let isMono = bytes[3] >> 6 == 3
    // Behind the side information.
    info = 4 + (isFirst ? (isMono ? 17 : 32) : (isMono ? 9 : 17))
    guard ["Xing", "Info"].contains(bytes.text(info)) else { return nil }
    self.start = start
    self.bytes = bytes
    rate = InfoFrame.rates[rateIndex] >> InfoFrame.shift(version)
    samplesPerFrame = isFirst ? 1152 : 576
    frames = bytes[info + 7] & 1 != 0 ? bytes.integer(info + 8) : nil
  }

  /// How many frames of audio really follow.
  package func count(in file: RandomAccessFile) -> Int {
    var place = start
    var count = -1  // This one is none.
    while let header = file.read(place..<place + 4), let size = InfoFrame.size(header) {
      place += size
      count += 1
    }
    return max(count, 0)
  }

  /// How many bytes a frame of layer III takes, by its header (ISO/IEC 11172-3, 2.4.2.3, and 13818-3); nil where it is none.
  static func size(_ header: [UInt8]) -> Int? {
    let version = header[1] >> 3 & 3
    let bitrate = Int(header[2] >> 4)
    let rateIndex = Int(header[2] >> 2 & 3)
    guard header[0] == 0xFF, header[1] & 0xE6 == 0xE2, version != 1, (1...14).contains(bitrate), rateIndex < 3 else {
      return nil
    }
    let first = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
    let others = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
    let rate = rates[rateIndex] >> shift(version)
    let padding = Int(header[2] >> 1 & 1)
    return version == 3 ? 144_000 * first[bitrate] / rate + padding : 72_000 * others[bitrate] / rate + padding
  }

  private static let rates = [44100, 48000, 32000]
  /// Bits by which the rates of MPEG-1 are shifted to the right for MPEG-2 and 2.5.
  private static func shift(_ version: UInt8) -> Int { version == 3 ? 0 : version == 2 ? 1 : 2 }

  /// Audio between priming and padding; nil if the frame names neither. mpegaudioparse reads it only
  /// from LAME (`Quirk.mpegaudioparseFFmpegPadding`).
  package var gapless: GaplessInfo? {
    var end = info + 8
    for (bit, size) in [(1, 4), (2, 4), (4, 100), (8, 4)] where Int(bytes[info + 7]) & bit != 0 { end += size }
    guard let frames, end + 24 <= bytes.count, ["LAME", "Lavf", "Lavc"].contains(bytes.text(end)) else { return nil }
    let pads = bytes.number(end + 21..<end + 24)
    let (delay, padding) = (pads >> 12, pads & 0xFFF)
    let count = frames * samplesPerFrame - delay - padding
    guard count > 0 else { return nil }
    return GaplessInfo(
      delay: ClockTime(sampleIndex: delay + InfoFrame.decoderDelay, rate: rate),
      duration: ClockTime(sampleIndex: count, rate: rate), ifDecoded: frames * samplesPerFrame)
  }
}
