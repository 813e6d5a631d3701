import Containers
import Foundation
import Retrograde
import RetrogradeEngine
import TestSupport
import Testing

/// Data outside the streams is reversed, kept, or reported.
@Suite struct DetailTests {
  private static let frameCount = 1000

  private static func digits(_ value: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  private static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
    Array(name.utf8) + digits(body.count) + body + (body.count % 2 == 0 ? [] : [0])
  }

  private static func cue(_ identifier: Int, _ position: Int) -> [UInt8] {
    digits(identifier) + digits(position) + Array("data".utf8) + digits(0) + digits(0) + digits(position)
  }

  /// Returns a WAVE file: mono, 16 bits, 8 kHz, with `chunks` after the audio.
  private static func wave(_ chunks: [UInt8]) -> [UInt8] {
    let format: [UInt8] = [1, 0, 1, 0] + digits(8000) + digits(16000) + [2, 0, 16, 0]
    let samples = (0..<frameCount).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let body = Array("WAVE".utf8) + chunk("fmt ", format) + chunk("data", samples) + chunks
    return Array("RIFF".utf8) + digits(body.count) + body
  }

  private static let markers =
    chunk("cue ", digits(2) + cue(1, 200) + cue(2, 500))
    + chunk(
      "LIST",
      Array("adtl".utf8) + chunk("labl", digits(1) + Array("one".utf8) + [0])
        + chunk("labl", digits(2) + Array("two".utf8) + [0])
        + chunk("ltxt", digits(2) + digits(100) + Array("beat".utf8) + digits(0) + digits(0)))

