/// Program tables (PAT and PMT) of a transport stream: the programs and their streams (ISO/IEC
/// 13818-1, 2.4.4).
struct ProgramTables {
  struct Program {
    /// PID of the clock references (PCR).
    let clock: Int
    let streams: [(number: Int, kind: StreamKind)]
    /// Details for stream flags that no output can keep.
    let marks: [ContainerDetail]
  }

  /// Programs whose tables have been read, in reading order. Later versions of a table are ignored.
  private(set) var programs: [Program] = []

  /// PIDs of tables that have not been read yet.
  private var awaited = [ProgramTables.list]
  /// Incomplete sections, by PID.
  private var sections: [Int: [UInt8]] = [:]
  /// PID of the program association table.
  private static let list = 0

  /// Reads table data from a packet.
  /// - Parameter bytes: bytes that contain `packet.payload`.
  mutating func add(_ packet: TransportPacket, _ bytes: [UInt8]) {
    guard awaited.contains(packet.stream), let first = packet.payload.first else { return }
    if packet.isStart {
      // The payload begins with the length of the rest of the previous section, then that rest.
      let begin = min(first + 1 + Int(bytes[first]), packet.payload.upperBound)
      add(bytes[first + 1..<begin], of: packet.stream)
      sections[packet.stream] = []
      add(bytes[begin..<packet.payload.upperBound], of: packet.stream)
    } else {
      add(bytes[packet.payload], of: packet.stream)
    }
  }

  private mutating func add(_ bytes: ArraySlice<UInt8>, of stream: Int) {
    guard var section = sections[stream] else { return }
    section += bytes
    // A section cannot begin with 0xFF: such bytes pad the packet.
    while section.count >= 3, section[0] != 0xFF {
      let count = 3 + Int(section[1] & 0xF) << 8 + Int(section[2])
      guard section.count >= count else { break }
      read(Array(section[..<count]), of: stream)
      section.removeFirst(count)
    }
    sections[stream] = section.first == 0xFF || !awaited.contains(stream) ? nil : section
  }

  private mutating func read(_ section: [UInt8], of stream: Int) {
    // Skip damaged sections and sections that are not yet valid, because the stream repeats them.
    guard section.count >= 12, section[5] & 1 == 1, ProgramTables.isWhole(section) else { return }
    switch (stream, section[0]) {
    case (ProgramTables.list, 0):
      let entries = stride(from: 8, to: section.count - 7, by: 4)
      // Program 0 is the network information table.
      let tables = entries.filter { section[$0] != 0 || section[$0 + 1] != 0 }.map { section.stream(at: $0 + 2) }
      awaited = awaited.filter { $0 != stream } + Set(tables).subtracting([stream]).sorted()
    case (_, 2):
      guard let program = Program(section) else { return }
      programs.append(program)
      awaited.removeAll { $0 == stream }
    default: break
    }
  }

  /// True if the checksum is right: the CRC-32 of the section, including its checksum field, is
  /// then 0 (annex A).
  private static func isWhole(_ section: [UInt8]) -> Bool {
    section.reduce(0xFFFF_FFFF as UInt32) { sum, byte in
      (0..<8).reduce(sum ^ UInt32(byte) << 24) { sum, _ in sum & 0x8000_0000 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
    } == 0
  }
}

extension ProgramTables.Program {
  /// Creates a program from its program map table (PMT).
  /// - Parameter section: complete section of the table (2.4.4.8).
  fileprivate init?(_ section: [UInt8]) {
    let end = section.count - 4
    var place = 12 + section.length(at: 10)
    guard place <= end else { return nil }
    clock = section.stream(at: 8)
    let isDisc = Descriptors(section[12..<place]).registration == "HDMV"
    var streams: [(number: Int, kind: StreamKind)] = []
    var marks: [ContainerDetail] = []
    while place + 5 <= end {
      let next = place + 5 + section.length(at: place + 3)
      guard next <= end else { return nil }
      let descriptors = Descriptors(section[place + 5..<next])
      let kind = descriptors.kind(ofType: section[place], isDisc: isDisc)
      streams.append((section.stream(at: place + 1), kind))
      if kind == .audio, let mark = descriptors.mark { marks.append(ContainerDetail(mark, of: kind)) }
      place = next
    }
    (self.streams, self.marks) = (streams, marks)
  }
}

/// Descriptors of a stream or program. Each descriptor has a tag, a length and data (2.6).
private struct Descriptors {
  private var tags: Set<UInt8> = []
  /// Four-letter identifier of the stream format (registration descriptor).
  private(set) var registration: String?
  /// Detail that marks audio for a special audience (`audio_type` of the language descriptor,
  /// 2.6.19); nil for other streams.
  private(set) var mark: String?

  init(_ bytes: ArraySlice<UInt8>) {
    var place = bytes.startIndex
    while place + 2 <= bytes.endIndex {
      let next = place + 2 + Int(bytes[place + 1])
      guard next <= bytes.endIndex else { return }
      tags.insert(bytes[place])
      if bytes[place] == 5, next >= place + 6 { registration = Array(bytes[place + 2..<place + 6]).text(0) }
      if bytes[place] == 0x0A, next >= place + 6 { mark = Descriptors.marks[bytes[place + 5]] }
      place = next
    }
  }

  private static let marks: [UInt8: String] = [
    2: "the flag that marks audio for the hard of hearing (audio_type 2)",
    3: "the flag that marks audio for the visually impaired (audio_type 3)",
  ]

  /// Returns the kind of a stream by its type (2.4.4.9, table 2-34; ATSC A/53, part 3). Blu-ray
  /// discs (`isDisc`) use other types. The kind of a private stream follows from its descriptors
  /// (ETSI EN 300 468, 6.1) and registration.
  func kind(ofType type: UInt8, isDisc: Bool) -> StreamKind {
    switch type {
    case 0x01, 0x02, 0x10, 0x1B, 0x21, 0x24, 0x33, 0x42, 0xD1, 0xEA: .video
    case 0x03, 0x04, 0x0F, 0x11, 0x81, 0x87: .audio
    case 0x80 where !isDisc: .video
    case 0x80, 0x82...0x86, 0xA1, 0xA2: isDisc ? .audio : .other
    case 0x06:
      switch registration {
      case "AC-3", "EAC3", "DTS1", "DTS2", "DTS3", "BSSD", "Opus": .audio
      case "HEVC", "AV01", "VC-1", "drac": .video
      default: tags.isDisjoint(with: [0x6A, 0x7A, 0x7B, 0x7C]) ? .other : .audio
      }
    default: .other
    }
  }
}

extension [UInt8] {
  /// Reads a PID of 13 bits, after three reserved bits.
  fileprivate func stream(at place: Int) -> Int { Int(self[place] & 0x1F) << 8 | Int(self[place + 1]) }
  /// Reads a length of 12 bits, after four reserved bits.
  fileprivate func length(at place: Int) -> Int { Int(self[place] & 0xF) << 8 | Int(self[place + 1]) }
}
