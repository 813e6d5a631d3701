import MediaTime

/// Clock references (PCR) of an MPEG transport stream that tsdemux can't work with (`Quirk.tsdemuxClockGap`).
///
/// They serve a receiver's clock; a file's times are in its packets alone (PTS, ISO/IEC
/// 13818-1, 2.4.3.7). So where those go on without a jump, all references are made one and the same.
struct TransportClock: FileCorrection {
  /// Places of each reference's six bytes in the file, ascending.
  private let places: [Int]
  /// The time that they are to say, in ticks of 90 kHz.
  let time: Int

  /// Packets of one stream whose times are further apart, or go back by more than reordering makes them, have jumped;
  /// in ticks of 90 kHz.
  static let steps = -45_000...5 * 90_000

  var demuxer: String { "tsdemux" }
  var ends: [String: ClockTime] { [:] }

  /// - Returns: nil where nothing has to be changed.
  init?(_ references: ClockReferences) {
    guard references.hasGap, !references.hasJump, references.clocks.count == 1, let earliest = references.earliest
    else {
      return nil
    }
    places = references.places
    time = earliest
  }

  func changes(_ range: Range<Int>) -> Bool {
    let first = places.partition { $0 + 6 > range.lowerBound }
    return first < places.count && places[first] < range.upperBound
  }

  /// Sets all references to the same time: as later ones have to be later, each by a tick of 27 MHz.
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

  /// A clock reference (ISO/IEC 13818-1, 2.4.3.4): ticks of 90 kHz in 33 bits, six reserved ones, and ticks of 27 MHz
  /// in nine.
  private static func bytes(_ base: Int, _ extra: Int) -> [UInt8] {
    let bits = (base & 0x1_FFFF_FFFF) << 15 | 0x7E00 | extra & 0x1FF
    return (0..<6).map { UInt8(truncatingIfNeeded: bits >> (40 - 8 * $0)) }
  }
}

/// Clock references of a transport stream, compared with the times of its packets of media.
struct ClockReferences {
  /// Places of each reference's six bytes in the file.
  private(set) var places: [Int] = []
  /// The streams that carry references, and the last of each.
  private(set) var clocks: [Int: Int] = [:]
  /// One comes too late for tsdemux.
  private(set) var hasGap = false
  private(set) var hasJump = false
  /// When the first packet is decoded.
  private(set) var earliest: Int?
  /// The last time in each stream.
  private var last: [Int: Int] = [:]

  /// True if a picture may have been held: the times of another stream went on while this one had none, or there is
  /// no other and it had none for no longer than FFmpeg takes for that.
  private func isHeld(_ stream: Int, from known: Int, to time: Int) -> Bool {
    if last.keys.allSatisfy({ $0 == stream }) { return (0...10 * 90_000).contains(time - known) }
    return known < time
      && last.contains { $0.key != stream && $0.value > known && TransportClock.steps.contains(time - $0.value) }
  }

  /// Time without a reference after which tsdemux goes wrong, in ticks of 90 kHz. Its own limit is 500 ms.
  private static let gap = 40_500

  mutating func add(_ packet: TransportPacket) {
    if let (value, place) = packet.reference {
      if let known = clocks[packet.stream], !(0...ClockReferences.gap).contains(value - known) { hasGap = true }
      clocks[packet.stream] = value
      places.append(place)
    }
    guard let time = packet.time?.decoded else { return }
    if let known = last[packet.stream], !TransportClock.steps.contains(time - known),
      !isHeld(packet.stream, from: known, to: time)
    {
      hasJump = true
    }
    last[packet.stream] = time
    earliest = min(earliest ?? time, time)
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
