import Containers
import GStreamer
import MediaTime

/// Index of a video, stored in a file so that decoding a part needs no full pass over the source.
///
/// The packets are in a separate file, in decoding order. Each packet has six little-endian 64-bit
/// numbers: presentation time, decoding time and duration in nanoseconds, size in bytes, number of
/// picture bytes, and flags (1 keyframe, 2 hidden). `Int64.min` means unknown.
package struct StoredVideoIndex: Codable, Sendable {
  /// Number of packets.
  package let packets: Int
  /// SHA-256 of the packet file.
  package let digest: String
  private let caps: String
  private let tags: String?
  private let segmentEnd: ClockTime?
  private let isFromStart: Bool
  private let declaresDurations: Bool
  /// Name of the decoder element to use instead of GStreamer's choice; nil to use GStreamer's
  /// choice.
  private let decoder: String?
  private let crop: PictureCrop?

  /// Count of numbers stored for each packet.
  private static let stride = 6

  package init(_ index: VideoIndex) {
    packets = index.packets.count
    caps = index.caps.description
    tags = index.tags?.description
    segmentEnd = index.segmentEnd
    isFromStart = index.isFromStart
    declaresDurations = index.declaresDurations
    decoder = index.decoder
    crop = index.crop
    let sum = Checksum()
    StoredVideoIndex.numbers(index).withUnsafeBytes(sum.add)
    digest = sum.digest
  }

  /// Returns the contents of the packet file of `index`.
  package static func bytes(of index: VideoIndex) -> [UInt8] { numbers(index).withUnsafeBytes { Array($0) } }

  private static func numbers(_ index: VideoIndex) -> [Int64] {
    var numbers: [Int64] = []
    numbers.reserveCapacity(index.packets.count * stride)
    for packet in index.packets {
      let times = [packet.time, packet.decodingTime, packet.duration]
      numbers += times.map { ($0?.nanoseconds ?? .min).littleEndian }
      numbers.append(Int64(packet.bytes).littleEndian)
      numbers.append((packet.pictureBytes.map { Int64($0) } ?? .min).littleEndian)
      numbers.append(Int64((packet.isKeyframe ? 1 : 0) + (packet.isHidden ? 2 : 0)).littleEndian)
    }
    return numbers
  }

  /// Restores the index from the packet file's contents.
  /// - Returns: nil if `bytes` do not belong to this index.
  package func index(_ bytes: [UInt8]) -> VideoIndex? {
    let count = packets
    let sum = Checksum()
    bytes.withUnsafeBytes(sum.add)
    let size = StoredVideoIndex.stride * MemoryLayout<Int64>.size
    guard let caps = Caps(caps), bytes.count == count * size, sum.digest == digest else { return nil }
    let packets = bytes.withUnsafeBytes { bytes in
      (0..<count).map { number in
        func value(_ place: Int) -> Int64 {
          Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: number * size + place * 8, as: Int64.self))
        }
        func time(_ place: Int) -> ClockTime? {
          value(place) == .min ? nil : ClockTime(nanoseconds: value(place))
        }
        return VideoPacket(
          time: time(0), decodingTime: time(1), duration: time(2), isKeyframe: value(5) & 1 != 0,
          bytes: Int(value(3)), pictureBytes: value(4) == .min ? nil : Int(value(4)),
          isHidden: value(5) & 2 != 0)
      }
    }
    var index = VideoIndex(
      caps: caps, tags: tags.flatMap { TagList($0) }, packets: packets, segmentEnd: segmentEnd,
      declaresDurations: declaresDurations)
    index.isFromStart = isFromStart
    index.decoder = decoder
    index.crop = crop
    return index
  }
}
