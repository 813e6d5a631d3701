import Containers
import Foundation
import GStreamer
import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Transport streams that lack packets, or that list streams without any packets.
@Suite struct TransportStreamTests {
  /// The transport stream packets of a file (ISO/IEC 13818-1, 2.4.3.2).
  private struct Packets {
    private let path: String
    var all: [[UInt8]]

    init(_ path: String) throws {
      self.path = path
      let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
      all = stride(from: 0, to: bytes.count - 187, by: 188).map { Array(bytes[$0..<$0 + 188]) }
    }

    func write() throws { try Data(all.joined()).write(to: URL(fileURLWithPath: path)) }

    static func stream(_ packet: [UInt8]) -> Int { Int(packet[1] & 0x1F) << 8 | Int(packet[2]) }
    private static func payload(_ packet: [UInt8]) -> ArraySlice<UInt8> {
      packet[3] & 0x10 == 0 ? [] : packet.dropFirst(packet[3] & 0x20 == 0 ? 4 : 5 + Int(packet[4]))
    }

    /// Returns the indexes of the packets in which a PES packet of audio (0xC0) or video (0xE0)
    /// starts.
    func starts(_ kind: UInt8) -> [Int] {
      all.indices.filter { all[$0][1] & 0x40 != 0 && Packets.payload(all[$0]).starts(with: [0, 0, 1, kind]) }
    }

    /// Returns the presentation time of the PES packet that starts in a packet, relative to the
    /// first clock reference.
    func time(_ packet: Int) throws -> ClockTime {
      let field = Packets.payload(all[packet]).dropFirst(9).prefix(5).map { Int($0) }
      let shown =
        (field[0] >> 1 & 7) << 30 | field[1] << 22 | (field[2] >> 1) << 15 | field[3] << 7 | (field[4] >> 1)
      let clock = try #require(all.first { $0[3] & 0x20 != 0 && $0[4] > 6 && $0[5] & 0x10 != 0 })
      let first = clock[6..<10].reduce(0) { $0 << 8 | Int($1) } * 2 + Int(clock[10] >> 7)
      return ClockTime(sampleIndex: shown - first, rate: 90_000)
    }

    /// Returns the indexes of the packets of the same stream after `start`, up to the next PES
    /// packet.
    func rest(_ start: Int) -> [Int] {
      let stream = Packets.stream(all[start])
      let own = all.indices.dropFirst(start + 1).filter { Packets.stream(all[$0]) == stream }
      return Array(own.prefix { all[$0][1] & 0x40 == 0 })
    }
  }

  /// Returns media with audio and H.264 video. Only the start of the video has parameter sets.
  private func media() -> TestMedia {
    var media = TestMedia()
    media.video = "x264enc key-int-max=100 bframes=0 pass=qual quantizer=1 option-string=scenecut=0 ! h264parse"
    media.sampleCount = 96_000
    media.audio = "avenc_mp2 bitrate=384000 ! mpegaudioparse"
    media.muxer = "mpegtsmux"
    media.name = "s.ts"
    return media
  }

  @Test("a missing packet is reported with its exact time", arguments: [UInt8(0xC0), 0xE0])
  func missingPacket(_ kind: UInt8) async throws {
    let folder = try TemporaryFolder()
    var media = media()
    (media.width, media.height) = (320, 240)
    media.video = "x264enc key-int-max=1 pass=qual quantizer=1 ! h264parse"
    let path = try media.write(to: folder)
    #expect(try await Reverser(path).plan().warnings.isEmpty)
    var packets = try Packets(path)
    let starts = packets.starts(kind)
    let number = try #require((starts.count / 2..<starts.count - 1).first { !packets.rest(starts[$0]).isEmpty })
    let span = TimeSpan(start: try packets.time(starts[number]), end: try packets.time(starts[number + 1]))
    packets.all.remove(at: packets.rest(starts[number])[0])
    try packets.write()
    let found = try await Reverser(path).plan().warnings
    let warning = try #require(found.first { $0.message.contains("transport stream") }, "\(found)")
    #expect(warning.code == .damaged)
    #expect(warning.count == 1)
    #expect(warning.span == span)
    #expect(span.start > ClockTime(seconds: 0.5))
  }

