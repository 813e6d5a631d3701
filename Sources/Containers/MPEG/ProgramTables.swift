/// Program tables (PAT and PMT) of a transport stream: the programs and their streams (ISO/IEC
/// 13818-1, 2.4.4).
struct ProgramTables {
  struct Program {
    /// PID of the clock references (PCR).
    let clock: Int
    /// Streams in the order of the table. `name` describes the content of a stream; it is displayed
    /// only for streams that are neither video nor audio.
    let streams: [(number: Int, kind: StreamKind, name: String)]
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
    var streams: [(number: Int, kind: StreamKind, name: String)] = []
    var marks: [ContainerDetail] = []
    while place + 5 <= end {
      let next = place + 5 + section.length(at: place + 3)
      guard next <= end else { return nil }
      let descriptors = Descriptors(section[place + 5..<next])
      let kind = descriptors.kind(ofType: section[place], isDisc: isDisc)
      let name = descriptors.name(ofType: section[place], isDisc: isDisc)
      streams.append((section.stream(at: place + 1), kind, name))
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
  /// Four-letter identifier of the format of metadata (metadata descriptor).
  private var metadataFormat: String?
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
      if bytes[place] == 0x26 { metadataFormat = Descriptors.metadataFormat(bytes[place + 2..<next]) }
      if bytes[place] == 0x0A, next >= place + 6 { mark = Descriptors.marks[bytes[place + 5]] }
      place = next
    }
  }

  /// Returns the format identifier in the data of a metadata descriptor (2.6.60); nil if the format
  /// is a number.
  private static func metadataFormat(_ data: ArraySlice<UInt8>) -> String? {
    // An application format of 0xFFFF is followed by an identifier of the application.
    let format = data.dropFirst(data.starts(with: [0xFF, 0xFF]) ? 6 : 2)
    guard format.first == 0xFF, format.count >= 5 else { return nil }
    return Array(format.dropFirst()).text(0)
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

extension Descriptors {
  /// Displayed name of a stream that is neither video nor audio, such as
  /// `DSM-CC data (stream_type 0x0B)`.
  func name(ofType type: UInt8, isDisc: Bool) -> String {
    let digits = String(type, radix: 16, uppercase: true)
    let code = "stream_type 0x\(type < 0x10 ? "0" : "")\(digits)"
    // An identifier may be padded with a space. Other bytes may be no text at all.
    let identifier = [metadataFormat, registration].compactMap { $0?.replacing(" ", with: "") }.first { text in
      !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
    let known = identifier.flatMap { Descriptors.formats[$0] } ?? (isDisc ? Descriptors.discTypes[type] : nil)
    let name = known ?? Descriptors.types[type] ?? (type < 0x80 ? "unknown data" : "private data")
    return "\(name) (\(code)\(identifier.map { ", \($0)" } ?? ""))"
  }

  /// Names by format identifier (SMPTE Registration Authority).
  private static let formats = [
    "CUEI": "SCTE-35 splice information", "ID3": "ID3 metadata", "KLVA": "KLV metadata",
    "VANC": "ancillary data (SMPTE ST 2038)",
  ]

  /// Names by stream type (2.4.4.9, table 2-34; SCTE 35).
  private static let types: [UInt8: String] = [
    0x05: "private sections", 0x06: "private data", 0x07: "MHEG data", 0x08: "DSM-CC data", 0x0A: "DSM-CC data",
    0x0B: "DSM-CC data", 0x0C: "DSM-CC data", 0x0D: "DSM-CC data", 0x0E: "auxiliary data",
    0x12: "MPEG-4 scene data", 0x13: "MPEG-4 scene data", 0x14: "DSM-CC data", 0x15: "metadata", 0x16: "metadata",
    0x17: "metadata", 0x18: "metadata", 0x19: "metadata", 0x1A: "digital rights data (IPMP)",
    0x1C: "MPEG-4 audio without headers", 0x1D: "MPEG-4 timed text", 0x1E: "auxiliary video",
    0x1F: "layered video (SVC)", 0x20: "further views of the video (MVC)", 0x7F: "digital rights data (IPMP)",
    0x86: "SCTE-35 splice information",
  ]

  /// Names by stream type on Blu-ray discs.
  private static let discTypes: [UInt8: String] = [
    0x90: "subtitles (PGS)", 0x91: "menus (interactive graphics)", 0x92: "text subtitles",
  ]
}

extension [UInt8] {
  /// Reads a PID of 13 bits, after three reserved bits.
  fileprivate func stream(at place: Int) -> Int { Int(self[place] & 0x1F) << 8 | Int(self[place + 1]) }
  /// Reads a length of 12 bits, after four reserved bits.
  fileprivate func length(at place: Int) -> Int { Int(self[place] & 0xF) << 8 | Int(self[place + 1]) }
}
