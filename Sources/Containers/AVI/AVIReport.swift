import MediaTime

/// AVI ("AVI RIFF File Reference", Microsoft).
extension ContainerReport {
  static func avi(_ file: RandomAccessFile) -> ContainerReport? {
    // Tolerate a difference of 2 s between declared and actual end, because muxers count
    // variable-rate audio in different units.
    var declared = ContainerReport(slack: ClockTime(seconds: 2))
    var place = 0
    // A long (OpenDML) file has another RIFF chunk for each GiB.
    while file.text(at: place) == "RIFF", let size = file.number(at: place + 4, 4, isLittleEndian: true) {
      if place > 0, file.text(at: place + 8) == "AVI " {
        declared.noteFile(at: place)
        break
      }
      // An interrupted recording has no size in its header, so its RIFF chunks are not checked.
      guard size > 0, size < 0xFFFF_FFFF else { break }
      if size > file.size - place - 8 { declared.isCut = true }
      if declared.brokenAt == nil {
        declared.brokenAt = brokenPacket(in: place + 12..<place + 8 + max(size, 4), of: file)
      }
      place += 8 + size + size % 2
    }
    guard file.text(at: 12) == "LIST", file.text(at: 20) == "hdrl",
      let size = file.number(at: 16, 4, isLittleEndian: true), (4..<1 << 24).contains(size)
    else { return declared }
    let lists = file.chunks(in: 24..<20 + size).filter { $0.name == "LIST" }
    let total = lists.first { file.text(at: $0.body.lowerBound) == "odml" }.flatMap {
      file.number(at: $0.body.lowerBound + 12, 4, isLittleEndian: true)
    }
    for list in file.aviStreams {
      guard let header = file.chunks(in: list).first, header.name == "strh",
        let kind = file.text(at: header.body.lowerBound), ["vids", "auds"].contains(kind)
      else { continue }
      func field(_ offset: Int) -> Int? { file.number(at: header.body.lowerBound + offset, 4, isLittleEndian: true) }
      guard let scale = field(20), let rate = field(24), let start = field(28), var length = field(32), rate > 0,
        scale > 0
      else { continue }
      if kind == "vids" { length = max(length, total ?? 0) }
      if length == 0 { continue }
      let end = Double(start + length) * Double(scale) / Double(rate)
      declared.streams.append(
        Stream(
          kind: kind == "vids" ? .video : .audio, frames: kind == "vids" ? length : nil, end: ClockTime(seconds: end)))
    }
    return declared
  }

  /// Returns the first offset in the `movi` lists within `part` at which a packet should start but
  /// does not; nil if the lists are valid.
  private static func brokenPacket(in part: Range<Int>, of file: RandomAccessFile) -> Int? {
    for (name, body) in file.chunks(in: part.clamped(to: 0..<file.size))
    where name == "LIST" && file.text(at: body.lowerBound) == "movi" {
      if let place = brokenPacket(inList: body.dropFirst(4), of: file) { return place }
    }
    return nil
  }

  /// Returns the first offset in `list`, a `movi` or `rec ` list, at which a packet should start
  /// but does not; nil if the list is valid.
  /// - Parameter isNested: true if `list` is a `rec ` list, which contains packets but no further
  ///   lists.
  private static func brokenPacket(
    inList list: Range<Int>, of file: RandomAccessFile, isNested: Bool = false
  ) -> Int? {
    var broken: Int?
    _ = file.forEachChunk(in: list) { name, body in
      if !isPacket(name) || isNested && name == "LIST" || body.upperBound > list.upperBound {
        broken = body.lowerBound - 8
      } else if name == "LIST" {
        broken = brokenPacket(inList: body.dropFirst(4), of: file, isNested: true)
      }
      return broken == nil
    }
    return broken
  }

  /// True if a RIFF chunk of this name may be in a `movi` list: a packet (such as `00dc`), an index
  /// of a stream (`ix00`), a list of packets, or padding.
  private static func isPacket(_ name: String) -> Bool {
    let name = Array(name.utf8)
    func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20) }
    return ["LIST", "JUNK", "idx1"].contains { name.elementsEqual($0.utf8) } || name.starts(with: "ix".utf8)
      || name.count == 4 && name.prefix(2).allSatisfy(isDigit)
  }
}