  /// At a variable rate, x264 writes the time base, 10⁹, as the frame rate. A transport stream
  /// contains no other frame rate.
  @Test("a time base is not read as a frame rate", arguments: ["m.mp4", "m.mkv", "m.avi"])
  func timeBase(_ name: String) async throws {
    let folder = try TemporaryFolder()
    var media = media()
    (media.times, media.sampleCount) = (TestMedia.regular(50, rate: 25), 0)
    media.video = "x264enc key-int-max=10 bframes=0 pass=qual quantizer=10 option-string=scenecut=0 ! h264parse"
    let path = try media.write(to: folder)
    let summary = try await Reverser(path).start(to: folder.path(name)).summary()
    #expect(summary.warnings.isEmpty && summary.duration == .seconds(2), "\(summary)")
    let mirror = try DecodedMedia(folder.path(name), like: media)
    #expect(mirror.numbers == (0..<50).reversed())
    #expect(mirror.videoCaps?.fraction("framerate").map { $0 == (25, 1) } ?? false)
    #expect(mirror.times == (0..<50).map { ClockTime.milliseconds($0 * 40) })
  }

  /// Stream that `tsdemux` skips, with its name in the warning.
  struct SkippedStream: Sendable {
    let type: UInt8
    var descriptors: [UInt8] = []
    let name: String
  }

  private static let skipped = [
    SkippedStream(type: 0x06, name: "private data (stream_type 0x06)"),
    SkippedStream(type: 0x05, name: "private sections (stream_type 0x05)"),
    SkippedStream(type: 0x0B, name: "DSM-CC data (stream_type 0x0B)"),
    SkippedStream(type: 0xC0, name: "private data (stream_type 0xC0)"),
    SkippedStream(
      type: 0x86, descriptors: [5, 4] + Array("CUEI".utf8),
      name: "SCTE-35 splice information (stream_type 0x86, CUEI)"),
  ]

  @Test("a stream that GStreamer skips is reported once", arguments: skipped)
  func skippedStream(_ stream: SkippedStream) async throws {
    let folder = try TemporaryFolder()
    let path = try writeData(to: folder, as: stream)
    let warnings = try await Reverser(path).plan().warnings
    #expect(warnings.map(\.description) == ["left out: a track of \(stream.name)"])
    #expect(warnings.map(\.code) == [.streamLeftOut])
  }

  /// Some releases of tsdemux output a stream of metadata, and others skip it. The warnings differ.
  @Test(
    "timed metadata is reported once",
    arguments: [
      SkippedStream(type: 0x15, descriptors: [5, 4] + Array("KLVA".utf8), name: "KLV metadata"),
      SkippedStream(
        type: 0x15, descriptors: [0x26, 13, 0xFF, 0xFF] + Array("ID3 ".utf8) + [0xFF] + Array("ID3 ".utf8) + [0, 15],
        name: "ID3 metadata"),
      SkippedStream(type: 0x06, descriptors: [5, 4] + Array("KLVA".utf8), name: "meta/x-klv"),
      SkippedStream(type: 0x06, descriptors: [0x56, 5] + Array("deu".utf8) + [9, 0], name: "application/x-teletext"),
    ])
  func timedMetadata(_ stream: SkippedStream) async throws {
    let folder = try TemporaryFolder()
    let path = try writeData(to: folder, as: stream)
    let warnings = try await Reverser(path).plan().warnings
    #expect(warnings.map(\.code) == [.streamLeftOut], "\(warnings)")
    let names = [stream.name, "meta/x-"]
    #expect(warnings.allSatisfy { warning in names.contains { warning.description.contains($0) } }, "\(warnings)")
  }

  @Test("a listed data stream without packets is not reported")
  func emptyDataStream() async throws {
    let folder = try TemporaryFolder()
    let path = try writeData(to: folder, as: TransportStreamTests.skipped[0])
    var packets = try Packets(path)
    packets.all.removeAll { Packets.stream($0) == 0x101 }
    try packets.write()
    #expect(try await Reverser(path).plan().warnings.isEmpty)
  }

