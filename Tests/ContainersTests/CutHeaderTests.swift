import Containers
import Foundation
import MediaTime
import TestSupport
import Testing

/// Truncated files of formats whose headers declare a length, a count or a size.
@Suite struct CutHeaderTests {
  private func report(_ file: [UInt8], name: String = "file") throws -> ContainerReport? {
    let folder = try TemporaryFolder()
    try Data(file).write(to: URL(fileURLWithPath: folder.path(name)))
    return ContainerFacts(folder.path(name)).report
  }

  private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  // MARK: IVF

  /// Returns VP8 in IVF. The header declares `declared` frames, or a duration of `declared` ticks.
  /// - Parameter step: ticks between the timestamps of consecutive frames.
  private func ivf(declared: UInt32, frames: Int, step: UInt32 = 1) -> [UInt8] {
    var file = bytes("DKIF", [UInt8]([0, 0, 32, 0]), "VP80", zeros(4))
    file += bytes(little(30 * step), little(1), little(declared), zeros(4))
    for number in 0..<UInt32(frames) {
      file += bytes(little(100), little(number * step), zeros(4), zeros(100))
    }
    return file
  }

  @Test("an IVF file with fewer frames than its header declares is reported as truncated", arguments: [0, 5, 111])
  func cutIVF(_ lost: Int) throws {
    let report = try #require(try report(ivf(declared: 60, frames: 41).dropLast(lost)))
    #expect(report.isCut)
    #expect(report.streams.map(\.frames) == [60])
    #expect(report.end == ClockTime(seconds: 2))
  }

  @Test("an IVF header with a duration instead of a frame count is recognized")
  func ivfDuration() throws {
    let whole = try #require(try report(ivf(declared: 1980, frames: 60, step: 33)))
    #expect(!whole.isCut && whole.end == nil && whole.streams.map(\.frames) == [nil])
    let cut = try #require(try report(ivf(declared: 1980, frames: 30, step: 33)))
    #expect(cut.isCut && cut.end == ClockTime(seconds: 2) && cut.streams.map(\.frames) == [nil])
  }

  @Test("if the length in an IVF header is too small for a duration, it is read as a frame count")
  func ivfFrameCount() throws {
    let whole = try #require(try report(ivf(declared: 60, frames: 60, step: 33)))
    #expect(!whole.isCut && whole.end == nil)
    let cut = try #require(try report(ivf(declared: 60, frames: 30, step: 33)))
    #expect(cut.isCut && cut.streams.map(\.frames) == [60])
  }

  @Test("a live IVF file counts as truncated only if it ends within a frame", arguments: [0, 0xFFFF_FFFF] as [UInt32])
  func liveIVF(_ declared: UInt32) throws {
    #expect(try report(ivf(declared: declared, frames: 30))?.isCut == false)
    #expect(try report(ivf(declared: declared, frames: 30).dropLast(5))?.isCut == true)
  }

  // MARK: AIFF

  private func aiff(
    type: String = "AIFF", frames: UInt32 = 4000, size: UInt32 = 8008, actual: Int = 8008
  ) -> [UInt8] {
    // 8,000 Hz in extended precision.
    let rate: [UInt8] = [0x40, 0x0B, 0xFA, 0, 0, 0, 0, 0, 0, 0]
    var format = bytes(big(1, 2), frames, big(16, 2), rate)
    if type == "AIFC" { format += bytes("ima4", zeros(2)) }
    let body = bytes(type, "COMM", UInt32(format.count), format, "SSND", size, zeros(actual))
    let whole = size == 0 ? 0 : UInt32(body.count - actual) + size
    return bytes("FORM", whole, body)
  }

  @Test("an AIFF file that ends within its audio is reported as truncated", arguments: [1, 4000, 8007])
  func cutAIFF(_ lost: Int) throws {
    let report = try #require(try report(aiff(actual: 8008 - lost)))
    #expect(report.isCut)
    #expect(report.end == ClockTime(nanoseconds: 500_000_000))
    #expect(report.streams.map(\.kind) == [.audio])
  }

  @Test("a complete AIFF file is not reported as truncated")
  func completeAIFF() throws {
    let report = try #require(try report(aiff()))
    #expect(!report.isCut && report.end == ClockTime(nanoseconds: 500_000_000))
    #expect(try self.report(aiff(frames: 0, size: 0)) == nil)
    // The FORM size may exclude the pad byte of the last AIFF chunk.
    #expect(try self.report(aiff(size: 8007, actual: 8007) + [0])?.isCut == false)
    // Bytes after the FORM chunk are not parsed as AIFF chunks.
    let rate: [UInt8] = [0x40, 0x0B, 0xFA, 0, 0, 0, 0, 0, 0, 0]
    let stray = bytes("COMM", UInt32(18), big(1, 2), UInt32(8000), big(16, 2), rate)
    #expect(try self.report(aiff() + zeros(64) + stray)?.end == ClockTime(nanoseconds: 500_000_000))
  }

