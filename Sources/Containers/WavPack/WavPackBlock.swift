/// Header of a WavPack block: only the fields that describe the audio ("WavPack 4 & 5 Binary File /
/// Block Format", 2.0).
package struct WavPackBlock {
  /// Reads the blocks of a packet. Each block has one or two channels.
  package static func all(in packet: UnsafeRawBufferPointer) -> [WavPackBlock] {
    var found: [WavPackBlock] = []
    var place = 0
    while place + 32 <= packet.count, let block = WavPackBlock(packet, at: place) {
      found.append(block)
      place += block.size
    }
    return found
  }

  package let samples: Int
  package let channels: Int
  /// True if the block's checksum differs from the checksum of silence, so the block contains
  /// samples other than 0. Nil for DSD, whose checksum is calculated differently.
  package let holdsSound: Bool?
  private let size: Int

  private init?(_ packet: UnsafeRawBufferPointer, at place: Int) {
    func word(_ offset: Int) -> UInt32 {
      packet.loadUnaligned(fromByteOffset: place + offset, as: UInt32.self).littleEndian
    }
    guard packet[place..<place + 4].elementsEqual("wvpk".utf8) else { return nil }
    size = Int(word(4)) + 8
    samples = Int(word(20))
    let flags = word(24)
    channels = flags & 4 != 0 ? 1 : 2
    let isMono = flags & 0x4000_0004 != 0
    holdsSound = flags >> 31 == 1 ? nil : word(28) != WavPackBlock.sumOfSilence(samples, step: isMono ? 3 : 9)
  }

  /// Returns the checksum of a block of silence. A checksum starts with all bits set, and is
  /// multiplied by a constant before each sample is added.
  private static func sumOfSilence(_ samples: Int, step: UInt32) -> UInt32 {
    var (sum, factor, left) = (UInt32.max, step, samples)
    while left > 0 {
      if left & 1 == 1 { sum &*= factor }
      factor &*= factor
      left >>= 1
    }
    return sum
  }
}
