import Containers
import Foundation
import MediaTime
import Synchronization
import TestSupport
import Testing

/// Durations and sizes that containers declare, from headers of a few bytes.
@Suite struct LengthTests {
  /// A WAV file above 4 GiB needs an RF64 header. The test files are only headers.
  @Test(
    "the duration of a WAV file of any size is read from its header",
    arguments: [0x7FFF_FFFF, 0x8000_0000, 4_800_000_000])
  func waveLength(_ bytes: Int) throws {
    func digits(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    let folder = try TemporaryFolder()
    let isLong = bytes > 0xFFFF_FFFF
    let size = isLong ? 0xFFFF_FFFF : bytes
    var file = Array((isLong ? "RF64" : "RIFF").utf8) + digits(size, 4) + Array("WAVE".utf8)
    if isLong { file += Array("ds64".utf8) + digits(28, 4) + digits(bytes + 72, 8) + digits(bytes, 8) + digits(0, 12) }
    file += Array("fmt ".utf8) + digits(16, 4) + digits(1, 2) + digits(1, 2) + digits(1000, 4) + digits(1000, 4)
    file += digits(1, 2) + digits(8, 2) + Array("data".utf8) + digits(size, 4)
    try Data(file).write(to: URL(fileURLWithPath: folder.path("a.wav")))
    let wave = try #require(ContainerFacts(folder.path("a.wav")).wave)
    #expect(wave.duration == ClockTime(sampleIndex: bytes, rate: 1000))
    #expect(wave.isCutShort == (bytes > 0x7FFF_FFFF))
  }

  /// A damaged file must not make the reader return to headers that it has already read.
  @Test("if a Matroska Segment declares the size 0, the headers after it are read once")
  func shortMatroskaSegment() throws {
    let folder = try TemporaryFolder()
    let duration = withUnsafeBytes(of: Double(2000).bitPattern.bigEndian, Array.init)
    let file =
      EBMLElement(id: 0x1A45_DFA3, bytes: []).encoded + EBMLElement(id: 0x1853_8067, bytes: []).encoded
      + EBMLElement(id: 0x1549_A966, bytes: EBMLElement(id: 0x4489, bytes: duration).encoded).encoded
    try Data(file).write(to: URL(fileURLWithPath: folder.path("a.mkv")))
    #expect(ContainerFacts(folder.path("a.mkv")).report?.presentationEnd == ClockTime(seconds: 2))
  }

  /// A long film has thousands of clusters. One read for each cluster takes seconds on a hard disk.
  @Test("only the headers of a Matroska file are read")
  func matroskaReads() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mkv")
    let duration = withUnsafeBytes(of: Double(20_000_000).bitPattern.bigEndian, Array.init)
    let info = EBMLElement(id: 0x1549_A966, bytes: EBMLElement(id: 0x4489, bytes: duration).encoded)
    let track = EBMLElement(id: 0xAE, bytes: EBMLElement(id: 0x83, number: 1).encoded)
    let headers = info.encoded + EBMLElement(id: 0x1654_AE6B, bytes: track.encoded).encoded
    // A cluster of 2^20 bytes, after its 9-byte header.
    let cluster: [UInt8] = [0x1F, 0x43, 0xB6, 0x75, 0x08, 0x00, 0x10, 0x00, 0x00]
    let size = cluster.count + 1 << 20
    let count = 500
    // An 8-byte EBML length with its marker bit.
    let length = UInt64(headers.count + count * size) | 1 << 56
    let beginning =
      EBMLElement(id: 0x1A45_DFA3, bytes: []).encoded + [0x18, 0x53, 0x80, 0x67]
      + withUnsafeBytes(of: length.bigEndian, Array.init) + headers
    try Data(beginning).write(to: URL(fileURLWithPath: path))
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    // The rest of the file is sparse.
    for number in 0..<count {
      try file.seek(toOffset: UInt64(beginning.count + number * size))
      try file.write(contentsOf: Data(cluster))
    }
    try file.truncate(atOffset: UInt64(beginning.count + count * size))
    try file.close()
    let reads = Mutex(0)
    let facts = ContainerFacts(path) {
      reads.withLock { $0 += 1 }
      return false
    }
    #expect(facts.report?.presentationEnd == ClockTime(seconds: 20_000))
    #expect(facts.report?.isCut == false && facts.tracks.map(\.kind) == [.video])
    #expect(reads.withLock { $0 } < 20)
  }

