import Testing

@testable import Containers

/// What MP4 says of AV1.
@Suite struct AV1ConfigurationTests {
  /// A temporal delimiter and a sequence header, as libaom 3.6 writes them of 640x360.
  private let packet: [UInt8] = [
    0x12, 0, 0x0A, 0x0C, 0, 0, 0, 0x0C, 0xC4, 0xFF, 0x67, 0xE0, 0x6D, 0x7C, 0x80, 0x20, 0x32, 0,
  ]

  /// As mp4mux 1.22 writes it: the box begins with four bytes that have no place there.
  private var description: [UInt8] {
    let box = Box.bytes("av1C", [0, 0, 0, 0, 0])
    return .zeros(4) + .big(UInt32(1)) + Box.bytes("av01", .zeros(78), box, Box.bytes("pasp", .zeros(8)))
  }

  @Test func aFirstPacketSaysWhatTheStreamIs() throws {
    #expect(AV1Configuration(packet: packet)?.codecs == "av01.0.01M.08")
    var high = packet
    // Level 5.1 (13), the high tier.
    high[7] = 13 << 3 | 4
    #expect(AV1Configuration(packet: high)?.codecs == "av01.0.13H.08")
    // Another profile, and a header that names times.
    for byte in [0x20, 0x04] as [UInt8] {
      var other = packet
      other[4] = byte
      #expect(AV1Configuration(packet: other) == nil)
    }
  }

  @Test func theBoxIsPutRight() throws {
    let right = try #require(AV1Configuration(packet: packet)).description(description)
    let configuration = Box.bytes("av1C", [0x81, 1, 0x0C, 0])
    #expect(
      right == .zeros(4) + .big(UInt32(1))
        + Box.bytes("av01", .zeros(78), configuration, Box.bytes("pasp", .zeros(8))))
  }

  @Test(arguments: 0..<130) func whatIsCutIsLeftAsItIs(_ length: Int) throws {
    let configuration = try #require(AV1Configuration(packet: packet))
    if length < 16 { #expect(AV1Configuration(packet: Array(packet.prefix(length))) == nil) }
    guard length < description.count else { return }
    let cut = Array(description.prefix(length))
    #expect(configuration.description(cut) == cut)
  }

  @Test func noSizeIsBelieved() {
    #expect(AV1Configuration(packet: [0x0A] + [UInt8](repeating: 0xFF, count: 20)) == nil)
    #expect(AV1Configuration(packet: [0x0E]) == nil)
  }
}
