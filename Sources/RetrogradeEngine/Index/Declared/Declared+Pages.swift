import MediaTime

/// Formats of pages, tags, blocks and packets that say little of the whole, but show whether the last one is there.
extension Declared {
  /// The last page of each stream is marked (RFC 3533, 6).
  static func ogg(_ file: MovieFile) -> Declared? {
    var declared = Declared()
    var open: Set<Int> = []
    var isLast = false
    var hasEnded = false
    var place = 0
    while place < file.size, let head = file.read(place..<min(place + 27, file.size)), head.count >= 4,
      head.text(0) == "OggS"
    {
      guard head.count == 27, let segments = file.read(place + 27..<place + 27 + Int(head[26])) else {
        declared.isCut = true
        return declared
      }
      let serial = head.integer(14)
      // A file begins anew where streams begin after all before have ended.
      if head[5] & 2 != 0, hasEnded, open.isEmpty {
        declared.links += 1
        hasEnded = false
      }
      isLast = head[5] & 4 != 0
      if isLast { hasEnded = true }
      if isLast { open.remove(serial) } else { open.insert(serial) }
      place += 27 + segments.count + segments.reduce(0) { $0 + Int($1) }
    }
    // Some writers mark only the last page of all.
    declared.isCut = place > file.size || !isLast && !open.isEmpty && place == file.size
    return declared
  }

  /// "Video File Format Specification", Adobe: tags, of which the first of data says how long the whole is.
  static func flv(_ file: MovieFile) -> Declared? {
    var declared = Declared()
    guard var place = file.number(at: 5, 4) else { return nil }
    place += 4
    var isFirst = true
    while let type = file.number(at: place, 1), [8, 9, 18].contains(type) {
      guard let size = file.number(at: place + 1, 3), size <= file.size - place - 11 else {
        declared.isCut = true
        break
      }
      if type == 18, isFirst, let script = file.read(place + 11..<place + 11 + size) {
        isFirst = false
        if let bytes = number("filesize", in: script), bytes > Double(file.size) { declared.isCut = true }
        if let seconds = number("duration", in: script), seconds > 0 { declared.end = ClockTime(seconds: seconds) }
      }
      place += 11 + size + 4
    }
    declared.slack = ClockTime(seconds: 1)
    return declared
  }

  /// A number of an object in AMF0: its name, 0 for its type, and its eight bytes.
  private static func number(_ name: String, in script: [UInt8]) -> Double? {
    let key = [0, UInt8(name.utf8.count)] + Array(name.utf8) + [0]
    guard let place = script.firstRange(of: key)?.upperBound, place + 8 <= script.count else { return nil }
    let value = Double(bitPattern: script[place..<place + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    return value.isFinite ? value : nil
  }

  /// Packets of 188 bytes (ISO/IEC 13818-1, 2.4.3.2), or 192 with a time before each, as on discs and in cameras.
  static func transportStream(_ file: MovieFile) -> Declared? {
    for (size, offset) in [(188, 0), (192, 4)] {
      let isSync = (0..<3).allSatisfy { file.number(at: offset + $0 * size, 1) == 0x47 }
      guard isSync else { continue }
      let rest = file.size % size
      return Declared(isCut: rest > offset && file.number(at: file.size - rest + offset, 1) == 0x47)
    }
    return nil
  }

  /// Packs of packets that say how long they are, and of which stream (ISO/IEC 13818-1, 2.5.3, table 2-22); only the end of the
  /// file is looked at. mpegpsdemux 1.22 passes over streams that begin after its first packets without a word.
  static func programStream(_ file: MovieFile) -> Declared? {
    let start = max(0, file.size - 1 << 20)
    guard let tail = file.read(start..<file.size), let pack = tail.firstRange(of: [0, 0, 1, 0xBA])?.lowerBound else {
      return nil
    }
    var place = pack
    var streams: Set<UInt8> = []
    while place + 4 <= tail.count, tail[place..<place + 3] == [0, 0, 1] {
      switch tail[place + 3] {
      case 0xB9: place += 4
      case 0xBA:
        guard place + 14 <= tail.count else { return Declared(isCut: true) }
        // MPEG-2's is longer than MPEG-1's, and may be filled up.
        place += tail[place + 4] & 0xC0 == 0x40 ? 14 + Int(tail[place + 13] & 7) : 12
      case 0xBB...:
        guard place + 6 <= tail.count else { return Declared(isCut: true) }
        streams.insert(tail[place + 3])
        place += 6 + Int(tail[place + 4]) << 8 + Int(tail[place + 5])
      default: return nil
      }
    }
    let kinds: [(ids: ClosedRange<UInt8>, kind: StreamKind)] = [(0xE0...0xEF, .video), (0xC0...0xDF, .audio)]
    return Declared(
      isCut: place > tail.count,
      streams: kinds.flatMap { ids, kind in streams.filter(ids.contains).map { _ in Stream(kind: kind) } })
  }
}
