import MediaTime

/// Finds damage in all clusters of a Matroska or WebM file (RFC 9559, 5.1.3). Optionally lists the
/// times of the blocks of one track. Only the headers of blocks are read, but clusters with a
/// checksum are read completely.
struct MatroskaDamage {
  private let file: RandomAccessFile
  private(set) var places: [Damage] = []
  /// Start times of the blocks of `timedTrack`.
  private(set) var times: [ClockTime] = []
  private let timedTrack: Int?
  private var scale: Int64 = 1_000_000
  /// Numbers of the tracks in the `Tracks` element; empty if it was not found.
  private var tracks: Set<Int> = []
  /// Timestamp of the current cluster, in ticks.
  private var clusterTime: Int64 = 0
  /// Time of the last block that was read.
  private var last = ClockTime.zero
  /// True if the Matroska segment has an unknown length. Zeros after its last cluster are then not
  /// damage.
  private var isLive = false
  /// True after damage, until the next block determines the end of the damage.
  private var isOpen = false

  /// - Parameter timedTrack: number, as used in blocks, of the track whose times are listed; nil
  ///   for none.
  /// - Returns: nil if the file does not begin with a complete EBML element.
  init?(_ file: RandomAccessFile, timedTrack: Int? = nil) {
    self.file = file
    self.timedTrack = timedTrack
    guard let start = file.elements(in: 0..<file.size, upTo: MatroskaID.segment).last else {
      return nil
    }
    if start.id == MatroskaID.segment {
      walk(start.body.lowerBound, start.body.upperBound)
    } else if let header = Element(file, start.body.upperBound), header.id == MatroskaID.segment {
      // The Matroska segment has an unknown length in a live file, and extends beyond the end of a
      // truncated file.
      isLive = header.end == nil
      walk(header.body, header.end ?? file.size)
    }
  }

  /// Header of an EBML element.
  private struct Element {
    var id: UInt32
    var body: Int
    /// Offset of the end; nil if the length is unknown.
    var end: Int?

    init?(_ file: RandomAccessFile, _ place: Int) {
      guard place < file.size, let bytes = file.read(place..<min(place + 12, file.size)) else { return nil }
      if let header = EBMLElement.header(in: bytes[...]) {
        id = header.id
        body = place + header.size
        end = body + header.length
      } else if let size = EBMLElement.unknownLength(bytes) {
        id = UInt32(bytes.integer(0))
        body = place + size
      } else {
        return nil
      }
    }
  }

  private mutating func walk(_ start: Int, _ end: Int) {
    let isCut = end > file.size
    let end = min(end, file.size)
    var place = start
    while place < end {
      if isCutHeader(place) { return }
      let element = Element(file, place)
      // This EBML header begins a concatenated file, which is not damage.
      if element?.id == MatroskaID.ebml { return }
      guard let element, MatroskaID.inSegment.contains(element.id) || isForeign(element, MatroskaID.inSegment, end)
      else {
        guard let next = resume(after: place, upTo: end) else { return }
        place = next
        continue
      }
      if element.id == MatroskaID.cluster {
        guard let next = walk(cluster: element, at: place, upTo: end) else { return }
        place = next
      } else {
        guard let bodyEnd = element.end, bodyEnd <= end else {
          // The incomplete end of a truncated file is not damage, unless another cluster follows.
          if isCut && nextCluster(place + 1..<end) == nil { return }
          guard let next = resume(after: place, upTo: end) else { return }
          place = next
          continue
        }
        if element.id == MatroskaID.tracks, bodyEnd - element.body < 1 << 24 {
          tracks = MatroskaTrack.numbers(in: file.read(element.body..<bodyEnd) ?? [])
        }
        if element.id == MatroskaID.info, bodyEnd - element.body < 1 << 20,
          let bytes = file.read(element.body..<bodyEnd),
          let number = EBMLElement.all(in: bytes).first(where: { $0.id == MatroskaID.timestampScale })?.number,
          (1...1_000_000_000).contains(number)
        {
          scale = number
        }
        place = bodyEnd
      }
    }
  }

  /// Walks through a cluster.
  /// - Returns: start of the next EBML element of the Matroska segment; nil if there is none.
  private mutating func walk(cluster: Element, at start: Int, upTo end: Int) -> Int? {
    var place = cluster.body
    let clusterEnd = min(cluster.end ?? end, end)
    let before = places.count
    while place < clusterEnd {
      if isCutHeader(place) { return nil }
      guard let element = Element(file, place) else {
        return resume(after: place, upTo: end, clusterEnd: cluster.end)
      }
      if cluster.end == nil, MatroskaID.inSegment.contains(element.id) || element.id == MatroskaID.ebml,
        !MatroskaID.anywhere.contains(element.id)
      {
        return place
      }
      guard let bodyEnd = element.end, bodyEnd <= clusterEnd,
        MatroskaID.inCluster.contains(element.id) || isForeign(element, MatroskaID.inCluster, clusterEnd)
      else {
        // If the EBML element and its cluster both extend beyond the file, the file is truncated
        // there, not damaged.
        if let bodyEnd = element.end, MatroskaID.inCluster.contains(element.id), bodyEnd > file.size,
          cluster.end ?? bodyEnd >= bodyEnd, nextCluster(place + 1..<end) == nil
        {
          return nil
        }
        return resume(after: place, upTo: end, clusterEnd: cluster.end)
      }
      note(element.id, element.body..<bodyEnd)
      place = bodyEnd
    }
    if places.count == before, let wholeEnd = cluster.end, wholeEnd <= end { check(start, cluster.body..<wholeEnd) }
    return place
  }

