import MediaTime

/// Xing info frame at the start of an MP3 file: a frame without audio that declares the number of
/// audio frames. LAME and FFmpeg also store priming and padding in it ("Mp3 Info Tag rev 1
/// specifications", LAME).
package struct InfoFrame {
  /// Offset of the frame in the file.
  package let start: Int
  package let bytes: [UInt8]
  /// Offset of the Xing data within the frame.
  package let info: Int
  package let rate: Int
  package let samplesPerFrame: Int
  /// Declared number of audio frames after the info frame; nil if not declared.
  package let frames: Int?

  /// Delay of every Layer III decoder, in audio samples.
  package static let decoderDelay = 529

  /// - Returns: nil if the file does not begin with an info frame.
  package init?(_ file: RandomAccessFile) {
    let start = ID3Tag.end(in: file)
    // All fields that are read here are in the first 192 bytes of the frame.
    guard let bytes = file.read(start..<start + 192) else { return nil }
    let version = bytes[1] >> 3 & 3  // 3 is MPEG-1, 2 is MPEG-2, 0 is MPEG-2.5
    let rateIndex = Int(bytes[2] >> 2 & 3)
    guard bytes[0] == 0xFF, bytes[1] & 0xE0 == 0xE0, bytes[1] >> 1 & 3 == 1, version != 1, rateIndex < 3 else {
      return nil
    }
    let isFirst = version == 3
    let isMono = bytes[3] >> 6 == 3
    // The Xing data follows the side information, whose size depends on version and channels.
    info = 4 + (isFirst ? (isMono ? 17 : 32) : (isMono ? 9 : 17))
    guard ["Xing", "Info"].contains(bytes.text(info)) else { return nil }
    self.start = start
    self.bytes = bytes
    rate = InfoFrame.rates[rateIndex] >> InfoFrame.shift(version)
    samplesPerFrame = isFirst ? 1152 : 576
    frames = bytes[info + 7] & 1 != 0 ? bytes.integer(info + 8) : nil
  }

  /// Counts the audio frames that actually follow the info frame.
  package func count(in file: RandomAccessFile) -> Int {
    var place = start
    var count = -1  // excludes the info frame
    while let header = file.read(place..<place + 4), let size = InfoFrame.size(header) {
      place += size
      count += 1
    }
    return max(count, 0)
  }

  /// Returns the size in bytes of a Layer III frame, from its header (ISO/IEC 11172-3, 2.4.2.3, and
  /// 13818-3); nil if the header is not valid.
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
  /// Returns the number of bits by which to shift an MPEG-1 sample rate right for this MPEG
  /// version.
  private static func shift(_ version: UInt8) -> Int { version == 3 ? 0 : version == 2 ? 1 : 2 }

  /// Range of the audio between priming and padding; nil if the info frame declares neither.
  /// mpegaudioparse reads priming and padding only if LAME wrote them
  /// (`Quirk.mpegaudioparseFFmpegPadding`).
  package var gapless: GaplessInfo? {
    var end = info + 8
    for (bit, size) in [(1, 4), (2, 4), (4, 100), (8, 4)] where Int(bytes[info + 7]) & bit != 0 { end += size }
    guard let frames, end + 24 <= bytes.count, ["LAME", "Lavf", "Lavc"].contains(bytes.text(end)) else { return nil }
    let pads = bytes.number(end + 21..<end + 24)
    let (delay, padding) = (pads >> 12, pads & 0xFFF)
    let count = frames * samplesPerFrame - delay - padding
    guard count > 0 else { return nil }
    var found = GaplessInfo(
      delay: ClockTime(sampleIndex: delay + InfoFrame.decoderDelay, rate: rate),
      duration: ClockTime(sampleIndex: count, rate: rate), ifDecoded: frames * samplesPerFrame)
    found.isTrimmedByParser = bytes.text(end) == "LAME"
    return found
  }
}
