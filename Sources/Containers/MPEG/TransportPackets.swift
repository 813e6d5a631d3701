/// How the packets of a transport stream follow each other: alone, each of 188 bytes (ISO/IEC 13818-1, 2.4.3.2), or each behind
/// a time of four bytes, as on discs and in cameras.
struct TransportPackets {
  /// Start of the first packet.
  let start: Int
  /// From one to the next.
  let size: Int

  /// First byte of every packet.
  static let mark: UInt8 = 0x47

  /// - Returns: nil where it is no transport stream.
  init?(_ file: RandomAccessFile) {
    let layouts = [(start: 0, size: 188), (start: 4, size: 192)]
    let found = layouts.first { layout in
      (0..<3).allSatisfy { file.number(at: layout.start + $0 * layout.size, 1) == Int(TransportPackets.mark) }
    }
    guard let found else { return nil }
    (start, size) = found
  }

  /// Step of ``walk(_:_:)``.
  enum Step {
    case packet(TransportPacket)
    /// No packet begins where one should. The next step is the next that does.
    case lost
  }

  /// Goes through the whole file, once, and in order.
  /// - Parameter visit: told each step, with the bytes that a packet's payload is in.
  /// - Returns: where the next packet would begin, were the file longer; nil where it can't be read, or that was cancelled.
  func walk(_ file: RandomAccessFile, _ visit: (Step, [UInt8]) -> Void) -> Int? {
    var place = start
    while place + 188 <= file.size {
      guard let bytes = file.read(place..<min(place + size * 4096, file.size)) else { return nil }
      var packet = 0
      while packet + 188 <= bytes.count {
        if bytes[packet] == TransportPackets.mark {
          visit(.packet(TransportPacket(bytes, at: packet, place: place + packet)), bytes)
          packet += size
        } else {
          visit(.lost, bytes)
          packet = next(in: bytes, after: packet)
        }
      }
      place += packet
    }
    return place
  }

  /// Place where packets begin again: three of them, as far as `bytes` go; else the place from which to look
  /// on.
  private func next(in bytes: [UInt8], after lost: Int) -> Int {
    let end = bytes.count
    return (lost + 1..<end).first { first in
      stride(from: first, to: min(first + 3 * size, end), by: size).allSatisfy { bytes[$0] == TransportPackets.mark }
    } ?? end
  }
}

/// Header of one packet (ISO/IEC 13818-1, 2.4.3.2), and that of the packet of media that begins in it
/// (2.4.3.7).
struct TransportPacket {
  /// A PID: of 13 bits.
  let stream: Int
  /// Packets of a stream that have a payload are counted: of four bits.
  let counter: UInt8
  /// In the bytes that were read; empty where there is none.
  let payload: Range<Int>
  /// Something begins in the payload: a packet of media, or a section of a table.
  let isStart: Bool
  /// The clock reference in ticks of 90 kHz, and where in the file its six bytes stand.
  let reference: (value: Int, place: Int)?
  /// Times at which the media packet that begins in it is shown, and decoded, in ticks of 90 kHz. The latter
  /// goes on from packet to packet.
  let time: (shown: Int, decoded: Int)?
  /// The kind of media that begins in it, by the media's own header; nil if none begins, or the header does not tell.
  let kind: StreamKind?

  /// - Parameters:
  ///   - first: where it begins in `bytes`, which hold all 188 of it.
  ///   - place: where it begins in the file.
  init(_ bytes: [UInt8], at first: Int, place: Int) {
    let end = first + 188
    stream = Int(bytes[first + 1] & 0x1F) << 8 | Int(bytes[first + 2])
    let control = bytes[first + 3]
    counter = control & 0xF
    var body = first + 4
    var reference: (value: Int, place: Int)?
    if control & 0x20 != 0 {
      let length = Int(bytes[body])
      if length >= 7, bytes[body + 1] & 0x10 != 0 {
        reference = (bytes.integer(body + 2) << 1 | Int(bytes[body + 6] >> 7), place + body + 2 - first)
      }
      body += 1 + length
    }
    self.reference = reference
    payload = control & 0x10 != 0 && body < end ? body..<end : end..<end
    isStart = bytes[first + 1] & 0x40 != 0 && !payload.isEmpty
    time = isStart ? TransportPacket.time(bytes, payload) : nil
    kind = isStart ? TransportPacket.kind(bytes, payload) : nil
  }

  /// Kind of a stream, by its number (table 2-22).
  private static func kind(_ bytes: [UInt8], _ payload: Range<Int>) -> StreamKind? {
    let body = payload.lowerBound
    guard payload.count >= 4, bytes[body] == 0, bytes[body + 1] == 0, bytes[body + 2] == 1 else { return nil }
    return switch bytes[body + 3] {
    case 0xC0...0xDF: .audio
    case 0xE0...0xEF: .video
    default: nil
    }
  }

  private static func time(_ bytes: [UInt8], _ payload: Range<Int>) -> (shown: Int, decoded: Int)? {
    let body = payload.lowerBound
    guard payload.count >= 19, bytes[body] == 0, bytes[body + 1] == 0, bytes[body + 2] == 1 else { return nil }
    // 33 bits, between marks.
    func time(at field: Int) -> Int {
      let high = Int(bytes[field] >> 1 & 7) << 30 | Int(bytes[field + 1]) << 22
      return high | Int(bytes[field + 2] >> 1) << 15 | Int(bytes[field + 3]) << 7 | Int(bytes[field + 4] >> 1)
    }
    let flags = bytes[body + 7] & 0xC0
    guard flags & 0x80 != 0 else { return nil }
    let shown = time(at: body + 9)
    return (shown, flags == 0xC0 ? time(at: body + 14) : shown)
  }
}