  /// True if the file ends within the header of an EBML element.
  private func isCutHeader(_ place: Int) -> Bool {
    file.size - place < 12 && file.number(at: place, 1) != 0 && Element(file, place) == nil
  }

  /// True if an unknown EBML element can be skipped: a known element follows it, or its parent ends
  /// there.
  private func isForeign(_ element: Element, _ known: Set<UInt32>, _ end: Int) -> Bool {
    guard let next = element.end, next <= end else { return false }
    return next == end || Element(file, next).map { known.contains($0.id) } ?? false
  }

  private mutating func note(_ id: UInt32, _ body: Range<Int>) {
    switch id {
    case MatroskaID.timestamp:
      clusterTime = file.number(at: body.lowerBound, min(body.count, 8)).map { Int64($0) } ?? clusterTime
    case MatroskaID.simpleBlock: note(block: body)
    case MatroskaID.blockGroup:
      // The block may come after other EBML elements of its group, such as its duration.
      var place = body.lowerBound
      while let element = Element(file, place), let end = element.end, end > place, end <= body.upperBound {
        if element.id == MatroskaID.block { return note(block: element.body..<end) }
        place = end
      }
    default: break
    }
  }

  private mutating func note(block: Range<Int>) {
    // The block starts with the track number, in one or more bytes, and the time relative to the
    // cluster.
    guard let first = file.number(at: block.lowerBound, 1), first != 0 || !tracks.isEmpty else { return }
    let size = UInt8(first).leadingZeroBitCount + 1
    let track = first == 0 ? nil : file.number(at: block.lowerBound, size).map { $0 & (1 << (7 * size) - 1) }
    if !tracks.isEmpty, !(track.map(tracks.contains) ?? false) {
      if !isOpen { places.append(Damage(.unreadable, byte: block.lowerBound, start: last, end: nil)) }
      return isOpen = true
    }
    guard let offset = file.number(at: block.lowerBound + size, 2) else { return }
    let (ticks, isOver) = clusterTime.addingReportingOverflow(Int64(Int16(truncatingIfNeeded: offset)))
    let (time, isBeyond) = ticks.multipliedReportingOverflow(by: scale)
    if isOver || isBeyond { return }
    last = ClockTime(nanoseconds: time)
    if let timedTrack, timedTrack == track { times.append(last) }
    guard isOpen else { return }
    isOpen = false
    for number in places.indices.reversed() where places[number].kind == .unreadable {
      if places[number].end != nil { break }
      places[number].end = last
    }
  }

  /// Notes unreadable data at `place`.
  /// - Returns: start of the next cluster, or of the EBML element after the damaged cluster; nil if
  ///   neither follows.
  private mutating func resume(after place: Int, upTo end: Int, clusterEnd: Int? = nil) -> Int? {
    places.append(Damage(.unreadable, byte: place, start: last, end: nil))
    isOpen = true
    if let clusterEnd, clusterEnd < end, let next = Element(file, clusterEnd), MatroskaID.inSegment.contains(next.id) {
      return clusterEnd
    }
    let next = nextCluster(place + 1..<end)
    if next == nil, isLive, isZero(place..<end) { places.removeLast() }
    return next
  }

  private func isZero(_ range: Range<Int>) -> Bool {
    let step = 1 << 16
    return stride(from: range.lowerBound, to: range.upperBound, by: step).allSatisfy { place in
      file.read(place..<min(place + step, range.upperBound))?.allSatisfy { $0 == 0 } ?? false
    }
  }

  /// Returns the start of the next cluster within `range`, recognised by its identifier, a valid
  /// length, and a valid first EBML element; nil if there is none.
  private func nextCluster(_ range: Range<Int>) -> Int? {
    // Start with a small read, because damaged clusters may be close together. Further reads are
    // larger, up to 64 KiB.
    var step = 1 << 10
    var place = range.lowerBound
    while place < range.upperBound {
      guard let bytes = file.read(place..<min(place + step + 3, range.upperBound)) else { return nil }
      for index in 0..<max(bytes.count - 3, 0)
      where bytes[index] == 0x1F && UInt32(bytes.integer(index)) == MatroskaID.cluster {
        if let cluster = Element(file, place + index), let first = Element(file, cluster.body),
          MatroskaID.inCluster.contains(first.id), first.end.map({ $0 <= file.size }) ?? false
        {
          return place + index
        }
      }
      place += step
      step = min(step * 4, 1 << 16)
    }
    return nil
  }

  /// Notes damage if a cluster begins with a checksum that does not match (RFC 8794, 11.3.1).
  private mutating func check(_ start: Int, _ body: Range<Int>) {
    guard let first = Element(file, body.lowerBound), first.id == MatroskaID.checksum, let end = first.end,
      end - first.body == 4, end <= body.upperBound, let said = file.number(at: first.body, 4, isLittleEndian: true)
    else { return }
    var sum = CRC32()
    var place = end
    while place < body.upperBound {
      let next = min(place + 1 << 20, body.upperBound)
      guard let bytes = file.read(place..<next) else { return }
      bytes.withUnsafeBytes { sum.add($0) }
      place = next
    }
    guard sum.value != UInt32(said) else { return }
    let (time, isOver) = clusterTime.multipliedReportingOverflow(by: scale)
    places.append(
      Damage(.altered, byte: start, start: isOver ? last : ClockTime(nanoseconds: time), end: last))
  }
}
