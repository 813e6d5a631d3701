import MediaTime

extension ContainerReport {
  /// Creates the report of an ASF file, including WMV and WMA ("Advanced Systems Format
  /// Specification", Microsoft, 3.2 and 5.1). The file consists of objects, each with a GUID and a
  /// size.
  static func asf(_ file: RandomAccessFile) -> ContainerReport? {
    func field(_ place: Int, _ count: Int) -> Int? {
      file.number(at: place, count, isLittleEndian: true)
    }
    guard let headerSize = field(16, 8), headerSize >= 30 else { return nil }
    guard headerSize <= file.size else { return ContainerReport(isCut: true) }
    var end: ClockTime?
    var packetSize = 0
    var place = 30
    while place + 24 <= headerSize, let size = field(place + 16, 8), size >= 24,
      size <= headerSize - place
    {
      if file.read(place..<place + 16) == fileProperties, size >= 104 {
        // If the broadcast flag is set, as in live streams, the sizes in the header are invalid, so
        // there is no report.
        guard let flags = field(place + 88, 4), flags & 1 == 0 else { return nil }
        if let least = field(place + 92, 4), least == field(place + 96, 4) { packetSize = least }
        end = asfEnd(duration: field(place + 64, 8), preroll: field(place + 80, 8))
      }
      place += size
    }
    place = headerSize
    while place < file.size {
      if place > headerSize, file.read(place..<place + 16) == header {
        var report = ContainerReport()
        report.noteFile(at: place)
        return report
      }
      guard place + 24 <= file.size else { return ContainerReport(isCut: true, end: end) }
      guard let size = field(place + 16, 8), size >= 24 else { return nil }
      if size > file.size - place { return ContainerReport(isCut: true, end: end) }
      if place == headerSize, let broken = brokenPacket(in: file, place..<place + size, packetSize) {
        var report = ContainerReport(end: end)
        report.brokenAt = broken
        return report
      }
      place += size
    }
    // A complete file has no report, because some muxers write a wrong duration. A file that ends
    // after its header is truncated.
    return place > headerSize ? nil : ContainerReport(isCut: true, end: end)
  }

  /// Finds the first damaged packet: its error correction flags differ from those of the first
  /// packet (5.2.1), or the headers of its payloads are not valid.
  /// - Parameter data: range of the data object.
  /// - Returns: offset of the first damaged packet; nil if there is none, if the packets have no
  ///   fixed size, or if the first packet has no error correction data.
  private static func brokenPacket(in file: RandomAccessFile, _ data: Range<Int>, _ packetSize: Int) -> Int? {
    let first = data.lowerBound + 50
    guard (16...1 << 24).contains(packetSize), let flags = file.number(at: first, 1), flags & 0x80 != 0
    else { return nil }
    return stride(from: first, through: data.upperBound - packetSize, by: packetSize).first { place in
      file.read(place..<place + packetSize).map { Int($0[0]) != flags || !ASFPacket($0).isValid } ?? false
    }
  }

  /// Computes the end of the presentation from fields of the file header; nil if a field is missing
  /// or not plausible, or if the duration does not exceed the preroll.
  /// - Parameters:
  ///   - duration: in units of 100 ns, including the preroll.
  ///   - preroll: in milliseconds.
  private static func asfEnd(duration: Int?, preroll: Int?) -> ClockTime? {
    guard let duration, let preroll, duration < 1 << 56, preroll < 1 << 40 else { return nil }
    let length = duration * 100 - preroll * 1_000_000
    return length > 0 ? ClockTime(nanoseconds: Int64(length)) : nil
  }

  private static let header: [UInt8] = [
    0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11, 0xA6, 0xD9, 0x00, 0xAA, 0x00, 0x62, 0xCE, 0x6C,
  ]
  private static let fileProperties: [UInt8] = [
    0xA1, 0xDC, 0xAB, 0x8C, 0x47, 0xA9, 0xCF, 0x11, 0x8E, 0xE4, 0x00, 0xC0, 0x0C, 0x20, 0x53, 0x65,
  ]
}

/// Packet with error correction data (5.2).
private struct ASFPacket {
  private let bytes: [UInt8]
  private var place: Int

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    place = 1 + Int(bytes[0] & 0xF)
  }

  /// True if each payload has a stream number and ends within the packet (5.2.2 and 5.2.3).
  ///
  /// Padding is not considered, because muxers count it in different ways.
  var isValid: Bool {
    // These bits mark opaque data or a reserved length type. The size of such error correction data
    // is unknown.
    if bytes[0] & 0x70 != 0 { return true }
    var packet = self
    return packet.readPayloads()
  }

  private mutating func readPayloads() -> Bool {
    guard let lengths = number(1), let properties = number(1), field(lengths >> 5) != nil,
      field(lengths >> 1) != nil, field(lengths >> 3) != nil, skip(6)
    else { return false }
    let isMultiple = lengths & 1 != 0
    guard let payloads = isMultiple ? number(1) : 1 else { return false }
    for _ in 0..<payloads & 0x3F {
      // Number of the stream, number of the object, and offset in the object.
      guard let stream = number(1), stream & 0x7F != 0, field(properties >> 4) != nil, field(properties >> 2) != nil,
        let replicated = field(properties), skip(replicated)
      else { return false }
      // A single payload takes the rest of the packet.
      if isMultiple {
        guard let length = field(payloads >> 6), skip(length) else { return false }
      }
    }
    return true
  }

  /// Reads a number whose size is coded in the two lowest bits of `type`: 0, 1, 2 or 4 bytes.
  private mutating func field(_ type: Int) -> Int? { number([0, 1, 2, 4][type & 3]) }

  /// Reads a little-endian number of `size` bytes; nil at the end of the packet.
  private mutating func number(_ size: Int) -> Int? {
    guard size <= bytes.count - place else { return nil }
    defer { place += size }
    return bytes[place..<place + size].littleEndian
  }

  /// Skips `size` bytes; returns false if fewer remain in the packet.
  private mutating func skip(_ size: Int) -> Bool {
    guard size <= bytes.count - place else { return false }
    place += size
    return true
  }
}
