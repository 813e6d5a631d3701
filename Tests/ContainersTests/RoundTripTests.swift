import Containers
import Foundation
import MediaTime
import TestSupport
import Testing

/// Reads back the headers that this project writes.
@Suite struct RoundTripTests {
  @Test("MP4 headers are read back as written", arguments: ["mp4mux", "qtmux"])
  func mp4Headers(muxer: String) throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.muxer = muxer
    media.sampleCount = 48_000
    media.audio = "audioconvert ! avenc_aac ! aacparse"
    let path = try media.write(to: folder)
    let end = ContainerFacts(path).report?.presentationEnd
    var header = MP4Header(chapters: [
      ChapterMark(start: .zero, title: "Eins"), ChapterMark(start: ClockTime(seconds: 1), title: "日本"),
    ])
    header.videos = [.init(orientation: "flip-rotate-90", isEnabled: false)]
    header.audio = [.init(priming: 1024, presentedSamples: 47_000, rate: 48_000, isEnabled: true)]
    try header.apply(to: path)
    let facts = ContainerFacts(path)
    #expect(facts.chapters.map(\.title) == ["Eins", "日本"])
    #expect(facts.chapters.map(\.start) == [.zero, ClockTime(seconds: 1)])
    let video = try #require(facts.tracks.first { $0.kind == .video })
    // Players ignore video if all video tracks are disabled, so the only video track stays enabled.
    #expect(video.orientation == "flip-rotate-90" && video.disposition?.isDefault == true)
    #expect(facts.tracks.first { $0.kind == .audio }?.disposition?.isDefault == true)
    #expect(facts.report?.streams.first { $0.kind == .video }?.frames == media.frameCount)
    #expect(facts.report?.presentationEnd == end && facts.report?.isCut == false)
  }

  @Test("a track header's duration in the wrong unit is ignored", arguments: ["edts", "free"])
  func trackDurationInTheWrongUnit(edits: String) throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.muxer = "mp4mux"
    let path = try media.write(to: folder)
    let end = try #require(ContainerFacts(path).report?.presentationEnd)
    var file = try Data(contentsOf: URL(fileURLWithPath: path))
    for header in file.ranges(of: Data("tkhd".utf8)) {
      // Sets a high byte, which makes the duration hours long.
      file[header.upperBound + 20] = 1
    }
    for list in file.ranges(of: Data("edts".utf8)) { file.replaceSubrange(list, with: Data(edits.utf8)) }
    try file.write(to: URL(fileURLWithPath: path))
    let read = try #require(ContainerFacts(path).report?.presentationEnd)
    #expect(abs(read.seconds - end.seconds) < 0.1)
  }

  @Test("Matroska chapters are found before and after the clusters", arguments: [true, false])
  func matroskaChapters(isFirst: Bool) throws {
    func chapter(_ start: Int, _ title: String, _ rest: [EBMLElement] = []) -> EBMLElement {
      let display = EBMLElement(id: 0x80, bytes: EBMLElement(id: 0x85, bytes: Array(title.utf8)).encoded)
      let parts = [EBMLElement(id: 0x91, number: start), display] + rest
      return EBMLElement(id: 0xB6, bytes: parts.flatMap(\.encoded))
    }
    func edition(_ parts: [EBMLElement]) -> [UInt8] {
      EBMLElement(id: 0x45B9, bytes: parts.flatMap(\.encoded)).encoded
    }
    let nested = chapter(5, "inner", [EBMLElement(id: 0x92, number: 9)])
    let shown = [chapter(0, "one", [nested])] + (1..<20_000).map { chapter($0 * 10, "c") }
    let editions =
      edition([EBMLElement(id: 0x45BD, number: 1), chapter(7, "hidden")])
      + edition(shown + [chapter(8, "off", [EBMLElement(id: 0x4598, number: 0)])])
    let chapters = EBMLElement(id: 0x1043_A770, bytes: editions).encoded
    let cluster = EBMLElement(id: 0x1F43_B675, bytes: EBMLElement(id: 0xE7, number: 0).encoded).encoded
    func list(_ position: Int) -> [UInt8] {
      let place = [UInt8(position)]
      let seek =
        EBMLElement(id: 0x53AB, bytes: [0x10, 0x43, 0xA7, 0x70]).encoded
        + EBMLElement(id: 0x53AC, bytes: place).encoded
      return EBMLElement(id: 0x114D_9B74, bytes: EBMLElement(id: 0x4DBB, bytes: seek).encoded).encoded
    }
    let body = isFirst ? chapters + cluster : list(list(0).count + cluster.count) + cluster + chapters
    let file = EBMLElement(id: 0x1A45_DFA3, bytes: []).encoded + EBMLElement(id: 0x1853_8067, bytes: body).encoded
    let folder = try TemporaryFolder()
    try Data(file).write(to: URL(fileURLWithPath: folder.path("a.mkv")))
    let facts = ContainerFacts(folder.path("a.mkv"))
    #expect(facts.chapters.count == 20_000)
    #expect(facts.chapters.first?.title == "one")
    #expect(
      facts.chapters.first?.children == [
        ChapterMark(start: ClockTime(nanoseconds: 5), end: ClockTime(nanoseconds: 9), title: "inner")
      ])
    let place = try #require(file.firstRange(of: [0x10, 0x43, 0xA7, 0x70] + chapters[4..<12]))
    #expect(facts.correction?.changes(place) == true, "the demuxer skips them")
  }

  @Test("Matroska headers are read back as written")
  func matroskaHeaders() throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.sampleCount = 48_000
    let path = try media.write(to: folder)
    let size = try Data(contentsOf: URL(fileURLWithPath: path)).count
    let other = MatroskaHeader.Track(disposition: Disposition(isDefault: false, isForced: true))
    try MatroskaHeader(videos: [other], audio: [.init(disposition: Disposition())], subtitles: [], unquoted: { $0 })
      .apply(to: path)
    let tracks = ContainerFacts(path).tracks
    #expect(tracks.first { $0.kind == .video }?.disposition == Disposition(isDefault: false, isForced: true))
    #expect(tracks.first { $0.kind == .audio }?.disposition == Disposition())
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count == size, "no byte of the file moves")
    #expect(ContainerFacts(path).report?.isCut == false)
  }

  @Test("MP3 headers are read back as written")
  func mp3Headers() throws {
    let folder = try TemporaryFolder()
    let path = try TestMedia.audioOnly("a.mp3", "lamemp3enc ! mpegaudioparse", muxer: "xingmux").write(to: folder)
    try MP3Header(priming: 1105, presentedSamples: 47_000).apply(to: path)
    let gapless = try #require(ContainerFacts(path).gapless)
    #expect(gapless.delay == ClockTime(sampleIndex: 1105, rate: 48_000))
    #expect(gapless.duration == ClockTime(sampleIndex: 47_000, rate: 48_000))
  }

  @Test("EBML elements are read back as written", arguments: [0, 1, 126, 127, 128, 16_382, 16_383, 20_000])
  func ebmlElements(count: Int) throws {
    let element = EBMLElement(id: 0x1A45_DFA3, bytes: [UInt8](repeating: 7, count: count))
    let other = EBMLElement(id: 0xEC, number: 1 << 40)
    let read = EBMLElement.all(in: element.encoded + other.encoded)
    #expect(read.map(\.id) == [element.id, other.id])
    #expect(read.map(\.bytes) == [element.bytes, other.bytes])
    #expect(read.last?.number == 1 << 40)
  }

  @Test("a missing file and a file without moov cannot be edited")
  func missingHeader() throws {
    let folder = try TemporaryFolder()
    #expect(throws: FileError.self) { try MP4Header().apply(to: folder.path("nothing.mp4")) }
    try Data(box("ftyp", bytes("isom", UInt32(0)))).write(to: URL(fileURLWithPath: folder.path("a.mp4")))
    let error = #expect(throws: FileError.self) { try MP4Header().apply(to: folder.path("a.mp4")) }
    #expect(error?.missing.contains("moov") == true)
  }

  /// Truncates the file at every seventh byte. The truncated file must lack its index, be reported
  /// as truncated, or have no report or a different report from the whole file.
  @Test(
    "any truncation is noticed", arguments: ["mp4mux a.mp4", "matroskamux a.mkv", "avimux a.avi", "flvmux a.flv"])
  func cutAnywhere(_ kind: String) throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.times = TestMedia.regular(5, rate: 30)
    media.frameRate = "30/1"
    media.muxer = String(kind.split(separator: " ")[0])
    media.name = String(kind.split(separator: " ")[1])
    let whole = try Data(contentsOf: URL(fileURLWithPath: try media.write(to: folder)))
    let report = try #require(ContainerFacts(folder.path(media.name)).report)
    #expect(!report.isCut)
    for count in stride(from: 0, to: whole.count, by: 7) {
      try whole.prefix(count).write(to: URL(fileURLWithPath: folder.path("part")))
      let facts = ContainerFacts(folder.path("part"))
      #expect(facts.lacksIndex || facts.report.map { $0.isCut || $0 != report } ?? true, "\(count) of \(whole.count)")
    }
  }

  /// qtdemux accepts a file that begins with any of these boxes, so `ContainerFacts` must read it,
  /// too. Without the corrections that the engine makes from these facts, qtdemux loses the last
  /// packet.
  @Test("an MP4 may begin with a box other than ftyp", arguments: ["free", "skip", "wide", "uuid", "pnot", "PICT"])
  func firstBox(_ type: String) throws {
    let folder = try TemporaryFolder()
    let path = try TestMedia().write(to: folder)
    let known = ContainerFacts(path).report
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    bytes.replaceSubrange(4..<8, with: Array(type.utf8))
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let facts = ContainerFacts(path)
    #expect(facts.tracks.count == 1)
    #expect(facts.report == known)
  }

  @Test("cancellation stops reading a file")
  func cancellation() throws {
    let folder = try TemporaryFolder()
    let path = try TestMedia().write(to: folder)
    #expect(ContainerFacts(path, isCancelled: { true }).report == nil)
    #expect(ContainerFacts(path, isCancelled: { true }).readingFailure == nil)
  }
}