  @Test("a truncated AIFF-C file with compressed audio is reported without a duration")
  func cutAIFC() throws {
    let report = try #require(try report(aiff(type: "AIFC", actual: 4000)))
    #expect(report.isCut && report.end == nil)
  }

  // MARK: ASF

  /// Returns an ASF file of 2 s.
  /// - Parameters:
  ///   - data: declared size of the data object, in bytes.
  ///   - actual: number of bytes after the data object's header.
  private func asf(flags: UInt32, data: UInt32, actual: Int) -> [UInt8] {
    func object(_ start: UInt32, _ size: Int, _ body: [UInt8]) -> [UInt8] {
      bytes(start, zeros(12), little(UInt32(size)), zeros(4), body)
    }
    let guid: [UInt8] = [
      0xA1, 0xDC, 0xAB, 0x8C, 0x47, 0xA9, 0xCF, 0x11, 0x8E, 0xE4, 0x00, 0xC0, 0x0C, 0x20, 0x53,
      0x65,
    ]
    // Duration of 5 s, including 3 s of preroll.
    var properties = bytes(guid, little(104), zeros(44), little(50_000_000), zeros(12))
    properties += bytes(little(3000), zeros(4), little(flags), zeros(12))
    let header = object(0x3026_B275, 30 + properties.count, bytes(zeros(6), properties))
    return header + object(0x3626_B275, Int(data), zeros(actual))
  }

  @Test("an ASF file that ends within its data object is reported as truncated", arguments: [1, 300, 999])
  func cutASF(_ lost: Int) throws {
    let report = try #require(try report(asf(flags: 2, data: 1024, actual: 1000 - lost)))
    #expect(report.isCut && report.end == ClockTime(seconds: 2))
  }

  @Test("no report is made for a complete or live ASF file")
  func completeASF() throws {
    #expect(try report(asf(flags: 2, data: 1024, actual: 1000)) == nil)
    #expect(try report(asf(flags: 1, data: 50, actual: 1000)) == nil)
    #expect(try report(asf(flags: 2, data: 0, actual: 1000)) == nil)
  }

  // MARK: FLIC

  /// Returns a FLIC animation.
  /// - Parameters:
  ///   - declared: frame count in the header, without the ring frame.
  ///   - chunks: number of FLIC chunks in each frame. The last frame is the ring frame, which leads
  ///     back to the first frame.
  private func flic(declared: Int, chunks: [UInt8]) -> [UInt8] {
    var frames: [UInt8] = []
    for count in chunks {
      let size = count > 0 ? 116 : 16
      frames += bytes(little(UInt32(size)), [UInt8]([0xFA, 0xF1, count, 0]), zeros(size - 8))
    }
    // Magic number, frame count, width, height, bit depth.
    let header: [UInt8] = [0x11, 0xAF, UInt8(declared), 0, 64, 0, 48, 0, 8, 0]
    return bytes(little(UInt32(128 + frames.count)), header, zeros(114), frames)
  }

  @Test("a FLIC file shorter than its header declares is reported as truncated")
  func cutFLIC() throws {
    let whole = flic(declared: 10, chunks: [UInt8](repeating: 1, count: 11))
    let report = try #require(try report(whole))
    #expect(!report.isCut && report.streams.map(\.frames) == [10] && report.unchangedFrames == 0)
    #expect(try self.report(whole.dropLast(200))?.isCut == true)
    // A live file declares no size.
    let live = zeros(4) + whole.dropFirst(4)
    #expect(try self.report(live)?.isCut == false)
    #expect(try self.report(live.dropLast(117))?.isCut == true)
    #expect(try self.report(live.dropLast(232))?.isCut == true)
  }

  @Test("a FLIC frame without chunks counts as an unchanged frame, not as a new one")
  func unchangedFrames() throws {
    let report = try #require(try report(flic(declared: 5, chunks: [1, 0, 1, 0, 0, 0])))
    #expect(report.unchangedFrames == 3 && report.streams.map(\.frames) == [2])
  }

  // MARK: MXF

  private func triplet(_ key: [UInt8], _ body: [UInt8]) -> [UInt8] {
    let start: [UInt8] = [0x06, 0x0E, 0x2B, 0x34]
    return bytes(start, key, zeros(12 - key.count), [UInt8]([0x83]), big(body.count, 3), body)
  }

