extension ContainerReport {
  /// Bytes with which every NUT file begins. The first packet follows.
  static let nutStart = Array("nut/multimedia container\0".utf8)

  /// Creates the report of a NUT file ("NUT Open Container Format", nut.txt of FFmpeg); nil if no
  /// stream header is found. A NUT file consists of packets, and of frames between the packets. The
  /// headers of all streams come before the media. An index, if present, ends the file.
  static func nut(_ file: RandomAccessFile) -> ContainerReport? {
    var report = ContainerReport()
    var frames: NUTFrameCodes?
    // Long files repeat their headers between frames, so count only the headers before the media.
    var hasMedia = false
    var place = nutStart.count
    var next: Int?
    while place < file.size {
      let packet = NUTPacket(file, at: place)
      if let packet, packet.kind == NUTPacket.main { frames = NUTFrameCodes(packet.body(in: file)) ?? frames }
      hasMedia = hasMedia || packet?.isHeader != true
      if !hasMedia, let kind = packet?.describedStream(in: file) {
        report.streams.append(Stream(kind: kind, frames: nil, end: nil))
      }
      next = packet.map(\.end) ?? frames?.endOfFrame(file, at: place)
      guard let end = next, end <= file.size, packet?.isIntact(in: file) ?? true else { break }
      place = end
    }
    // Without the table of frame codes, no frame can be found. The end of the walk then proves
    // neither truncation nor damage.
    if frames != nil, place < file.size {
      // Damage may also lead the walk beyond the end of the file. An index at the end shows that
      // the file is complete.
      let mayBeCut = next.map { $0 > file.size } ?? (file.size - place < NUTFrameCodes.longestHeader)
      report.isCut = mayBeCut && !NUTPacket.endsWithIndex(file)
      report.brokenAt = report.isCut ? nil : place
    }
    return report.streams.isEmpty ? nil : report
  }

  /// Codec tag of raw video whose pixel format avdemux_nut can't output
  /// (`Quirk.avdemuxRawFormats`), in FFmpeg's notation, such as `G3[0][8]`; nil without such video.
  static func unreadNUTVideo(_ file: RandomAccessFile) -> String? {
    var place = nutStart.count
    while place < file.size, let packet = NUTPacket(file, at: place), packet.isHeader {
      if let tag = packet.videoTag(in: file), NUTPacket.isUnreadRaw(tag) {
        return tag.map { (0x21..<0x7F).contains($0) ? String(UnicodeScalar($0)) : "[\($0)]" }.joined()
      }
      place = packet.end
    }
    return nil
  }
}

/// Packet of a NUT file: a start code of eight bytes, a length, a body, and a checksum at the end of
/// the body.
private struct NUTPacket {
  static let main = UInt8(ascii: "M")
  private static let (stream, info) = (UInt8(ascii: "S"), UInt8(ascii: "I"))
  private static let (syncPoint, index) = (UInt8(ascii: "K"), UInt8(ascii: "X"))
  private static let kinds: Set<UInt8> = [main, stream, info, syncPoint, index]
  private static let streamKinds: [StreamKind] = [.video, .audio, .subtitles]
  /// Maximum size of a body whose checksum is verified.
  private static let largestChecked = 1 << 20

  let kind: UInt8
  private let start: Int
  /// Offset of the byte after the packet.
  let end: Int

  /// - Returns: nil if no packet begins at `place`, or if the file ends within its length.
  init?(_ file: RandomAccessFile, at place: Int) {
    // A start code begins with the letter N and a letter for the kind of packet. No frame begins
    // with the letter N.
    guard let head = file.read(place..<min(place + 20, file.size)), head.count > 8, head[0] == 0x4E,
      NUTPacket.kinds.contains(head[1])
    else { return nil }
    var numbers = NUTNumbers(head[8...])
    guard let length = numbers.next(), length > 0, length < 1 << 60 else { return nil }
    kind = head[1]
    // A packet of more than 4,096 bytes has a header checksum of four bytes.
    start = place + 8 + numbers.count + (length > 4096 ? 4 : 0)
    end = start + length
  }

  var isHeader: Bool { ![NUTPacket.syncPoint, NUTPacket.index].contains(kind) }

  func body(in file: RandomAccessFile) -> [UInt8] {
    end - start <= NUTPacket.largestChecked ? file.read(start..<end) ?? [] : []
  }

