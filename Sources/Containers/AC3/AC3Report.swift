extension ContainerReport {
  /// Creates the report of an AC-3 or E-AC-3 file (ETSI TS 102 366, 4.3 and E.1.3).
  static func ac3(_ file: RandomAccessFile, _ start: Int) -> ContainerReport? {
    func size(at place: Int) -> Int? { file.read(place..<place + 6).flatMap(ac3FrameSize) }
    // The sync word has only 16 bits, so require a second frame. Exception: the file ends with, or
    // within, the first frame.
    guard let first = size(at: start), start + first >= file.size || size(at: start + first) != nil else { return nil }
    return audio(end: nil, walk(file, from: start, size))
  }

  /// Returns the length in bytes of the AC-3 or E-AC-3 frame that starts with `bytes`; nil if
  /// `bytes` are not a frame header.
  private static func ac3FrameSize(_ bytes: [UInt8]) -> Int? {
    guard bytes.number(0..<2) == 0x0B77 else { return nil }
    let rate = Int(bytes[4] >> 6)
    switch bytes[5] >> 3 {
    case 11...16: return 2 * ((bytes.number(2..<4) & 0x7FF) + 1)
    case 0...10:
      let code = Int(bytes[4] & 0x3F)
      guard code < 2 * ac3Bitrates.count, rate < 3 else { return nil }
      let bitrate = ac3Bitrates[code / 2]
      // A frame has 1,536 audio samples. At 44.1 kHz, an odd code adds one word to the frame.
      return switch rate {
      case 0: 4 * bitrate
      case 1: 2 * (bitrate * 96_000 / 44_100 + code % 2)
      default: 6 * bitrate
      }
    default: return nil
    }
  }

  /// Bit rates of AC-3 in kbit/s. The index is half of the frame size code (`frmsizecod`).
  private static let ac3Bitrates = [
    32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640,
  ]
}
