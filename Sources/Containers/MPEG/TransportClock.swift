import MediaTime

/// The clock references (PCR) of an MPEG transport stream, where GStreamer 1.22's tsdemux can't work with them.
///
/// It takes more than half a second without one for a jump of time, and from there on works times out by the bytes
/// (`record_pcr` in mpegtspacketizer.c). They serve a receiver's clock; a file's times are in its packets alone (PTS, ISO/IEC
/// 13818-1, 2.4.3.7). So where those go on without a jump, all references are made one and the same.
struct TransportClock: FileCorrection {
  /// Where each reference's six bytes stand in the file, ascending.
  private let places: [Int]
  /// The time that they are to say, in ticks of 90 kHz.
  private let time: Int

  /// Without a reference for longer than this, tsdemux goes wrong; in ticks of 90 kHz. Its own limit is 500 ms.
  private static let gap = 40_500
  /// Packets of one stream whose times are further apart, or go back by more than reordering makes them, have jumped.
  private static let steps = -45_000...5 * 90_000

  var demuxer: String { "tsdemux" }
  var ends: [String: ClockTime] { [:] }

  /// - Returns: nil where nothing has to be changed.
  init?(_ file: RandomAccessFile, _ packets: TransportPackets) {
    var scan = Scan()
    var start = packets.start
    let block = packets.size * 4096
    while start + 188 <= file.size, let bytes = file.read(start..<min(start + block, file.size)) {
      for packet in stride(from: 0, through: bytes.count - 188, by: packets.size) {
        guard bytes[packet] == 0x47 else { return nil }
        scan.add(bytes[packet..<packet + 188], at: start + packet)
      }
      // Nothing can be done then, whatever follows.
      if scan.hasJump || scan.clocks.count > 1 { return nil }
      start += block
    }
    guard scan.hasGap, !scan.hasJump, scan.clocks.count == 1, let earliest = scan.earliest else { return nil }
    places = scan.places
    time = earliest
  }

  func changes(_ range: Range<Int>) -> Bool {
    let first = places.partition { $0 + 6 > range.lowerBound }
    return first < places.count && places[first] < range.upperBound
  }

  /// Has every reference say the same: as later ones have to be later, each by a tick of 27 MHz.
  func apply(to bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
    var number = places.partition { $0 + 6 > offset }
    while number < places.count, places[number] < offset + bytes.count {
      for (index, byte) in TransportClock.bytes(time + number / 300, number % 300).enumerated() {
        let place = places[number] + index - offset
        if bytes.indices.contains(place) { bytes[place] = byte }
      }
      number += 1
    }
  }

  /// A clock reference (ISO/IEC 13818-1, 2.4.3.4): ticks of 90 kHz in 33 bits, six reserved ones, and ticks of 27 MHz in nine.
  private static func bytes(_ base: Int, _ extra: Int) -> [UInt8] {
    let bits = (base & 0x1_FFFF_FFFF) << 15 | 0x7E00 | extra & 0x1FF
    return (0..<6).map { UInt8(truncatingIfNeeded: bits >> (40 - 8 * $0)) }
  }
}

extension TransportClock {
  /// What the packets say of the time.
  private struct Scan {
    var places: [Int] = []
    /// The streams that carry references, and the last of each.
    var clocks: [Int: Int] = [:]
    var hasGap = false
    var hasJump = false
    var earliest: Int?
    /// The last time in each stream.
    private var last: [Int: Int] = [:]

    mutating func add(_ packet: ArraySlice<UInt8>, at place: Int) {
      let first = packet.startIndex
      let stream = Int(packet[first + 1] & 0x1F) << 8 | Int(packet[first + 2])
      var body = first + 4
      if packet[first + 3] & 0x20 != 0 {
        let length = Int(packet[body])
        if length >= 7, packet[body + 1] & 0x10 != 0, body + 8 <= packet.endIndex {
          let value = packet[body + 2..<body + 6].reduce(0) { $0 << 8 | Int($1) } << 1 | Int(packet[body + 6] >> 7)
          if let known = clocks[stream], !(0...gap).contains(value - known) { hasGap = true }
          clocks[stream] = value
          places.append(place + body + 2 - first)
        }
        body += 1 + length
      }
      let isStart = packet[first + 1] & 0x40 != 0 && packet[first + 3] & 0x10 != 0
      guard isStart, body + 19 <= packet.endIndex, packet[body..<body + 3].elementsEqual([0, 0, 1]) else { return }
      // Of a picture, when it is decoded: that goes on from packet to packet.
      let field = packet[body + 7] & 0xC0 == 0xC0 ? body + 14 : packet[body + 7] & 0x80 != 0 ? body + 9 : nil
      guard let field else { return }
      let value = Scan.time(packet[field..<field + 5])
      if let known = last[stream], !steps.contains(value - known) { hasJump = true }
      last[stream] = value
      earliest = min(earliest ?? value, value)
    }

    /// A PTS or DTS: 33 bits, between marks.
    private static func time(_ field: ArraySlice<UInt8>) -> Int {
      let bytes = field.map { Int($0) }
      return (bytes[0] >> 1 & 7) << 30 | bytes[1] << 22 | (bytes[2] >> 1) << 15 | bytes[3] << 7 | bytes[4] >> 1
    }
  }
}

extension [Int] {
  /// The place of the first element that `isBehind` is true of, in an array in which it is true of all after that one.
  fileprivate func partition(first isBehind: (Int) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