  /// 2^36 samples at 1 Hz overflow 64 bits of nanoseconds.
  @Test("an absurd length in a FLAC header does not overflow")
  func absurdFLACLength() throws {
    let folder = try TemporaryFolder()
    var bytes = Array("fLaC".utf8) + [0, 0, 0, 34] + [UInt8](repeating: 0, count: 34)
    bytes[20] = 0x10
    bytes.replaceSubrange(21..<26, with: [0x0F, 0xFF, 0xFF, 0xFF, 0xFF])
    try Data(bytes).write(to: URL(fileURLWithPath: folder.path("s.flac")))
    let declared = try #require(ContainerFacts(folder.path("s.flac")).report)
    #expect(try #require(declared.end) > ClockTime(seconds: 1e9))
  }

  @Test("zeros before the audio of a WAV file are skipped with few reads")
  func zerosInWAV() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("s.wav")
    let zeros = [UInt8](repeating: 0, count: 3 << 20)
    let format = bytes(
      "fmt ", little(16), [1, 0, 1, 0] as [UInt8], little(48000), little(96000), [2, 0, 16, 0] as [UInt8])
    let samples = bytes("data", little(4), [1, 2, 3, 4] as [UInt8])
    let file = bytes("RIFF", little(UInt32(zeros.count + 64)), "WAVE", format, zeros, samples)
    try Data(file).write(to: URL(fileURLWithPath: path))
    let reads = Mutex(0)
    let facts = ContainerFacts(path) {
      reads.withLock { $0 += 1 }
      return false
    }
    #expect(facts.wave?.held == ClockTime(sampleIndex: 2, rate: 48000))
    #expect(reads.withLock { $0 } < 100)
  }

  @Test("a transport stream with FLI's magic number in its first packet is not read as FLI")
  func transportStreamLikeFLI() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("s.ts")
    let packet: [UInt8] = [0x47, 0x1F, 0xFF, 0x10, 0x12, 0xAF] + [UInt8](repeating: 1, count: 182)
    try Data(packet + packet + packet + packet).write(to: URL(fileURLWithPath: path))
    #expect(ContainerFacts(path).isUsuallyMPEG)
  }

  @Test("AVI lists that are too short to contain a list name are ignored")
  func shortAVILists() throws {
    let folder = try TemporaryFolder()
    let list = bytes("LIST", little(0), "strl", little(0))
    let header = bytes("LIST", little(UInt32(4 + list.count)), "hdrl", list)
    let path = folder.path("a.avi")
    let file = bytes("RIFF", little(UInt32(4 + header.count)), "AVI ", header)
    try Data(file).write(to: URL(fileURLWithPath: path))
    #expect(try #require(ContainerFacts(path).report).streams.isEmpty)
  }

  /// The product of two such rates (2³² - 1) overflows a signed 64-bit integer.
  @Test("no sample count is reported for AVI audio with the highest possible rates")
  func hugeAVIRates() throws {
    let folder = try TemporaryFolder()
    let most = little(UInt32.max)
    let header = bytes(
      "strh", little(56), "auds", [UInt8](repeating: 0, count: 16), most, most, [UInt8](repeating: 0, count: 28))
    let format = bytes("strf", little(16), little(0x0001_0001), most, little(16000), little(0x0010_0002))
    let stream = bytes("strl", header, format)
    let list = bytes("hdrl", "LIST", little(UInt32(stream.count)), stream)
    let file = bytes("AVI ", "LIST", little(UInt32(list.count)), list)
    let path = folder.path("a.avi")
    try Data(bytes("RIFF", little(UInt32(file.count)), file)).write(to: URL(fileURLWithPath: path))
    #expect(ContainerFacts(path).tracks.allSatisfy { $0.stored == nil })
  }

  /// The LIST chunk either has 5 bytes and no pad byte, or is larger than the file.
  @Test("a WAV file whose RIFF chunk sizes lead past its audio is reported as empty", arguments: [5, 0x7FFF_FFFF])
  func misleadingWaveChunks(size: UInt32) throws {
    let folder = try TemporaryFolder()
    let format = bytes("fmt ", little(16), little(0x0001_0001), little(8000), little(16000), little(0x0010_0002))
    let list = bytes("LIST", little(size), "INFOx")
    let audio = bytes("data", little(4), little(0x0102_0304))
    func facts(_ parts: [UInt8]) throws -> ContainerFacts {
      try Data(bytes("RIFF", little(UInt32(4 + parts.count)), "WAVE", parts))
        .write(to: URL(fileURLWithPath: folder.path("a.wav")))
      return ContainerFacts(folder.path("a.wav"))
    }
    #expect(try facts(format + list + audio).isEmptyWave)
    #expect(try !facts(format + audio).isEmptyWave)
  }

  /// One second of Sun/NeXT audio: complete, truncated, or followed by other bytes. The codecs are
  /// 16-bit stereo PCM, A-law, and ADPCM. The duration of ADPCM is unknown, because it does not
  /// follow from the size.
  @Test(
    "the duration of an AU file is read from its header",
    arguments: [
      (3, 32_000, 32_000, false, ClockTime(seconds: 1)), (3, 32_000, 31_999, true, ClockTime(seconds: 1)),
      (3, 32_000, 0, true, ClockTime(seconds: 1)), (27, 16_000, 8000, true, ClockTime(seconds: 1)),
      (23, 8000, 4000, true, nil), (23, 8000, 8000, false, nil), (3, 32_000, 40_000, false, ClockTime(seconds: 1)),
    ])
  func auDuration(_ encoding: UInt32, _ size: UInt32, actual: Int, isCut: Bool, end: ClockTime?) throws {
    let report = try #require(try au(encoding: encoding, size: size, actual: actual).report)
    #expect(report.isCut == isCut && report.presentationEnd == end)
    #expect(report.streams.map(\.kind) == [.audio])
  }

  @Test("no report is made for an AU file of unknown length", arguments: [0, 0xFFFF_FFFF])
  func liveAU(_ size: UInt32) throws {
    #expect(try au(encoding: 3, size: size, actual: 1000).report == nil)
  }

  private func au(encoding: UInt32, size: UInt32, actual: Int) throws -> ContainerFacts {
    let folder = try TemporaryFolder()
    let header = bytes(".snd", UInt32(28), size, encoding, UInt32(8000), UInt32(2), UInt32(0))
    try Data(header + [UInt8](repeating: 0, count: actual)).write(to: URL(fileURLWithPath: folder.path("a.au")))
    return ContainerFacts(folder.path("a.au"))
  }

  /// CAF is not parsed, so gaps between its packets are unknown.
  @Test("no report is made for an unknown format")
  func unknownFormat() throws {
    let folder = try TemporaryFolder()
    try Data(bytes("caff", UInt32(0x1_0000), "desc", [UInt8](repeating: 0, count: 1000)))
      .write(to: URL(fileURLWithPath: folder.path("a.caf")))
    let facts = ContainerFacts(folder.path("a.caf"))
    #expect(facts.report == nil && !facts.isContinuous)
    #expect(facts.size == 1012 && facts.beginning.prefix(4) == Array("caff".utf8)[...])
  }
}
