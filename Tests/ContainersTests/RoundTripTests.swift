import Containers
import Foundation
import MediaTime
import TestSupport
import Testing

/// What a writer puts into a file, its reader finds there.
@Suite struct RoundTripTests {
  @Test(arguments: ["mp4mux", "qtmux"])
  func mp4HeadersAreReadAsTheyAreWritten(muxer: String) throws {
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
    header.audio = [.init(priming: 1024, heard: 47_000, rate: 48_000, isEnabled: true)]
    try header.apply(to: path)
    let facts = ContainerFacts(path)
    #expect(facts.chapters.map(\.title) == ["Eins", "日本"])
    #expect(facts.chapters.map(\.start) == [.zero, ClockTime(seconds: 1)])
    let video = try #require(facts.tracks.first { $0.kind == .video })
    // A kind of which nothing is enabled is not played at all.
    #expect(video.orientation == "flip-rotate-90" && video.disposition?.isDefault == true)
    #expect(facts.tracks.first { $0.kind == .audio }?.disposition?.isDefault == true)
    #expect(facts.report?.streams.first { $0.kind == .video }?.frames == media.frameCount)
    #expect(facts.report?.presentationEnd == end && facts.report?.isCut == false)
  }

  @Test func matroskaHeadersAreReadAsTheyAreWritten() throws {
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

  @Test func mp3HeadersAreReadAsTheyAreWritten() throws {
    let folder = try TemporaryFolder()
    let path = try TestMedia.audioOnly("a.mp3", "lamemp3enc ! mpegaudioparse", muxer: "xingmux").write(to: folder)
    try MP3Header(priming: 1105, heard: 47_000).apply(to: path)
    let gapless = try #require(ContainerFacts(path).gapless)
    #expect(gapless.delay == ClockTime(sampleIndex: 1105, rate: 48_000))
    #expect(gapless.duration == ClockTime(sampleIndex: 47_000, rate: 48_000))
  }

  @Test(arguments: [0, 1, 126, 127, 128, 16_382, 16_383, 20_000])
  func elementsAreReadAsTheyAreWritten(count: Int) throws {
    let element = EBMLElement(id: 0x1A45_DFA3, bytes: [UInt8](repeating: 7, count: count))
    let other = EBMLElement(id: 0xEC, number: 1 << 40)
    let read = EBMLElement.all(in: element.encoded + other.encoded)
    #expect(read.map(\.id) == [element.id, other.id])
    #expect(read.map(\.bytes) == [element.bytes, other.bytes])
    #expect(read.last?.number == 1 << 40)
  }

  @Test func aNewFileHasNoHeaderToPutRight() throws {
    let folder = try TemporaryFolder()
    #expect(throws: FileError.self) { try MP4Header().apply(to: folder.path("nothing.mp4")) }
    try Data(box("ftyp", bytes("isom", UInt32(0)))).write(to: URL(fileURLWithPath: folder.path("a.mp4")))
    let error = #expect(throws: FileError.self) { try MP4Header().apply(to: folder.path("a.mp4")) }
    #expect(error?.missing.contains("moov") == true)
  }

  /// Wherever a file ends, it says that it is cut, or less than the whole says.
  @Test(arguments: ["mp4mux a.mp4", "matroskamux a.mkv", "avimux a.avi", "flvmux a.flv"])
  func aFileMayEndAnywhere(_ kind: String) throws {
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

  /// qtdemux reads all of these, and without the index's corrections loses the last packet.
  @Test(arguments: ["free", "skip", "wide", "uuid", "pnot", "PICT"])
  func anMP4MayBeginWithAnyBox(_ type: String) throws {
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

  @Test func nothingMoreIsReadOfAFileWhenItIsCancelled() throws {
    let folder = try TemporaryFolder()
    let path = try TestMedia().write(to: folder)
    #expect(ContainerFacts(path, isCancelled: { true }).report == nil)
    #expect(ContainerFacts(path, isCancelled: { true }).readingFailure == nil)
  }
}
