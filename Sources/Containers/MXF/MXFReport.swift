import MediaTime

extension ContainerReport {
  /// Creates the report of a truncated or damaged MXF file (SMPTE ST 377-1); nil for an intact
  /// file. MXF consists of triplets of a 16-byte key, a length and a value. Each partition declares
  /// the offset of the footer, or 0 while the offset is unknown.
  static func mxf(_ file: RandomAccessFile) -> ContainerReport? {
    var isCut = false
    var brokenAt: Int?
    var metadata = MXFMetadata()
    var place = 0
    while place < file.size {
      guard let triplet = MXFTriplet(file, at: place) else {
        // The file is truncated if it ends within a key or length.
        let rest = file.size - place
        if rest < MXFTriplet.longestHeader, let start = file.read(place..<place + min(rest, 4)) {
          isCut = isCut || MXFTriplet.beginning.starts(with: start)
        }
        // Bytes after the last triplet are not damage. If another triplet follows, bytes are missing
        // here, or the previous triplet declares a wrong length.
        if MXFTriplet.follows(place, in: file) { (isCut, brokenAt) = (false, place) }
        break
      }
      if triplet.body.upperBound > file.size { isCut = true }
      if triplet.isPartition, let footer = file.number(at: triplet.body.lowerBound + 24, 8),
        footer >= file.size
      {
        isCut = true
      }
      if triplet.isMetadata { metadata.add(triplet.body, file) }
      place = triplet.body.upperBound
    }
    guard isCut || brokenAt != nil else { return nil }
    var report = ContainerReport(isCut: isCut, end: metadata.end)
    report.brokenAt = brokenAt
    if brokenAt != nil { report.slack = ClockTime(nanoseconds: 500_000_000) }
    return report
  }
}

/// Triplet of a key, a length and a value.
private struct MXFTriplet {
  /// Maximum header size: the key, and a length of nine bytes.
  static let longestHeader = 25
  static let beginning: [UInt8] = [0x06, 0x0E, 0x2B, 0x34]
  /// Key that identifies the meaning of the value.
  let key: [UInt8]
  let body: Range<Int>

  /// - Returns: nil if no triplet begins at `place`, or if the file ends within the key or length.
  init?(_ file: RandomAccessFile, at place: Int) {
    guard let key = file.read(place..<place + 16), key.starts(with: MXFTriplet.beginning),
      let first = file.number(at: place + 16, 1)
    else { return nil }
    let digits = first & 0x80 == 0 ? 0 : first & 0x7F
    guard digits <= 8, let size = digits == 0 ? first : file.number(at: place + 17, digits),
      size < 1 << 56
    else { return nil }
    self.key = key
    body = place + 17 + digits..<place + 17 + digits + size
  }

  /// True if another triplet begins after `place`.
  static func follows(_ place: Int, in file: RandomAccessFile) -> Bool {
    let step = 1 << 16
    // A key at `place` itself belongs to the triplet that can't be read.
    var place = place + 1
    while place < file.size {
      // The blocks overlap, because a key may begin in one block and end in the next.
      guard let bytes = file.read(place..<min(place + step + beginning.count, file.size)) else { return false }
      if bytes.firstRange(of: beginning) != nil { return true }
      place += step
    }
    return false
  }

  /// True for a header, body or footer partition.
  var isPartition: Bool {
    key[4..<7] == [0x02, 0x05, 0x01] && key[8..<13] == [0x0D, 0x01, 0x02, 0x01, 0x01]
      && (2...4).contains(key[13])
  }
  /// True for a set of properties with two-byte tags.
  var isMetadata: Bool {
    key[4..<7] == [0x02, 0x53, 0x01] && key[8..<13] == [0x0D, 0x01, 0x01, 0x01, 0x01]
  }
}

/// Durations of the tracks in the header.
private struct MXFMetadata {
  /// Edit units per second, by the identifier of a track's sequence.
  private var rates: [[UInt8]: Double] = [:]
  /// Durations in edit units, by the identifier of a sequence.
  private var durations: [[UInt8]: Int] = [:]

  /// End of the longest track; nil if unknown.
  var end: ClockTime? {
    durations.compactMap { identifier, units in
      rates[identifier].map { ClockTime(seconds: Double(units) / $0) }
    }.max()
  }

  mutating func add(_ body: Range<Int>, _ file: RandomAccessFile) {
    guard body.count < 1 << 16 else { return }
    var place = body.lowerBound
    var (identifier, sequence): ([UInt8]?, [UInt8]?)
    var (units, rate): (Int?, Double?)
    while place + 4 <= body.upperBound, let tag = file.number(at: place, 2),
      let size = file.number(at: place + 2, 2)
    {
      let value = place + 4
      switch (tag, size) {
      case (0x3C0A, 16): identifier = file.read(value..<value + 16)
      case (0x4803, 16): sequence = file.read(value..<value + 16)
      case (0x0202, 8): units = file.number(at: value, 8)
      case (0x4B01, 8):
        if let top = file.number(at: value, 4), let bottom = file.number(at: value + 4, 4), top > 0,
          bottom > 0
        {
          rate = Double(top) / Double(bottom)
        }
      default: break
      }
      place = value + size
    }
    if let sequence, let rate { rates[sequence] = rate }
    if let identifier, let units, units > 0 { durations[identifier] = units }
  }
}
