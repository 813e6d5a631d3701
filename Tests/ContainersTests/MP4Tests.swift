import Containers
import Foundation
import MediaTime
import TestSupport
import Testing

@Suite struct MP4Tests {
  @Test("a QuickTime chapter track is read")
  func chapterTrack() throws {
    func word(_ value: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(value).bigEndian, Array.init) }
    func header(_ id: Int) -> [UInt8] {
      box("tkhd", word(0) + word(0) + word(0) + word(id) + [UInt8](repeating: 0, count: 68))
    }
    let texts = ["One", "Zwei"].map { [UInt8](arrayLiteral: 0, UInt8($0.utf8.count)) + Array($0.utf8) }
    let start = 8
    let table = box(
      "stbl",
      box("stts", word(0) + word(2) + word(1) + word(1500) + word(1) + word(500))
        + box("stsz", word(0) + word(0) + word(2) + texts.flatMap { word($0.count) })
        + box("stsc", word(0) + word(1) + word(1) + word(2) + word(1)) + box("stco", word(0) + word(1) + word(start)))
    let media = box(
      "mdia", box("mdhd", word(0) + word(0) + word(0) + word(1000) + word(2000) + word(0)) + box("minf", table))
    let movie = box("moov", box("trak", header(1) + box("tref", box("chap", word(2)))) + box("trak", header(2) + media))
    let folder = try TemporaryFolder()
    try Data(box("mdat", texts.flatMap { $0 }) + movie).write(to: URL(fileURLWithPath: folder.path("a.mov")))
    let found = ContainerFacts(folder.path("a.mov")).chapters
    #expect(found.map(\.title) == ["One", "Zwei"])
    #expect(
      found.map(\.start) == [ClockTime.zero, ClockTime(seconds: 1.5)]
        && found.map(\.end) == [ClockTime(seconds: 1.5), ClockTime(seconds: 2)])
    // A track of chapter images may precede the track of titles.
    let pictures = box(
      "trak",
      header(3) + box("mdia", box("hdlr", word(0) + word(0) + Array("vide".utf8) + [UInt8](repeating: 0, count: 13))))
    let both = box(
      "moov",
      box("trak", header(1) + box("tref", box("chap", word(3) + word(2)))) + pictures + box("trak", header(2) + media))
    try Data(box("mdat", texts.flatMap { $0 }) + both).write(to: URL(fileURLWithPath: folder.path("c.mov")))
    #expect(ContainerFacts(folder.path("c.mov")).chapters.map(\.title) == ["One", "Zwei"])
    // Damaged tables neither crash the reader nor exhaust memory.
    var generator = SeededGenerator(3)
    for _ in 0..<2000 {
      var bytes = box("mdat", texts.flatMap { $0 }) + movie
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        bytes[Int.random(in: 16..<bytes.count, using: &generator)] =
          [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &generator) ?? 0
      }
      try Data(bytes).write(to: URL(fileURLWithPath: folder.path("damaged.mov")))
      #expect(ContainerFacts(folder.path("damaged.mov")).chapters.count <= 100_000)
    }
    try Data(box("moov", [1, 2, 3])).write(to: URL(fileURLWithPath: folder.path("b.mov")))
    #expect(ContainerFacts(folder.path("b.mov")).chapters.isEmpty)
  }

  /// 100,000 MP4 chunks, each in its own run. Searching all runs for each chunk would take 10^10
  /// steps.
  @Test("chapters in a long sample table are read in one pass")
  func longChapterTable() throws {
    let folder = try TemporaryFolder()
    let count = 100_000
    let times = big(0, 4) + big(1, 4) + big(count, 4) + big(1000, 4)
    let sizes = big(0, 4) + big(4, 4) + big(count, 4)
    let runs = big(0, 4) + big(count, 4) + (1...count).flatMap { big($0, 4) + big(1, 4) + big(1, 4) }
    let chunks = big(0, 4) + big(count, 4) + [UInt8](repeating: 0, count: count * 4)
    let table = box("stts", times) + box("stsz", sizes) + box("stsc", runs) + box("stco", chunks)
    func track(_ identifier: Int, _ rest: [UInt8]) -> [UInt8] {
      box("trak", box("tkhd", big(0, 12) + big(identifier, 4) + big(0, 68)) + rest)
    }
    let media = box("mdia", box("mdhd", big(0, 12) + big(1000, 4) + big(0, 8)) + box("minf", box("stbl", table)))
    let movie = box("moov", track(1, box("tref", box("chap", big(2, 4)))) + track(2, media))
    // All MP4 chunk offsets are 0, and the file begins with a title of length 0.
    try Data([0, 0, 0, 12] + Array("free".utf8) + [0, 0, 0, 0] + movie).write(
      to: URL(fileURLWithPath: folder.path("a.mp4")))
    #expect(ContainerFacts(folder.path("a.mp4")).chapters.count == count)
  }

  @Test("edits that start decades into the media do not overflow")
  func hugeEdits() throws {
    let folder = try TemporaryFolder()
    let zero = UInt32(0)
    let most = UInt32(Int32.max)
    // Three edits whose start and duration are 2³¹ - 1 ticks. The start counts in the track's
    // timescale, which is 1; the duration counts in the movie's, which is 2³¹ - 1.
    let edits = (0..<3).flatMap { _ in bytes(most, most, UInt32(0x10000)) }
    let track = box(
      "trak",
      box("tkhd", bytes(zero, zero, zero, UInt32(1), zero, most) + [UInt8](repeating: 0, count: 60))
        + box("edts", box("elst", bytes(zero, UInt32(3), edits)))
        + box(
          "mdia",
          box("mdhd", bytes(zero, zero, zero, UInt32(1), most, zero))
            + box("hdlr", bytes(zero, zero, "vide", zero, zero, zero, [0]))
            + box("minf", box("stbl", box("stts", bytes(zero, UInt32(1), UInt32(2), most))))))
    let movie = box("moov", box("mvhd", bytes(zero, zero, zero, most, most) + [UInt8](repeating: 0, count: 80)) + track)
    let path = folder.path("a.mp4")
    try Data(box("ftyp", bytes("isom", zero)) + movie).write(to: URL(fileURLWithPath: path))
    _ = ContainerFacts(path)
  }

  /// Without this limit, the list of all boxes in a damaged file could take a gigabyte.
  @Test("at most 2^20 empty MP4 boxes or EBML elements are read")
  func emptyBoxes() throws {
    let boxes = (0..<(1 << 20) + 10).flatMap { _ in [0, 0, 0, 8, 0x66, 0x72, 0x65, 0x65] as [UInt8] }
    #expect(Box.all(in: boxes[...]).count == 1 << 20)
    #expect(EBMLElement.all(in: [UInt8](repeating: 0x80, count: 1 << 22)).count == 1 << 20)
  }

  /// A muxer in a user's pipeline may write any timescale, so no timescale may cause an overflow
  /// trap.
  @Test(
    "a header with any timescale can be edited",
    arguments: [(1000, 48_000, 1000), (Int(UInt32.max), 1 << 40, nil as Int?)])
  func anyTimescale(timescale: Int, heard: Int, length: Int?) throws {
    func times(_ type: String) -> [UInt8] {
      var body = [UInt8](repeating: 0, count: 24)
      body.set(timescale, at: 12)
      return box(type, body)
    }
    let handler = box("hdlr", [UInt8](repeating: 0, count: 8) + Array("soun".utf8) + [UInt8](repeating: 0, count: 12))
    let edits = box("edts", box("elst", [0, 0, 0, 0, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 12)))
    let header = box("tkhd", [UInt8](repeating: 0, count: 84))
    var movie = times("mvhd") + box("trak", header + edits + box("mdia", handler + times("mdhd")))
    let size = movie.count
    var change = MP4Header()
    change.audio = [.init(priming: 1024, presentedSamples: heard, rate: 48_000, isEnabled: nil)]
    change.change(&movie)
    #expect(movie.count == size)
    let track = try #require(movie.box("trak", in: 0..<size))
    let list = try #require(movie.box("edts", "elst", in: track))
    if let length { #expect(movie.integer(list.lowerBound + 8) == length) }
  }
}
