/// Metadata of single pictures, registered by ITU-T T.35 and stored in SEI messages of H.264 and
/// HEVC (ITU-T H.274, 8.2).
enum DynamicMetadata {
  /// Returns the names of the dynamic metadata in an SEI unit.
  /// - Parameter unit: NAL unit without the header.
  static func names(inSEI unit: Slice<UnsafeRawBufferPointer>) -> [String] {
    SEIMessage.all(in: unit).compactMap { $0.type == 4 ? name(ofMessage: $0.payload) : nil }
  }

  /// Returns the name of the metadata in a message; nil if unknown. Captions and the active format
  /// description are not recognised here.
  /// - Parameter message: payload of the message, starting with the country code.
  private static func name(ofMessage message: ArraySlice<UInt8>) -> String? {
    switch Array(message.prefix(6)) {
    // SMPTE ST 2094-40, annex A.
    case let start where start.starts(with: [0xB5, 0, 0x3C, 0, 1, 4]): "HDR10+"
    case let start where start.starts(with: [0xB5, 0, 0x3A]): "SL-HDR"
    case let start where start.starts(with: [0xB5, 0, 0x3B]): "Dolby Vision"
    case let start where start.starts(with: [0x26, 0, 4, 0, 5]): "HDR Vivid"
    default: nil
    }
  }
}

/// Message of supplemental enhancement information (ITU-T H.264, 7.3.2.3.1; H.265, 7.3.5).
struct SEIMessage {
  /// `payloadType`.
  let type: Int
  let payload: ArraySlice<UInt8>

  /// Reads all messages in a NAL unit.
  /// - Parameter unit: NAL unit without the header.
  static func all(in unit: Slice<UnsafeRawBufferPointer>) -> [SEIMessage] {
    let bytes = withoutEmulation(unit)
    var found: [SEIMessage] = []
    var place = 0
    /// Reads a number: the sum of one or more bytes. Another byte follows each byte of 255.
    func number() -> Int? {
      var sum = 0
      while place < bytes.count {
        sum += Int(bytes[place])
        place += 1
        if bytes[place - 1] != 255 { return sum }
      }
      return nil
    }
    // The last byte of the unit is a trailing bit pattern, not a message.
    while place < bytes.count - 1, let type = number(), let size = number(), size <= bytes.count - place {
      found.append(SEIMessage(type: type, payload: bytes[place..<place + size]))
      place += size
    }
    return found
  }

  /// Removes the emulation prevention bytes: each 3 after two zeros (ITU-T H.264, 7.4.1).
  static func withoutEmulation(_ unit: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
    var zeros = 0
    return unit.filter { byte in
      defer { zeros = byte == 0 ? zeros + 1 : 0 }
      return !(zeros >= 2 && byte == 3)
    }
  }
}
