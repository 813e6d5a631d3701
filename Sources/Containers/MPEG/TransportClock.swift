import MediaTime

/// Replaces the clock references (PCR) of an MPEG transport stream if tsdemux would mishandle them
/// (`Quirk.tsdemuxClockGap`).
///
/// Clock references only synchronise a receiver. The presentation times are in the media packets
/// (PTS, ISO/IEC 13818-1, 2.4.3.7). If the times of the packets have no jumps, and all references
/// are in one PID, all references are set to nearly the same time.
struct TransportClock: FileCorrection {
  /// Offsets in the file of the six-byte clock references, ascending.
  private let places: [Int]
  /// New time of the clock references, in ticks of 90 kHz.
  let time: Int

  /// Allowed differences between successive times of one stream, in ticks of 90 kHz. Any other
  /// difference is a jump. Negative differences may result from reordering.
  static let steps = -45_000...5 * 90_000

  var demuxer: String { "tsdemux" }
  var ends: [String: ClockTime] { [:] }

  /// - Returns: nil if no change is needed, if the packet times jump, or if more than one PID has
  ///   clock references.
  init?(_ references: ClockReferences) {
    guard references.hasGap, !references.hasJump, references.clocks.count == 1, let earliest = references.earliest
    else {
      return nil
    }
    places = references.places
    time = earliest
  }

  func changes(_ range: Range<Int>) -> Bool {
    let first = places.endOfPrefix { $0 + 6 <= range.lowerBound }
    return first < places.count && places[first] < range.upperBound
  }

  /// Sets all clock references to nearly the same time. Each is one tick of 27 MHz later than the
  /// previous one, because clock references must increase.
  func apply(to bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
    var number = places.endOfPrefix { $0 + 6 <= offset }
    while number < places.count, places[number] < offset + bytes.count {
      for (index, byte) in TransportClock.bytes(time + number / 300, number % 300).enumerated() {
        let place = places[number] + index - offset
        if bytes.indices.contains(place) { bytes[place] = byte }
      }
      number += 1
    }
  }

  /// Encodes a clock reference (ISO/IEC 13818-1, 2.4.3.4): 33 bits of 90 kHz ticks, six reserved
  /// bits, and nine bits of 27 MHz ticks.
  private static func bytes(_ base: Int, _ extra: Int) -> [UInt8] {
    let bits = (base & 0x1_FFFF_FFFF) << 15 | 0x7E00 | extra & 0x1FF
    return (0..<6).map { UInt8(truncatingIfNeeded: bits >> (40 - 8 * $0)) }
  }
}

/// Clock references (PCR) of a transport stream, and jumps in the times of its media packets.
struct ClockReferences {
  /// Offsets in the file of the six-byte clock references.
  private(set) var places: [Int] = []
  /// Last clock reference of each PID, in ticks of 90 kHz.
  private(set) var clocks: [Int: Int] = [:]
  /// True if a clock reference is earlier than the previous one, or later by more than tsdemux
  /// tolerates (``gap``).
  private(set) var hasGap = false
  private(set) var hasJump = false
  /// Earliest decoding time, in ticks of 90 kHz.
  private(set) var earliest: Int?
  /// Last decoding time of each PID, in ticks of 90 kHz.
  private var last: [Int: Int] = [:]

  /// True if a long step in a stream's times may come from a long frame, not from a jump: another
  /// stream has a later time than `known`, and that time is close to `time`. If there is no other
  /// stream, true if the step is at most 10 s, above which FFmpeg assumes a jump.
  private func isHeld(_ stream: Int, from known: Int, to time: Int) -> Bool {
    if last.keys.allSatisfy({ $0 == stream }) { return (0...10 * 90_000).contains(time - known) }
    return known < time
      && last.contains { $0.key != stream && $0.value > known && TransportClock.steps.contains(time - $0.value) }
  }

  /// Maximum time between references, in ticks of 90 kHz: 450 ms, because tsdemux fails beyond 500
  /// ms.
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
