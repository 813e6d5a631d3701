/// Fixes the time of the first Opus packet in a finished file (`Quirk.matroskamuxOpusStart`).
///
/// Block times include the priming (`CodecDelay`, RFC 9559, 5.1.4.1.25), so the packet in the first
/// block must end when the second block starts. If it does not, the first block gets another time.
struct MatroskaOpusStart {
  private let file: RandomAccessFile
  private let segment: Range<Int>

  /// One of the first two packets of a track.
  private struct Block {
    /// Time of the block, in ticks.
    let time: Int
    let clusterTime: Int
    /// Offset in the file of the block's time field, which has two bytes and is relative to the
    /// cluster's time.
    let place: Int
    /// First bytes of the packet.
    let bytes: [UInt8]
  }

  init(_ file: RandomAccessFile, in segment: Range<Int>) {
    self.file = file
    self.segment = segment
  }

  /// Writes the corrected times.
  /// - Throws: ``FileError``.
  func apply() throws {
    let parts = file.elements(in: segment)
    func bytes(_ id: UInt32) -> [UInt8] {
      parts.first { $0.id == id && $0.body.count < 1 << 24 }.flatMap { file.read($0.body) } ?? []
    }
    let scale = EBMLElement.all(in: bytes(MatroskaID.info)).first { $0.id == MatroskaID.timestampScale }?.number
    let tick = scale.map { Int($0) } ?? 1_000_000
    guard tick > 0 else { return }
    var delays: [Int: Int] = [:]
    for entry in EBMLElement.all(in: bytes(MatroskaID.tracks)) where entry.id == MatroskaID.trackEntry {
      let fields = EBMLElement.all(in: entry.bytes)
      func field(_ id: UInt32) -> EBMLElement? { fields.first { $0.id == id } }
      guard field(MatroskaID.codec)?.bytes.starts(with: "A_OPUS".utf8) ?? false,
        let number = field(MatroskaID.trackNumber)?.number, let delay = field(MatroskaID.codecDelay)?.number
      else { continue }
      delays[Int(number)] = Int(delay)
    }
    guard !delays.isEmpty else { return }
    for (track, blocks) in firstBlocks(of: Set(delays.keys), parts.filter { $0.id == MatroskaID.cluster }.map(\.body)) {
      guard blocks.count == 2, let delay = delays[track], let length = MatroskaOpusStart.length(blocks[0].bytes)
      else { continue }
      let first = blocks[0]
      let time = (blocks[1].time * tick - length + tick / 2) / tick
      let change = abs(time - first.time)
      // Leave a difference of one tick, which is due to rounding, and a difference of more than the
      // priming, which is a gap in the audio.
      guard time >= 0, change > 1, change <= delay / tick + 2, let offset = Int16(exactly: time - first.clusterTime)
      else { continue }
      let bytes = withUnsafeBytes(of: offset.bigEndian, Array.init)
      if !file.write(bytes, at: first.place) { throw FileError.last }
    }
  }

  /// Reads the first two blocks of each track.
  private func firstBlocks(of tracks: Set<Int>, _ clusters: [Range<Int>]) -> [Int: [Block]] {
    var found: [Int: [Block]] = [:]
    for cluster in clusters {
      var clusterTime = 0
      _ = file.forEachElement(in: cluster) { id, body in
        switch id {
        case MatroskaID.timestamp: clusterTime = file.number(at: body.lowerBound, min(body.count, 8)) ?? 0
        case MatroskaID.simpleBlock: note(body)
        case MatroskaID.blockGroup:
          if let block = file.elements(in: body, upTo: MatroskaID.block).last, block.id == MatroskaID.block {
            note(block.body)
          }
        default: break
        }
        return !tracks.allSatisfy { found[$0]?.count == 2 }
      }
      if tracks.allSatisfy({ found[$0]?.count == 2 }) { break }

      func note(_ body: Range<Int>) {
        // matroskamux writes only track numbers of one byte, and uses no lacing, so other blocks
        // are skipped.
        guard body.count > 6, let bytes = file.read(body.lowerBound..<body.lowerBound + 6), bytes[0] & 0x80 != 0,
          bytes[3] & 0x06 == 0
        else { return }
        let track = Int(bytes[0] & 0x7F)
        guard tracks.contains(track), found[track]?.count ?? 0 < 2 else { return }
        let offset = Int(Int16(truncatingIfNeeded: Int(bytes[1]) << 8 | Int(bytes[2])))
        found[track, default: []].append(
          Block(
            time: clusterTime + offset, clusterTime: clusterTime, place: body.lowerBound + 1, bytes: Array(bytes[4...]))
        )
      }
    }
    return found
  }

  /// Returns the duration of an Opus packet in nanoseconds (RFC 6716, 3.1).
  private static func length(_ packet: [UInt8]) -> Int? {
    guard packet.count >= 2 else { return nil }
    let configuration = Int(packet[0] >> 3)
    let frame =
      switch configuration {
      case 0..<12: [10, 20, 40, 60][configuration & 3] * 1_000_000
      case 12..<16: [10, 20][configuration & 1] * 1_000_000
      default: 2_500_000 << (configuration & 3)
      }
    let count = [1, 2, 2, Int(packet[1] & 0x3F)][Int(packet[0] & 3)]
    return frame * count
  }
}
