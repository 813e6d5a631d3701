/// Sample rate, channels and bit depth of a FLAC frame.
struct FLACForm: Equatable {
  /// Sample rate in Hz.
  var rate: Int
  var channels: Int
  var bits: Int
}

/// Difference in format between the frames of a FLAC file and its STREAMINFO.
package enum FLACChange: Sendable {
  /// Only the bit depth differs.
  case depth
  /// The sample rate or the number of channels differs. The bit depth may differ, too.
  case rateOrChannels
}

/// Header of a FLAC frame (RFC 9639, 9.1).
struct FLACFrame {
  /// Sample rate in Hz; nil if the rate in STREAMINFO applies.
  let rate: Int?
  let channels: Int
  /// Bit depth; nil if the depth in STREAMINFO applies.
  let bits: Int?
  /// Length in sample frames.
  let blockSize: Int

  /// Maximum header size in bytes.
  static let longest = 16
  private static let rates = [88200, 176_400, 192_000, 8000, 16000, 22050, 24000, 32000, 44100, 48000, 96000]
  private static let depths = [8, 12, 0, 16, 20, 24, 32]

  /// - Returns: nil if there is no valid frame header at `place`.
  init?(_ bytes: UnsafeRawBufferPointer, at place: Int) {
    guard place + 6 <= bytes.count, bytes[place] == 0xFF, bytes[place + 1] & 0xFE == 0xF8, bytes[place + 3] & 1 == 0
    else { return nil }
    let (sizeCode, rateCode) = (Int(bytes[place + 2] >> 4), Int(bytes[place + 2] & 0xF))
    let (channelCode, depthCode) = (Int(bytes[place + 3] >> 4), Int(bytes[place + 3] >> 1 & 7))
    guard sizeCode > 0, rateCode < 15, channelCode < 11, depthCode != 3 else { return nil }
    // The next field is the number of the frame, or of its first sample, encoded like UTF-8 in one
    // to seven bytes.
    let ones = (~bytes[place + 4]).leadingZeroBitCount
    guard ones != 1, ones < 8 else { return nil }
    var next = place + 4 + max(ones, 1)
    let (sizeBytes, rateBytes) = ([6: 1, 7: 2][sizeCode] ?? 0, [12: 1, 13: 2, 14: 2][rateCode] ?? 0)
    guard next + sizeBytes + rateBytes < bytes.count else { return nil }
    func number(_ count: Int) -> Int {
      defer { next += count }
      return (0..<count).reduce(0) { $0 << 8 | Int(bytes[next + $1]) }
    }
    let (size, rate) = (number(sizeBytes), number(rateBytes))
    guard FLACChecksum.header(bytes[place..<next]) == bytes[next] else { return nil }
    blockSize =
      switch sizeCode {
      case 1: 192
      case 2...5: 576 << (sizeCode - 2)
      case 6, 7: size + 1
      default: 256 << (sizeCode - 8)
      }
    switch rateCode {
    case 0: self.rate = nil
    case 12: self.rate = rate * 1000
    case 13: self.rate = rate
    case 14: self.rate = rate * 10
    default: self.rate = FLACFrame.rates[rateCode - 1]
    }
    channels = channelCode < 8 ? channelCode + 1 : 2
    bits = depthCode == 0 ? nil : FLACFrame.depths[depthCode - 1]
  }

  func form(_ info: FLACForm) -> FLACForm {
    FLACForm(rate: rate ?? info.rate, channels: channels, bits: bits ?? info.bits)
  }
}

/// Checksums of frames (RFC 9639, 9.1.8 and 9.3).
enum FLACChecksum {
  /// Computes the CRC-8 of a header, with the polynomial 0x07.
  static func header(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt8 {
    bytes.reduce(0) { sum, byte in
      (0..<8).reduce(sum ^ byte) { rest, _ in rest & 0x80 != 0 ? rest << 1 ^ 0x07 : rest << 1 }
    }
  }

  /// Computes the CRC-16 of a frame, with the polynomial 0x8005. If `bytes` include the checksum,
  /// the result is 0 for an intact frame.
  static func frame(_ bytes: [UInt8]) -> UInt16 {
    bytes.reduce(0) { sum, byte in sum << 8 ^ table[Int(UInt8(sum >> 8) ^ byte)] }
  }

  private static let table: [UInt16] = (0..<256).map { number in
    (0..<8).reduce(UInt16(number) << 8) { rest, _ in rest & 0x8000 != 0 ? rest << 1 ^ 0x8005 : rest << 1 }
  }
}