  /// False if the checksum of the packet is wrong.
  func isIntact(in file: RandomAccessFile) -> Bool {
    // The checksum of bytes that end with their own checksum is 0.
    OggChecksum.sum(body(in: file), after: 0) == 0
  }

  /// Kind of the stream that the packet describes; nil for other packets.
  func describedStream(in file: RandomAccessFile) -> StreamKind? {
    guard kind == NUTPacket.stream else { return nil }
    var numbers = NUTNumbers(body(in: file)[...])
    guard numbers.next() != nil, let number = numbers.next(), NUTPacket.streamKinds.indices.contains(number)
    else { return nil }
    return NUTPacket.streamKinds[number]
  }

  /// Codec tag of the video stream that the packet describes; nil for other packets.
  func videoTag(in file: RandomAccessFile) -> [UInt8]? {
    guard describedStream(in: file) == .video else { return nil }
    var numbers = NUTNumbers(body(in: file)[...])
    guard numbers.next(2) != nil, let length = numbers.next() else { return nil }
    return numbers.nextBytes(length)
  }

  /// Codec tags that contain a control character, for raw video that avdemux_nut outputs. The
  /// control character is the number of bits or planes.
  private static let readRawTags: Set = [
    "PAL\u{8}", "RGB\u{F}", "RGB\u{10}", "RGB\u{18}", "BGR\u{18}", "Y4\u{B}\u{8}",
  ]
  /// Printable codec tags, for raw video that avdemux_nut does not output.
  private static let unreadRawTags: Set = [
    "0BGR", "0RGB", "440P", "@BRA", "@RBA", "ABGR", "ARGB", "B0W1", "B1W0", "B4BY", "BGR0", "BRA@", "NV12", "NV21",
    "R4BY", "RBA@", "RGB0", "RGBA", "XYZ$", "YVYU", "$ZYX",
  ]

  /// True for the codec tag of raw video that avdemux_nut does not output.
  static func isUnreadRaw(_ tag: [UInt8]) -> Bool {
    // Tags in AVI's form are little-endian numbers such as 0x10000001. They belong to other codecs
    // than raw video.
    guard tag.count == 4, tag[1] != 0 || tag[2] != 0 else { return false }
    let text = tag.text(0)
    return tag.contains { $0 < 0x20 } ? !readRawTags.contains(text) : unreadRawTags.contains(text)
  }

  /// True if the file ends with an index. The length of the index precedes its checksum.
  static func endsWithIndex(_ file: RandomAccessFile) -> Bool {
    guard let length = file.number(at: file.size - 12, 8), length <= file.size else { return false }
    return NUTPacket(file, at: file.size - length).map { $0.kind == index && $0.end == file.size } ?? false
  }
}

/// Coding of the frame headers of a NUT file, from its main header: the first byte of a frame
/// selects one of 256 codes.
private struct NUTFrameCodes {
  private struct Code {
    var flags, stream, factor, size, reserved, prefix: Int
  }

  /// Maximum size of a frame header in bytes; more than any file needs.
  static let longestHeader = 128
  private static let (codedTime, streamNumber, sizeFactor, checksum) = (8, 16, 32, 64)
  private static let (reservedCount, prefixNumber, matchTime, codedFlags, invalid) = (128, 1024, 2048, 4096, 8192)
  /// Sizes must not exceed this number, so that sums of them do not overflow.
  private static let largest = 1 << 40

  /// Code for each first byte of a frame; nil for the letter N, with which packets begin.
  private var codes: [Code?] = []
  private let streamCount: Int
  /// Sizes in bytes of the prefixes that frames share. The main header stores the prefixes. Index 0
  /// means no prefix.
  private var prefixes = [0]