  /// Writes video, and a data stream on PID 0x101 that the program table declares as `stream`.
  private func writeData(to folder: TemporaryFolder, as stream: SkippedStream) throws -> String {
    let (path, data) = (folder.path("data.ts"), folder.path("data.bin"))
    try Data(repeating: 7, count: 3000).write(to: URL(fileURLWithPath: data))
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=d=1:r=10:s=64x48", "-f", "data", "-i", data, "-map", "0:v", "-map", "1"]
        + ["-c:v", "libx264", "-c:d", "copy", path])
    var packets = try Packets(path)
    for number in packets.all.indices where Packets.stream(packets.all[number]) == 0x1000 {
      // A header of four bytes and a pointer of one byte precede the table section.
      let section = Array(packets.all[number][5...])
      var table = Array(section[..<(3 + Int(section[1] & 0xF) << 8 + Int(section[2]))].dropLast(4))
      let entry = try #require(table.firstRange(of: [0x06, 0xE1, 0x01]))
      let head: [UInt8] = [stream.type, 0xE1, 0x01, 0xF0, UInt8(stream.descriptors.count)]
      table.replaceSubrange(entry.lowerBound..., with: head + stream.descriptors)
      table[2] = UInt8(table.count + 4 - 3)
      let packet = Array(packets.all[number][..<5]) + table + TransportStreamTests.checksum(table)
      packets.all[number] = packet + [UInt8](repeating: 0xFF, count: 188 - packet.count)
    }
    try packets.write()
    return path
  }

  /// CRC-32 of a table section (ISO/IEC 13818-1, annex A).
  private static func checksum(_ section: [UInt8]) -> [UInt8] {
    let sum = section.reduce(0xFFFF_FFFF as UInt32) { sum, byte in
      (0..<8).reduce(sum ^ UInt32(byte) << 24) { sum, _ in sum & 0x8000_0000 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
    }
    return withUnsafeBytes(of: sum.bigEndian, Array.init)
  }

  @Test("video without a constant frame rate is refused in AVI")
  func variableRate() async throws {
    let folder = try TemporaryFolder()
    var media = media()
    // Only the beginning has a variable rate. The end has a constant rate, so that the duration of
    // the last frame is certain.
    (media.times, media.sampleCount) = (
      (0...150).map { ClockTime.milliseconds($0 * 40 + ($0 < 40 ? $0 % 5 * 4 : 0)) }, 0
    )
    let path = try media.write(to: folder)
    await #expect(throws: RetrogradeError.self) {
      _ = try await Reverser(path).start(to: folder.path("m.avi")).summary()
    }
    _ = try await Reverser(path).start(to: folder.path("m.mp4")).summary()
    let verdict = try await Verifier(path, mirror: folder.path("m.mp4")).verify()
    #expect(verdict.checks.first { $0.subject == "times" }?.holds == true, "\(verdict)")
  }

  @Test("bytes that are not packets are reported")
  func lostBytes() async throws {
    let folder = try TemporaryFolder()
    let path = try media().write(to: folder)
    let packets = try Packets(path)
    var bytes = packets.all.flatMap { $0 }
    let middle = bytes.count / 2
    bytes.replaceSubrange(middle..<middle + 5_000, with: [UInt8](repeating: 0, count: 5_000))
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let found = try await Reverser(path).plan().warnings
    let warning = try #require(found.first { $0.message.contains("transport stream") }, "\(found)")
    let span = try #require(warning.span)
    let whole = ClockTime(seconds: 2)
    let first = try packets.time(packets.starts(0xC0)[0])
    #expect(span.start > first && span.start < span.end && span.end < first + whole)
  }

  @Test("a listed stream without packets is reported")
  func emptyStream() async throws {
    let folder = try TemporaryFolder()
    let path = try media().write(to: folder)
    var packets = try Packets(path)
    let audio = try Packets.stream(packets.all[#require(packets.starts(0xC0).first)])
    packets.all.removeAll { Packets.stream($0) == audio }
    try packets.write()
    let summary = try await Reverser(path).reverse(to: folder.path("m.mkv"))
    #expect(summary.frames == 60)
    let warning = try #require(summary.warnings.first { $0.code == .streamLeftOut }, "\(summary.warnings)")
    #expect(warning.count == 1)
    #expect(warning.message.contains("audio") && warning.message.contains("without packets"), "\(warning)")
    // There is no warning if the options leave the stream out.
    var options = ReverseOptions()
    options.playback.noAudio = true
    #expect(try await Reverser(path, options: options).plan().warnings.isEmpty)
  }

  /// tsdemux drops an incomplete PES packet. The first PES packet contains the parameter sets, and
  /// without them the parser can't read the rest of the stream.
  @Test("a stream without parameter sets is reported, even if an option applies to the stream")
  func lostParameterSets() async throws {
    let folder = try TemporaryFolder()
    let path = try media().write(to: folder)
    var packets = try Packets(path)
    let first = try #require(packets.starts(0xE0).first)
    let inside = packets.rest(first)
    try #require(!inside.isEmpty)
    packets.all.remove(at: inside[0])
    try packets.write()
    var options = ReverseOptions()
    options.encoding.preset = "ultrafast"
    let summary = try await Reverser(path, options: options).reverse(to: folder.path("m.mkv"))
    #expect(summary.frames == 0)
    #expect(try #require(summary.samples.first) > 90_000)
    let messages = summary.warnings.map(\.message)
    #expect(messages.contains { $0.contains("left out: the video stream") }, "\(messages)")
    #expect(messages.contains { $0.contains("missing in 1 place") }, "\(messages)")
    #expect(messages.contains { $0.contains("`encoding.preset`") }, "\(messages)")
  }

  @Test("the first of two concatenated files is reversed, and the second is reported")
  func joinedFiles() async throws {
    let folder = try TemporaryFolder()
    var first = media()
    first.sampleCount = 0
    let path = try first.write(to: folder)
    let end = try Packets(path)
    let last = try #require(end.starts(0xE0).map(end.time).max())
    let other = folder.path("other.ts")
    try run(
      pipeline: "mpegtsmux name=mux ! filesink location=\(other) "
        + "videotestsrc num-buffers=30 ! video/x-raw,framerate=30/1 ! avenc_mpeg4 ! mpeg4videoparse ! queue ! mux. "
        + "audiotestsrc num-buffers=40 ! audioconvert ! avenc_mp2 ! mpegaudioparse ! queue ! mux.")
    let second = try Data(contentsOf: URL(fileURLWithPath: other))
    try (Data(contentsOf: URL(fileURLWithPath: path)) + second).write(to: URL(fileURLWithPath: path))
    let summary = try await Reverser(path).reverse(to: folder.path("m.mkv"))
    #expect(try DecodedMedia(folder.path("m.mkv"), like: first).numbers == (0..<60).reversed())
    let warning = try #require(summary.warnings.first { $0.code == .streamLeftOut }, "\(summary.warnings)")
    #expect(warning.count == 2)
    #expect(abs(try #require(warning.span).start.seconds - last.seconds) < 0.001)
  }

  @Test("programs that are not read are reported")
  func otherPrograms() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("s.ts")
    try run(
      pipeline: "mpegtsmux name=mux prog-map=\"program_map,sink_65=(int)1,sink_66=(int)2\" ! filesink location=\(path) "
        + "videotestsrc num-buffers=20 ! x264enc ! queue ! mux.sink_65 "
        + "videotestsrc num-buffers=20 ! x264enc ! queue ! mux.sink_66")
    let warnings = try await Reverser(path).plan().warnings
    let warning = try #require(warnings.first, "\(warnings)")
    #expect(warnings.count == 1)
    #expect(warning.code == .streamLeftOut)
    #expect(warning.count == 1)
    #expect(warning.message.contains("1 more program"))
  }

  @Test("frames whose presentation times GStreamer discards are counted")
  func distantTimes() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("s.ts")
    _ = try FFmpeg.bytes([
      "-f", "lavfi", "-i", "testsrc2=s=64x64:r=1/10:d=60", "-c:v", "libx264", "-bf", "2", "-x264-params", "b-adapt=0",
      path,
    ])
    let summary = try await Reverser(path).reverse(to: folder.path("m.mkv"))
    #expect(
      summary.warnings.contains {
        $0.code == .detailLeftOut && $0.message.contains("more than 5 s from decoding")
      }, "\(summary.warnings)")
  }
}
