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

  /// Returns media of audio, and of H.264 that has parameter sets only at its start.
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
}
