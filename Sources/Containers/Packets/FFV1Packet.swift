/// Check of FFV1 packets (RFC 9043). A packet cannot be reordered if its frame is not a keyframe,
/// and so depends on contexts of the previous frame, or if its slices declare that the picture
/// consists of fields.
struct FFV1Packet: Sendable {
  /// State transitions of the range coder in slices.
  private let states: FFV1RangeDecoder.States
  /// Number of quantization tables that each slice header selects; nil if slices have no headers.
  private let tableCount: Int?

  /// - Parameter configuration: Configuration Record; nil in versions 0 and 1, which have none.
  init(_ configuration: [UInt8]?) {
    let parameters = FFV1Parameters(configuration: configuration)
    states = parameters?.states ?? .usual
    tableCount = parameters.map { 1 + ($0.hasChroma || $0.version == 3 ? 1 : 0) + ($0.hasAlpha ? 1 : 0) }
  }

  func obstacle(in packet: UnsafeRawBufferPointer) -> PacketCheck.Obstacle? {
    guard packet.count >= 2 else { return .isNoFrame }
    var decoder = FFV1RangeDecoder(packet)
    var state: UInt8 = 128
    // The first symbol of a frame is `keyframe` (4.4).
    guard decoder.bit(&state, states) else { return .dependsOnOthers }
    guard let tableCount else { return nil }
    // The Slice Header (4.6) has slice_x, slice_y, slice_width, slice_height, the tables, and then
    // picture_structure: 1 or 2 for fields, 3 for a progressive frame, 0 if unknown (4.6.7).
    var contexts = FFV1RangeDecoder.contexts
    for _ in 0..<4 + tableCount { _ = decoder.number(&contexts, states) }
    return (1...2).contains(decoder.number(&contexts, states)) ? .hasFields : nil
  }
}

/// Range coder of FFV1 (RFC 9043, 3.8.1).
struct FFV1RangeDecoder {
  /// State transitions. There are 256 states; in a higher state, a 1 is more likely.
  struct States: Sendable {
    private(set) var afterOne: [UInt8]

    mutating func change(_ state: Int, by delta: Int) {
      afterOne[state] = UInt8(truncatingIfNeeded: Int(afterOne[state]) &+ delta)
    }

    /// `default_state_transition` (3.8.1.5), computed as in FFmpeg (`ff_build_rac_states` in
    /// rangecoder.c): after each 1, the probability of a 1 moves a twentieth of the way to
    /// certainty. Probabilities are 32-bit fractions.
    static let usual: States = {
      let (one, factor, most) = (1 << 32, 214_748_364, 248)
      func rounded(_ probability: Int) -> Int { (256 * probability + one / 2) >> 32 }
      func moved(_ probability: Int) -> Int { probability + ((one - probability) * factor + one / 2) >> 32 }
      var states = [Int](repeating: 0, count: 256)
      var last = 0
      var probability = one / 2
      for _ in 0..<128 {
        let next = max(rounded(probability), last + 1)
        if last > 0, last < 256, next <= most { states[last] = next }
        probability = moved(probability)
        last = next
      }
      for state in 256 - most...most where states[state] == 0 {
        states[state] = min(max(rounded(moved((state * one + 128) >> 8)), state + 1), most)
      }
      return States(afterOne: states.map { UInt8($0) })
    }()

    func after(_ state: UInt8, _ bit: Bool) -> UInt8 {
      // Transitions are symmetric: a 0 in state s leads to 256 minus the state that follows a 1 in
      // state 256 - s.
      bit ? afterOne[Int(state)] : state == 0 ? 0 : 0 &- afterOne[256 - Int(state)]
    }
  }

  private let bytes: UnsafeRawBufferPointer
  private var place = 2
  private var low: Int
  private var range = 0xFF00

  /// Initial states of the contexts for the bits of a number.
  static var contexts: [UInt8] { Array(repeating: 128, count: 32) }

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    low = bytes.count < 2 ? 0 : Int(bytes[0]) << 8 | Int(bytes[1])
  }

  mutating func bit(_ state: inout UInt8, _ states: States) -> Bool {
    let part = (range * Int(state)) >> 8
    let isOne = low >= range - part
    if isOne { low -= range - part }
    range = isOne ? part : range - part
    state = states.after(state, isOne)
    if range < 0x100 {
      range <<= 8
      low = low << 8 | (place < bytes.count ? Int(bytes[place]) : 0)
      place += 1
    }
    return isOne
  }

  /// Reads an Exp-Golomb number (3.8.1.2); returns 0 for an invalid number.
  mutating func number(_ contexts: inout [UInt8], _ states: States, isSigned: Bool = false) -> Int {
    if bit(&contexts[0], states) { return 0 }
    var length = 0
    while bit(&contexts[1 + min(length, 9)], states) {
      length += 1
      if length > 31 { return 0 }
    }
    var value = 1
    for place in (0..<length).reversed() { value = value << 1 | (bit(&contexts[22 + min(place, 9)], states) ? 1 : 0) }
    if isSigned, bit(&contexts[11 + min(length, 10)], states) { value = -value }
    // Truncate to 32 bits like FFmpeg, because FFmpeg writes a coder_type of -1.
    return Int(Int32(truncatingIfNeeded: value))
  }
}