  private static func write(_ bytes: [UInt8], _ folder: TemporaryFolder) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: folder.path("s.wav")))
    return folder.path("s.wav")
  }

  private static func chunks(_ path: String) throws -> [String: [UInt8]] {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    func number(_ place: Int) -> Int { (0..<4).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) } }
    #expect(number(4) == bytes.count - 8)
    var (found, place) = ([String: [UInt8]](), 12)
    while place + 8 <= bytes.count {
      let size = number(place + 4)
      found[String(decoding: bytes[place..<place + 4], as: UTF8.self)] = Array(bytes[place + 8..<place + 8 + size])
      place += 8 + size + size % 2
    }
    return found
  }

  @Test("WAVE markers and regions move to the reversed positions of their samples")
  func markersTest() async throws {
    let folder = try TemporaryFolder()
    let source = try Self.write(Self.wave(Self.markers), folder)
    let summary = try await Reverser(source).reverse(to: folder.path("m.wav"))
    #expect(summary.warnings.isEmpty)
    let markers = try #require(ContainerFacts(folder.path("m.wav")).wave).chunks.markers
    #expect(markers.map(\.frames) == [400..<500, 800..<800])
    #expect(markers.map(\.title) == ["two", "one"] && markers.map(\.identifier) == [2, 1])
    // Reversing twice restores the file.
    try await Reverser(folder.path("m.wav")).reverse(to: folder.path("n.wav"))
    #expect(try Self.chunks(folder.path("n.wav"))["cue "] == Self.chunks(source)["cue "])
  }

  @Test("markers become chapters if the container supports chapters")
  func markersToChapters() async throws {
    let folder = try TemporaryFolder()
    let source = try Self.write(Self.wave(Self.markers), folder)
    let summary = try await Reverser(source).reverse(to: folder.path("m.mka"))
    #expect(summary.warnings.isEmpty)
    let chapters = try FFmpeg.lines(["-i", folder.path("m.mka"), "-f", "ffmetadata", "-"])
    let starts = chapters.filter { $0.hasPrefix("START=") }.compactMap { Int($0.dropFirst(6)) }
    #expect(starts.count == 2 && starts[1] - starts[0] == 50_000_000)
  }

  @Test("reversed sampler loops start and end at the exact samples")
  func sampleLoops() async throws {
    let folder = try TemporaryFolder()
    let loop = Self.digits(0) + Self.digits(0) + Self.digits(100) + Self.digits(899) + Self.digits(0) + Self.digits(0)
    let head = (0..<7).flatMap { Self.digits($0 == 3 ? 60 : 0) } + Self.digits(1) + Self.digits(0)
    let source = try Self.write(Self.wave(Self.chunk("smpl", head + loop)), folder)
    let summary = try await Reverser(source).reverse(to: folder.path("m.wav"))
    #expect(summary.warnings.isEmpty)
    let written = try #require(try Self.chunks(folder.path("m.wav"))["smpl"])
    #expect(Array(written[44..<52]) == Self.digits(100) + Self.digits(899))
    let other = try await Reverser(source).reverse(to: folder.path("m.flac"))
    #expect(other.warnings.map(\.code) == [.detailLeftOut])
    #expect(other.warnings.first?.message.description.contains("smpl") == true)
  }

  @Test("broadcast WAVE fields that do not apply to the mirror are reported, and the others are kept")
  func broadcastWAVE() async throws {
    let folder = try TemporaryFolder()
    var broadcast = [UInt8](repeating: 0, count: 602)
    broadcast.replaceSubrange(0..<5, with: Array("scene".utf8))
    broadcast[338] = 7
    let production = "<BWFXML><TIMESTAMP_SAMPLES_SINCE_MIDNIGHT_LO>123</TIMESTAMP_SAMPLES_SINCE_MIDNIGHT_LO></BWFXML>"
    let all =
      Self.chunk("bext", broadcast) + Self.chunk("iXML", Array(production.utf8))
      + Self.chunk("axml", Array("<x/>".utf8)) + Self.chunk("inst", [60, 0, 0, 0, 127, 0, 127])
      + Self.chunk("LIST", Array("INFO".utf8) + Self.chunk("IENG", Array("Ann".utf8) + [0]))
    let source = try Self.write(Self.wave(all), folder)
    let summary = try await Reverser(source).reverse(to: folder.path("m.wav"))
    let text = try #require(summary.warnings.first).message.description
    #expect(summary.warnings.count == 1 && text.contains("axml"))
    #expect(text.contains("the time reference in bext") && text.contains("the time reference in iXML"))
    let chunks = try Self.chunks(folder.path("m.wav"))
    broadcast[338] = 0
    #expect(chunks["bext"] == broadcast && chunks["axml"] == nil && chunks["inst"]?.first == 60)
    #expect(String(decoding: chunks["iXML"] ?? [], as: UTF8.self).contains("MIDNIGHT_LO>0<"))
    #expect(String(decoding: chunks["LIST"] ?? [], as: UTF8.self).contains("IENG"))
    var options = ReverseOptions()
    options.output.isStrict = true
    await #expect(throws: RetrogradeError.self) {
      try await Reverser(source, options: options).reverse(to: folder.path("strict.wav"))
    }
  }

  @Test("the loop tags of game music are reversed in FLAC, and reported as lost in WAV")
  func loopComments() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes([
      "-f", "lavfi", "-i", "sine=r=8000:d=1", "-metadata", "LOOPSTART=1000", "-metadata", "LOOPLENGTH=5000",
      folder.path("s.flac"),
    ])
    let summary = try await Reverser(folder.path("s.flac")).reverse(to: folder.path("m.flac"))
    #expect(summary.warnings.isEmpty)
    let lines = try FFmpeg.lines(["-i", folder.path("m.flac"), "-f", "ffmetadata", "-"])
    #expect(lines.contains("LOOPSTART=2000") && lines.contains("LOOPLENGTH=5000"))
    let other = try await Reverser(folder.path("s.flac")).reverse(to: folder.path("m.wav"))
    #expect(other.warnings.map(\.code) == [.detailLeftOut])
  }

  private static let movie = [
    "-f", "lavfi", "-i", "testsrc=s=64x64:r=30:d=1", "-f", "lavfi", "-i", "sine=d=1", "-f", "lavfi", "-i", "sine=d=1",
    "-map", "0", "-map", "1", "-map", "2", "-metadata:s:a:0", "title=Game", "-metadata:s:a:1", "title=Mic",
  ]

  @Test("track names are kept", arguments: ["m.mp4", "m.mov", "m.mkv"])
  func trackNames(_ name: String) async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(Self.movie + [folder.path("s.mp4")])
    let summary = try await Reverser(folder.path("s.mp4")).reverse(to: folder.path(name))
    #expect(summary.warnings.isEmpty)
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path(name))))
    for title in ["Game", "Mic"] {
      // In MP4 and MOV, a track name is in a `name` box in the user data of the track.
      let text = name.hasSuffix("mkv") ? title : "name\(title)"
      #expect(bytes.firstRange(of: Array(text.utf8)) != nil)
    }
    let lossy = try await Reverser(folder.path("s.mp4")).reverse(to: folder.path("m.ts"))
    #expect(lossy.warnings.contains { $0.message.description.contains("names of the tracks") })
  }

  @Test("names of subtitle tracks are kept", arguments: ["m.mp4", "m.mov", "m.mkv"])
  func subtitleTrackNames(_ name: String) async throws {
    let folder = try TemporaryFolder()
    try Data("1\n00:00:00,100 --> 00:00:00,600\nHello\n".utf8).write(to: URL(fileURLWithPath: folder.path("a.srt")))
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc=s=64x64:r=10:d=1", "-i", folder.path("a.srt"), "-c:s", "mov_text"]
        + ["-metadata:s:s:0", "title=Signs", folder.path("s.mp4")])
    var options = ReverseOptions()
    options.output.isVerified = true
    let summary = try await Reverser(folder.path("s.mp4"), options: options).reverse(to: folder.path(name))
    #expect(summary.warnings.isEmpty)
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path(name))))
    #expect(bytes.firstRange(of: Array((name.hasSuffix("mkv") ? "Signs" : "nameSigns").utf8)) != nil)
  }

  @Test("track names are kept if the file also has a title", arguments: ["flac", "libopus", "libvorbis"])
  func trackNamesBesideTitle(_ codec: String) async throws {
    let folder = try TemporaryFolder()
    let codecs = ["-metadata", "title=Match", "-c:v", "ffv1", "-c:a", codec]
    _ = try FFmpeg.bytes(Self.movie + codecs + [folder.path("s.mkv")])
    _ = try await Reverser(folder.path("s.mkv")).reverse(to: folder.path("m.mkv"))
    let lines = try FFmpeg.lines(["-i", folder.path("m.mkv"), "-map", "0:a", "-c", "copy", "-f", "ffmetadata", "-"])
    let titles = lines.filter { $0.lowercased().hasPrefix("title=") }.map { $0.dropFirst("title=".count) }
    #expect(titles == ["Match", "Game", "Mic"])
  }

  @Test("a track name that is stored only in the handler box is kept", arguments: ["s.mp4", "s.mov"])
  func handlerNames(_ name: String) async throws {
    let folder = try TemporaryFolder()
    let streams = Self.movie.filter { !$0.contains("title=") && !$0.hasPrefix("-metadata") }
    _ = try FFmpeg.bytes(streams + ["-metadata:s:a:1", "handler_name=Commentary", folder.path(name)])
    #expect(ContainerFacts(folder.path(name)).tracks.map(\.title) == [nil, nil, "Commentary"])
    let summary = try await Reverser(folder.path(name)).reverse(to: folder.path("m.mkv"))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path("m.mkv")))
    #expect(summary.warnings.isEmpty && bytes.range(of: Data("Commentary".utf8)) != nil)
  }

  @Test("a track without packets is reported")
  func emptyTracks() async throws {
    let folder = try TemporaryFolder()
    let video = ["-f", "lavfi", "-i", "testsrc=s=64x64:r=30:d=1"]
    _ = try FFmpeg.bytes(video + video + ["-map", "0", "-map", "1", folder.path("s.mp4")])
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path("s.mp4"))))
    // Sets the entry count of each sample table of the second track to 0. `offset` is the distance
    // from the table's type to the count.
    for (table, offset) in [("stts", 4), ("stsz", 8), ("stsc", 4), ("stco", 4), ("stss", 4), ("ctts", 4)] {
      let place = try #require(bytes.ranges(of: Array(table.utf8)).last).upperBound + offset
      bytes.replaceSubrange(place..<place + 4, with: [0, 0, 0, 0])
    }
    try Data(bytes).write(to: URL(fileURLWithPath: folder.path("t.mp4")))
    let summary = try await Reverser(folder.path("t.mp4")).reverse(to: folder.path("m.mp4"))
    #expect(summary.warnings.map(\.code) == [.streamLeftOut])
    #expect(summary.warnings.first?.message.description.contains("1 of 2 video streams") == true)
  }

  @Test("a timecode track and an edit with a rate other than 1 are reported")
  func timecodeAndEditRate() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes([
      "-f", "lavfi", "-i", "testsrc=s=64x64:r=30:d=1", "-timecode", "01:00:00:00", folder.path("s.mov"),
    ])
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path("s.mov"))))
    let details = ContainerFacts(folder.path("s.mov")).details
    #expect(details.map(\.what) == ["timecode (tmcd)"])
    // Sets the rate of the first edit to 0.5.
    let edits = try #require(bytes.firstRange(of: Array("elst".utf8)))
    bytes.replaceSubrange(edits.upperBound + 16..<edits.upperBound + 20, with: [0, 0, 0x80, 0])
    try Data(bytes).write(to: URL(fileURLWithPath: folder.path("t.mov")))
    let summary = try await Reverser(folder.path("t.mov")).reverse(to: folder.path("m.mov"))
    #expect(summary.warnings.contains { $0.code == .streamLeftOut && $0.message.description.contains("timecode") })
    #expect(summary.warnings.contains { $0.code == .detailLeftOut && $0.message.description.contains("elst") })
  }

  @Test("dynamic HDR metadata is reported", arguments: [("h264", "libx264"), ("hevc", "libx265")])
  func dynamicMetadata(_ codec: String, _ encoder: String) async throws {
    let folder = try TemporaryFolder()
    let stream = folder.path("s.\(codec)")
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "testsrc2=s=128x128:r=10:d=0.5", "-c:v", encoder, "-bf", "0", stream])
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: stream)))
    // Inserts a T.35 SEI message before the first slice.
    let message: [UInt8] = [4, 8, 0xB5, 0, 0x3C, 0, 1, 4, 1, 0x40, 0x80]
    let types: [UInt8] = codec == "h264" ? [0x65] : [0x26, 0x28]
    let slice = try #require(types.compactMap { bytes.firstRange(of: [0, 0, 1, $0]) }.first)
    let header: [UInt8] = codec == "h264" ? [6] : [0x4E, 1]
    bytes.insert(contentsOf: [0, 0, 1] + header + message, at: slice.lowerBound)
    try Data(bytes).write(to: URL(fileURLWithPath: stream))
    _ = try FFmpeg.bytes(["-fflags", "+genpts", "-r", "10", "-i", stream, "-c", "copy", folder.path("s.mp4")])
    let summary = try await Reverser(folder.path("s.mp4")).reverse(to: folder.path("m.mp4"))
    #expect(summary.warnings.map(\.code) == [.detailLeftOut])
    #expect(summary.warnings.first?.message.description.contains("HDR10+") == true)
  }

  /// If no timecode is set, MPEG-2 encoders count from zero, so zero is not reported. The MXF
  /// container has another timecode, which GStreamer reads. Both timecodes of a file get one
  /// warning.
  @Test(
    "the timecode of MPEG-2 is reported unless it is zero, and that of MXF always",
    arguments: ["s.mpg", "s.ts", "s.mxf"], ["00:00:00:00", "00:00:01:00", "10:20:30:00"])
  func mpegTimecode(_ name: String, _ timecode: String) async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=1", "-c:v", "mpeg2video", "-timecode", timecode]
        + [folder.path(name)])
    let summary = try await Reverser(folder.path(name)).reverse(to: folder.path("m.mp4"))
    let isNamed = name == "s.mxf" || timecode != "00:00:00:00"
    #expect(
      summary.warnings.map(\.description) == (isNamed ? ["left out: the timecode, which can't run backwards"] : []))
  }

  @Test("CEA-608 captions in the video are reported", arguments: ["s.ts", "s.mp4", "s.h264"])
  func embeddedCaptions(_ name: String) async throws {
    let folder = try TemporaryFolder()
    let stream = folder.path("a.h264")
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc=s=128x128:r=10:d=2", "-c:v", "libx264", "-x264-params", "aud=1:bframes=0", stream])
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: stream)))
    // Inserts an SEI message with a CEA-608 byte pair after each delimiter (ATSC A/53, part 4,
    // 6.2.3).
    let message: [UInt8] = [0xB5, 0, 0x31] + Array("GA94".utf8) + [3, 0xC1, 0xFF, 0xFC, 0x94, 0x20, 0xFF]
    let unit: [UInt8] = [0, 0, 0, 1, 6, 4, UInt8(message.count)] + message + [0x80]
    let captioned = bytes.indices.flatMap { place -> [UInt8] in
      let isDelimiter = place >= 5 && Array(bytes[place - 5..<place]) == [0, 0, 0, 1, 9]
      return [bytes[place]] + (isDelimiter ? unit : [])
    }
    try Data(captioned).write(to: URL(fileURLWithPath: folder.path("s.h264")))
    if name != "s.h264" {
      _ = try FFmpeg.bytes(
        ["-fflags", "+genpts", "-r", "10", "-i", folder.path("s.h264"), "-c", "copy", folder.path(name)])
    }
    let summary = try await Reverser(folder.path(name)).reverse(to: folder.path("m.mkv"))
    #expect(summary.warnings.contains { $0.message.description.contains("CEA-608") }, "\(summary.warnings)")
  }

  @Test("AIFF markers and FLAC application blocks are reported")
  func chunksOfAIFFAndFLAC() throws {
    let folder = try TemporaryFolder()
    for name in ["s.aiff", "s.flac"] {
      _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "sine=d=0.5", folder.path(name)])
      #expect(ContainerFacts(folder.path(name)).details.isEmpty)
      var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path(name))))
      bytes +=
        name == "s.aiff" ? Array("MARK".utf8) + [0, 0, 0, 10, 0, 1, 0, 1, 0, 0, 0, 9, 1, 0x41] : []
      if name == "s.flac" { bytes.insert(contentsOf: [2, 0, 0, 4] + Array("test".utf8), at: 42) }
      try Data(bytes).write(to: URL(fileURLWithPath: folder.path(name)))
      let details = ContainerFacts(folder.path(name)).details.map(\.what)
      #expect(details.count == 1 && (details[0].contains("MARK") || details[0].contains("test")), "\(details)")
    }
  }

  @Test("sample description boxes that are written to no output are reported")
  func sampleDescriptionBoxes() throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "testsrc=s=64x64:r=30:d=1", folder.path("s.mp4")])
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path("s.mp4"))))
    #expect(ContainerFacts(folder.path("s.mp4")).details.isEmpty)
    for (box, what) in [("sv3d", "360°"), ("dvvC", "Dolby Vision"), ("lhvC", "second view"), ("zzzz", "zzzz")] {
      // Renames a box that is not needed for decoding.
      let place = try #require(bytes.firstRange(of: Array("btrt".utf8)))
      bytes.replaceSubrange(place, with: Array(box.utf8))
      try Data(bytes).write(to: URL(fileURLWithPath: folder.path("\(box).mp4")))
      let details = ContainerFacts(folder.path("\(box).mp4")).details
      #expect(details.count == 1 && details.first?.what.contains(what) == true)
      bytes.replaceSubrange(place, with: Array("btrt".utf8))
    }
  }

  @Test("an MP4 without sample durations keeps all frames, and an auxiliary movie in it is reported")
  func missingDurations() async throws {
    let folder = try TemporaryFolder()
    // Each packet contains parameter sets, so the parser flags every packet as a header. These
    // packets must still be kept.
    _ = try FFmpeg.bytes([
      "-f", "lavfi", "-i", "testsrc=s=64x64:r=25", "-frames:v", "5", "-c:v", "libx264", "-qp", "0",
      "-x264-params", "keyint=1:repeat-headers=1", folder.path("s.mp4"),
    ])
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path("s.mp4"))))
    let durations = try #require(bytes.firstRange(of: Array("stts".utf8)))
    bytes.replaceSubrange(durations.upperBound + 12..<durations.upperBound + 16, with: [0, 0, 0, 0])
    let length = bytes.count + 8
    let size = (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) }
    try Data(bytes + size + Array("axte".utf8) + bytes).write(to: URL(fileURLWithPath: folder.path("t.mp4")))
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    let summary = try await Reverser(folder.path("t.mp4"), options: options).reverse(to: folder.path("m.mkv"))
    #expect(summary.frames == 5)
    #expect(summary.warnings.contains { $0.code == .streamLeftOut && $0.message.description.contains("axte") })
    let source = try FFmpeg.frames(folder.path("s.mp4")).map(\.sum)
    #expect(try FFmpeg.frames(folder.path("m.mkv")).map(\.sum) == source.reversed())
  }
}
