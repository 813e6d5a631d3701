/// Packet layout of a transport stream: 188 bytes per packet (ISO/IEC 13818-1, 2.4.3.2), or 192
/// with a preceding four-byte timestamp, as on Blu-ray discs and in files of cameras.
struct TransportPackets {
  /// Offset of the first packet in the file.
  let start: Int
  /// Distance between packets in bytes.
  let size: Int

  /// First byte of every packet.
  static let mark: UInt8 = 0x47

  /// - Returns: nil if the file is not a transport stream.
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
    /// No packet begins at the expected position. The next step is the next packet that is found.
    case lost
  }

  /// Walks through the whole file once, in order.
  /// - Parameter visit: called with each step, and with the bytes that contain the packet's
  ///   payload.
  /// - Returns: offset after the last complete packet; nil if the file cannot be read, or reading
  ///   was cancelled.
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

  /// Returns the offset at which packets resume, recognised by three packets in a row, or fewer at
  /// the end of `bytes`. If no packet follows, returns the offset at which the search should
  /// continue.
  private func next(in bytes: [UInt8], after lost: Int) -> Int {
    let end = bytes.count
    return (lost + 1..<end).first { first in
      stride(from: first, to: min(first + 3 * size, end), by: size).allSatisfy { bytes[$0] == TransportPackets.mark }
    } ?? end
  }
}

/// Header of a transport packet (ISO/IEC 13818-1, 2.4.3.2), and of the media packet (PES) that
/// begins in the transport packet (2.4.3.7).
struct TransportPacket {
  /// PID of 13 bits.
  let stream: Int
  /// Continuity counter of four bits, which counts the packets of a PID that have a payload.
  let counter: UInt8
  /// Range of the payload in the bytes that were read; empty if the packet has no payload.
  let payload: Range<Int>
  /// True if a media packet or a table section begins in the payload.
  let isStart: Bool
  /// Clock reference (PCR) in ticks of 90 kHz, and the offset of its six bytes in the file; nil if
  /// the packet has none.
  let reference: (value: Int, place: Int)?
  /// Presentation and decoding time (PTS and DTS), in ticks of 90 kHz, of the media packet that
  /// begins in the payload; nil if none begins, or if it has no time.
  let time: (shown: Int, decoded: Int)?
  /// Kind of the media packet that begins in the payload, from the media packet's header; nil if
  /// none begins, or if its kind is unknown.
  let kind: StreamKind?

  /// True if presentation and decoding are more than 5 s apart.
  var hasDistantTimes: Bool {
    guard let time else { return false }
    let ticks = (time.shown - time.decoded) & 0x1_FFFF_FFFF
    return (5 * 90_000 + 1..<1 << 33 - 5 * 90_000).contains(ticks)
  }

  /// - Parameters:
  ///   - first: position of the packet in `bytes`, which contain the whole packet of 188 bytes.
  ///   - place: offset of the packet in the file.
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

  /// Returns the kind of the media packet that begins in `payload`, by its stream identifier (table
  /// 2-22).
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
    // A time has 33 bits in five bytes, with marker bits between groups of bits.
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