  /// Returns an MXF file of 5 s (125 edit units).
  /// - Parameter footer: declared offset of the footer; nil for its actual offset.
  private func mxf(footer: Int?) -> [UInt8] {
    func partition(_ kind: UInt8, _ footer: Int) -> [UInt8] {
      triplet(
        [2, 5, 1, 1, 0x0D, 1, 2, 1, 1, kind, 4], bytes(zeros(24), big(footer, 8), zeros(56)))
    }
    func set(_ kind: UInt8, _ items: (Int, [UInt8])...) -> [UInt8] {
      let body = items.flatMap { bytes(big($0, 2), big($1.count, 2), $1) }
      return triplet([2, 0x53, 1, 1, 0x0D, 1, 1, 1, 1, 1, kind], body)
    }
    let sequence = [UInt8](repeating: 7, count: 16)
    var middle = set(0x3B, (0x4803, sequence), (0x4B01, bytes(big(25, 4), big(1, 4))))
    middle += set(0x0F, (0x3C0A, sequence), (0x0202, big(125, 8)))
    middle += triplet([1, 2, 1, 1, 0x0D, 1, 3, 1], zeros(1000))
    let place = footer ?? partition(2, 0).count + middle.count
    return partition(2, place) + middle + partition(4, place)
  }

  @Test("an MXF file that lacks part or all of its declared footer is reported as truncated", arguments: [1, 108, 500])
  func cutMXF(_ lost: Int) throws {
    let report = try #require(try report(mxf(footer: nil).dropLast(lost)))
    #expect(report.isCut && report.end == ClockTime(seconds: 5))
  }

  @Test("no report is made for an MXF file that is complete or declares no footer offset")
  func completeMXF() throws {
    #expect(try report(mxf(footer: nil)) == nil)
    #expect(try report(mxf(footer: 0).dropLast(108)) == nil)
    #expect(try report(mxf(footer: nil) + zeros(20)) == nil)
  }

  // MARK: RealMedia

  /// Returns a RealMedia file of 2 s.
  /// - Parameters:
  ///   - index: declared offset of the index; 0 for no index.
  ///   - data: declared and actual size of the `DATA` chunk, in bytes.
  private func realMedia(flags: Int, index: Int = 0, data: (UInt32, Int)) -> [UInt8] {
    let size = UInt32(50)
    var file = bytes(".RMF", UInt32(18), zeros(10), "PROP", size, zeros(22), big(2000, 4))
    file += bytes(zeros(4), big(index, 4), zeros(6), big(flags, 2))
    return file + bytes("DATA", data.0, zeros(data.1 - 8))
  }

  @Test("a RealMedia file that ends within its packets, or before its index, is reported as truncated")
  func cutRealMedia() throws {
    let cut = try #require(try report(realMedia(flags: 3, data: (1000, 600))))
    #expect(cut.isCut && cut.end == ClockTime(seconds: 2))
    #expect(try report(realMedia(flags: 3, index: 1068, data: (1000, 1000)))?.isCut == true)
  }

  @Test("no report is made for a complete or live RealMedia file")
  func completeRealMedia() throws {
    #expect(try report(realMedia(flags: 3, data: (1000, 1000))) == nil)
    #expect(try report(realMedia(flags: 3, data: (1018, 1008))) == nil)
    #expect(try report(realMedia(flags: 7, data: (1000, 600))) == nil)
    #expect(try report(realMedia(flags: 3, data: (0, 600))) == nil)
  }

  // MARK: Wave64

  @Test(
    "only the complete sample frames of a truncated Wave64 file are counted", arguments: [0, 1, 400, 401])
  func cutWave64(_ lost: Int) throws {
    func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
      bytes(name, zeros(12), little(UInt32(24 + body.count)), zeros(4), body)
    }
    let format: [UInt8] = [1, 0, 2, 0]
    let rates = bytes(format, little(1000), little(4000), [UInt8]([4, 0, 16, 0]))
    let file = bytes("riff", zeros(12), zeros(8), "wave", zeros(12))
    let whole = file + chunk("fmt ", rates) + chunk("data", zeros(4000))
    let folder = try TemporaryFolder()
    try Data(whole.dropLast(lost)).write(to: URL(fileURLWithPath: folder.path("a.w64")))
    let wave = try #require(ContainerFacts(folder.path("a.w64")).wave)
    #expect(wave.duration == ClockTime(seconds: 1))
    #expect(wave.held == ClockTime(sampleIndex: (4000 - lost) / 4, rate: 1000))
  }

  // MARK: Y4M

  @Test(
    "a Y4M file that ends within a frame is reported as truncated",
    arguments: [("", 6 * 5 + 2 * 9), ("C422", 60), ("C444", 90), ("C420p10", 96), ("Cmono", 30)])
  func cutY4M(_ chroma: String, _ size: Int) throws {
    let frame = bytes("FRAME\n", zeros(size))
    let file = bytes("YUV4MPEG2 W6 H5 F25:1 \(chroma)\n") + frame + frame
    #expect(try report(file) == nil)
    for lost in [1, size, size + 5] {
      #expect(try report(file.dropLast(lost))?.isCut == true, "\(lost)")
    }
  }
}

extension CutHeaderTests {
  fileprivate func report(_ file: ArraySlice<UInt8>) throws -> ContainerReport? {
    try report(Array(file))
  }
}