  /// - Parameter header: body of the main header.
  init?(_ header: [UInt8]) {
    var numbers = NUTNumbers(header.dropLast(4))
    guard let version = numbers.next(), version <= 3 || numbers.next() != nil, let streamCount = numbers.next(),
      numbers.next() != nil, let timeBases = numbers.next(), numbers.skip(timeBases, 2)
    else { return nil }
    self.streamCount = streamCount
    var (factor, stream, prefix) = (1, 0, 0)
    while codes.count < 256 {
      guard let flags = numbers.next(), let count = numbers.next(), let fields = numbers.next(count) else { return nil }
      // A field that is not listed keeps the value of the previous codes, or is 0. The first field
      // is a time, which is not needed.
      if count > 1 { factor = fields[1] }
      if count > 2 { stream = fields[2] }
      let size = count > 3 ? fields[3] : 0
      let reserved = count > 4 ? fields[4] : 0
      let run = count > 5 ? fields[5] : factor - size
      if count > 7 { prefix = fields[7] }
      guard run > 0, size < NUTFrameCodes.largest else { return nil }
      for step in 0..<min(run, 256) where codes.count < 256 {
        if codes.count == 0x4E { codes.append(nil) }
        codes.append(
          Code(flags: flags, stream: stream, factor: factor, size: size + step, reserved: reserved, prefix: prefix))
      }
    }
    guard let count = numbers.next() else { return }
    for _ in 0..<min(count, 256) {
      guard let size = numbers.next(), size < NUTFrameCodes.largest, numbers.skipBytes(size) else { return nil }
      prefixes.append(size)
    }
  }

  /// Returns the offset of the byte after the frame at `place`; nil if no frame begins there. The
  /// offset may exceed the size of the file.
  func endOfFrame(_ file: RandomAccessFile, at place: Int) -> Int? {
    let head = file.read(place..<min(place + NUTFrameCodes.longestHeader, file.size)) ?? []
    guard let first = head.first, codes.indices.contains(Int(first)), let code = codes[Int(first)],
      code.flags & NUTFrameCodes.invalid == 0
    else { return nil }
    var numbers = NUTNumbers(head.dropFirst())
    var flags = code.flags
    var (stream, factors, prefix, reserved) = (code.stream, 0, code.prefix, code.reserved)
    /// Reads a number that is present only if `flag` is set; false at the end of the bytes.
    func read(_ flag: Int, _ value: inout Int) -> Bool {
      guard flags & flag != 0 else { return true }
      return numbers.next().map { value = $0 } != nil
    }
    var (changed, ignored) = (0, 0)
    guard read(NUTFrameCodes.codedFlags, &changed) else { return nil }
    flags ^= changed
    guard read(NUTFrameCodes.streamNumber, &stream), read(NUTFrameCodes.codedTime, &ignored),
      read(NUTFrameCodes.sizeFactor, &factors), read(NUTFrameCodes.matchTime, &ignored),
      read(NUTFrameCodes.prefixNumber, &prefix), read(NUTFrameCodes.reservedCount, &reserved),
      numbers.skip(reserved, 1), flags & NUTFrameCodes.checksum == 0 || numbers.skipBytes(4)
    else { return nil }
    let (product, overflows) = factors.multipliedReportingOverflow(by: code.factor)
    guard !overflows, product < 1 << 60, stream < streamCount else { return nil }
    let size = product + code.size
    // Frames of more than 4,096 bytes have no shared bytes.
    if size > 4096 { prefix = 0 }
    guard prefixes.indices.contains(prefix), prefixes[prefix] <= size else { return nil }
    return place + 1 + numbers.count + size - prefixes[prefix]
  }
}

/// Reader of numbers that are stored in groups of seven bits, most significant group first.
private struct NUTNumbers {
  private var rest: ArraySlice<UInt8>
  /// Number of bytes read so far.
  private(set) var count = 0

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// - Returns: nil at the end of the bytes, or if the number exceeds 63 bits.
  mutating func next() -> Int? {
    var value = 0
    for _ in 0..<9 {
      guard let byte = rest.popFirst() else { return nil }
      count += 1
      value = value << 7 | Int(byte & 0x7F)
      if byte < 0x80 { return value }
    }
    return nil
  }

  /// Reads `count` numbers; nil at the end of the bytes.
  mutating func next(_ count: Int) -> [Int]? {
    var values: [Int] = []
    while values.count < count {
      guard let value = next() else { return nil }
      values.append(value)
    }
    return values
  }

  /// Skips `times` groups of `size` numbers; false at the end of the bytes.
  mutating func skip(_ times: Int, _ size: Int) -> Bool {
    for _ in 0..<times where next(size) == nil { return false }
    return true
  }

  /// Reads `size` bytes; nil at the end of the bytes.
  mutating func nextBytes(_ size: Int) -> [UInt8]? {
    let bytes = Array(rest.prefix(size))
    return skipBytes(size) ? bytes : nil
  }

  /// Skips `size` bytes; false at the end of the bytes.
  mutating func skipBytes(_ size: Int) -> Bool {
    guard size <= rest.count else { return false }
    rest.removeFirst(size)
    count += size
    return true
  }
}
