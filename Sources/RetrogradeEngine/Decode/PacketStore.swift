import Containers
import GStreamer
import MediaTime

/// The packets of a video as they enter its decoder, in decoding order. The packets' bytes are in a
/// spool file without a name, or still in the source; everything else is in memory.
///
/// Decoding from the store needs no seek of a demuxer. Demuxer seeks behave differently in each
/// container.
final class PacketStore: Sendable {
  private struct Entry {
    var header: PacketHeader
    var offset: Int
    var bytes: Int
    /// Position of the packet's caps in `forms`.
    var form: Int
  }

  private enum Bytes {
    case spool(Spool)
    case source(PacketReplay)
  }

  private let bytes: Bytes
  private let entries: [Entry]
  /// Metadata of the packets (`GstMeta`), in buffers without memory. The keys are the packets'
  /// positions in the store.
  private let metas: [Int: Buffer]
  /// Distinct caps of the packets, in the order of their first use.
  private let forms: [Caps]
  /// Position in the store of the index's first packet. Earlier positions contain the codec's
  /// headers, and packets that the index omits.
  private let first: Int
  /// True if some MPEG pictures are known to be displayed in an order other than decoding order.
  let isReordered: Bool

  /// Reads all packets of a video, from beginning to end, without decoding.
  /// - Parameters:
  ///   - video: index of the video.
  ///   - recipe: recipe that decodes the video.
  ///   - spoolDirectory: directory to store the bytes in; nil to read the bytes from the source
  ///     again on request.
  /// - Returns: nil if not all packets go to one decoder, if the disk has no room for the packets,
  ///   or if the packets differ from those of the index.
  /// - Throws: ``RetrogradeError`` if the spool can't be written, or the source can't be read.
  static func read(
    _ video: VideoIndex, _ recipe: DecodingRecipe, _ spoolDirectory: String?, _ cancellation: Cancellation
  ) throws -> PacketStore? {
    guard let reading = recipe.ofPackets else { return nil }
    if let spoolDirectory, Spool.room(in: spoolDirectory) < video.bytes {
      Log.decode.warning("\(recipe.source): there is no room in \(spoolDirectory) for its packets")
      return nil
    }
    let spool = try spoolDirectory.map { try Spool(directory: $0) }
    let place = spool.map { Bytes.spool($0) } ?? .source(PacketReplay(reading, cancellation))
    let output = try DecoderOutput(reading, .plain, stall: ClockTime(seconds: 30))
    defer { output.close() }
    var (entries, metas, forms): ([Entry], [Int: Buffer], [Caps]) = ([], [:], [])
    let isMPEG = video.caps.mediaType == "video/mpeg"
    let isVisual = video.caps.int("mpegversion") == 4
    var isReordered = false
    let showsCutFrames = video.packets.allSatisfy(\.isKeyframe)
    entries.reserveCapacity(video.packets.count)
    do {
      while let sample = try output.pull(cancellation) {
        guard let caps = sample.caps else { return nil }
        let header = PacketHeader(sample.buffer, in: sample.segment, showsCutFrames: showsCutFrames)
        if !(forms.last?.isEqual(caps) ?? false) { forms.append(caps) }
        if sample.buffer.hasMetas { metas[entries.count] = sample.buffer.withoutMemory() }
        let offset = try sample.buffer.withBytes { bytes in
          if isMPEG, !isReordered { isReordered = MPEGPicture.isBidirectional(bytes, isVisual: isVisual) }
          return try spool?.append(bytes) ?? 0
        }
        entries.append(
          Entry(header: header, offset: offset, bytes: sample.buffer.size, form: forms.count - 1))
      }
    } catch let error as RetrogradeError where error.code != .inputOutput && !entries.isEmpty {
      // The index already has a warning about this error.
      Log.decode.warning("\(recipe.source): reading its packets ended early: \(error.message)")
    }
    if let first = firstPlace(of: video.packets, in: entries.map(\.header.time)) {
      return PacketStore(place, entries, metas, forms, first: first, isReordered: isReordered)
    }
    // The index may have its times from the decoder, so compare sizes instead of times.
    guard zip(video.packets, entries).allSatisfy({ $0.bytes == $1.bytes }), video.packets.count == entries.count else {
      Log.decode.warning("\(recipe.source): other packets come than the index has")
      return nil
    }
    return PacketStore(place, entries, metas, forms, first: 0, isReordered: isReordered).timed(by: video)
  }

  /// Returns a store of the same packets, with the display times of `video`.
  func timed(by video: VideoIndex) -> PacketStore {
    var entries = entries
    for (number, packet) in video.packets.enumerated() {
      if let time = packet.time { entries[place(ofPacket: number)].header.show(at: time) }
    }
    return PacketStore(bytes, entries, metas, forms, first: first, isReordered: isReordered)
  }

  private init(
    _ bytes: Bytes, _ entries: [Entry], _ metas: [Int: Buffer], _ forms: [Caps], first: Int, isReordered: Bool
  ) {
    (self.bytes, self.entries, self.metas, self.forms, self.first) = (bytes, entries, metas, forms, first)
    self.isReordered = isReordered
  }

  /// Returns the first position in `times` from which the times match those of `packets`; nil if
  /// there is none.
  private static func firstPlace(of packets: [VideoPacket], in times: [ClockTime?]) -> Int? {
    (0...max(times.count - packets.count, 0)).first { place in
      place + packets.count <= times.count
        && zip(packets, times[place...]).allSatisfy { $0.time == nil || $0.isHidden || $0.time == $1 }
    }
  }

  /// Returns the position in the store of the packet with number `number` in the index.
  func place(ofPacket number: Int) -> Int { first + number }

  /// Number of packets.
  var count: Int { entries.count }

  /// Returns the packet at position `place` of the store, and the packet's caps.
  func packet(at place: Int) throws -> (buffer: Buffer, caps: Caps) {
    let entry = entries[place]
    let buffer = try Buffer(entry.header, size: entry.bytes) { room in
      switch bytes {
      case .spool(let spool): try spool.read(room, at: entry.offset)
      case .source(let replay): try replay.read(room, ofPacketAt: place)
      }
    }
    if let own = metas[place] { buffer.append(metasOf: own) }
    return (buffer, forms[entry.form])
  }
}
