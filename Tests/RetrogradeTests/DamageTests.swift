import Foundation
import Containers
import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Files with damage in the middle, and pipelines that are merely slow.
@Suite struct DamageTests {
  private func damaged(_ warnings: [Warning]) -> [Warning] {
    warnings.filter { $0.code == .damaged }
  }

  @Test("undecodable frames are reported with any loop", arguments: [Loop.pingPong, .forward, .reverseForward])
  func undecodableFrames(_ loop: Retrograde::Loop) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.video = "vp8enc deadline=1 cpu-used=8 keyframe-max-dist=20"
    media.muxer = "webmmux"
    media.name = "s.webm"
    let path = try media.write(to: folder)
    try FFmpeg.loseSecondKeyframe(ofVP8: path)
    let backward = try await Reverser(path).reverse(to: folder.path("b.mkv"))
    let warning = try #require(damaged(backward.warnings).first)
    let lost = try #require(warning.count)
    #expect(lost > 0)
    #expect(backward.frames == 60 - lost)
    var options = ReverseOptions()
    options.playback.loop = loop
    let other = try await Reverser(path, options: options).reverse(to: folder.path("o.mkv"))
    #expect(damaged(other.warnings).contains(warning), "\(other.warnings)")
    #expect(other.frames == (loop == .forward ? 60 - lost : 2 * (60 - lost) - 1))
  }

  @Test("audio that a transport stream declares as private data is found, or reported as left out")
  func privateAudio() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.m2ts")
    // FFmpeg declares AAC in .m2ts as private data. Either the audio is found, or it is reported as
    // left out.
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc=s=64x48:r=10:d=1", "-f", "lavfi", "-i", "sine=d=1:r=48000"]
        + ["-c:v", "libx264", "-c:a", "aac", path])
    let plan = try await Reverser(path).plan()
    let hasAudio = plan.streams.contains { $0.kind == .audio }
    #expect(hasAudio != plan.warnings.contains { $0.code == .streamLeftOut }, "\(plan.warnings)")
  }

  @Test("missing transport stream packets are reported")
  func missingPackets() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.sampleCount = 96_000
    media.audio = "avenc_mp2 bitrate=384000 ! mpegaudioparse"
    media.muxer = "mpegtsmux"
    media.name = "s.ts"
    let path = try media.write(to: folder)
    #expect(damaged(try await Reverser(path).plan().warnings).isEmpty)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    // Removes a packet in which no PES packet starts, and whose successor has the same PID and also
    // contains no start (ISO/IEC 13818-1, 2.4.3.2).
    let packets = Array(stride(from: bytes.count / 2 / 188 * 188, to: bytes.count - 188, by: 188))
    let inside = try #require(
      zip(packets, packets.dropFirst()).first { first, second in
        bytes[first + 1] & 0x40 == 0 && bytes[first + 1..<first + 3] == bytes[second + 1..<second + 3]
      })
    bytes.removeSubrange(inside.0..<inside.1)
    try bytes.write(to: URL(fileURLWithPath: path))
    let warning = try #require(damaged(try await Reverser(path).plan().warnings).first)
    #expect((warning.count ?? 0) > 0)
    #expect(warning.span != nil)
  }

  /// Each read takes longer than the stall timeout.
  @Test("a slow disk is not reported as damage")
  func slowDisk() throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.times = TestMedia.regular(3, rate: 30)
    media.video = "jpegenc"
    media.muxer = "qtmux"
    media.name = "s.mov"
    let path = try media.write(to: folder)
    let topology = try Topology(
      probing: path, "filesrc location=\(path) ! identity name=source sleep-time=200000", ContainerFacts(path),
      Cancellation())
    var indexer = Indexer(
      topology: topology, playback: PlaybackOptions(), spoolDirectory: Resources.temporaryDirectory,
      cancellation: Cancellation(), progress: { _ in })
    indexer.stall = ClockTime(seconds: 0.1)
    let index = try indexer.run()
    #expect(index.video?.packets.count == 3)
    #expect(index.warnings.isEmpty)
  }

  @Test("a pipeline that stops without an error is refused before the timeout")
  func silentStop() throws {
    let folder = try TemporaryFolder()
    let path = try TestMedia().write(to: folder)
    // The valve imitates an error that parsebin does not report: no data arrives, not even EOS.
    let error = #expect(throws: RetrogradeError.self) {
      try Topology(
        probing: path, "filesrc name=source location=\(path) ! valve drop=true", ContainerFacts(path), Cancellation())
    }
    #expect(error?.code == .damagedInput)
    #expect(
      error?.message.description.contains("no streams can be found") ?? false, "not that nothing came for 10 s")
  }

  /// The decoder outputs nothing between the keyframe and the requested frame, and takes longer
  /// than the stall timeout.
  @Test("decoding from a keyframe without output is not reported as a stall")
  func silentDecoding() throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.video = "x264enc key-int-max=60 bframes=0 ! h264parse"
    let path = try media.write(to: folder)
    var recipe = DecodingRecipe(
      pipeline: "filesrc name=source location=\(path) ! qtdemux ! h264parse ! identity sleep-time=50000 ! avdec_h264 "
        + "! video/x-raw ! appsink name=video sync=false async=false max-buffers=2",
      sink: "video", source: path
    ) { _ in }
    recipe.packetCaps = nil
    let decoder = try VideoDecoder(recipe, FormatChanges(), Cancellation(), stall: ClockTime(seconds: 1))
    try decoder.start(at: ClockTime(seconds: 1.9), fromPacket: 0, .init())
    let sample = try decoder.next(Cancellation())
    #expect(try #require(sample?.streamTime) >= ClockTime(seconds: 1.8))
  }

  @Test("one undecodable audio packet is reported and leaves a gap of its length")
  func oneLostPacket() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.audio = "avenc_aac ! aacparse"
    media.sampleCount = 96_000
    let path = try media.write(to: folder)
    let whole = try await Reverser(path).reverse(to: folder.path("whole.mkv"))
    try FFmpeg.zeroPacket(40, of: "a:0", in: path)
    let damaged = try await Reverser(path).reverse(to: folder.path("damaged.mkv"))
    #expect(
      damaged.warnings.map(\.message.description).contains { $0.contains("damaged: 1 of ") }, "\(damaged.warnings)")
    #expect(damaged.samples == whole.samples)
  }

  @Test("packets before the first keyframe of a recording are reported")
  func packetsBeforeKeyframe() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.muxer = "mpegtsmux"
    media.name = "whole.ts"
    media.video = "x264enc key-int-max=20 bframes=0 option-string=scenecut=0 ! h264parse config-interval=-1"
    let whole = try Data(contentsOf: URL(fileURLWithPath: media.write(to: folder)))
    #expect(try await Reverser(folder.path("whole.ts")).plan().warnings.isEmpty)
    // The file starts at the sixth frame. The next keyframe is the 21st frame.
    let packets = stride(from: 0, to: whole.count, by: 188).map { whole[$0..<$0 + 188] }
    let starts = packets.indices.filter { number in
      let packet = packets[number]
      let identifier = Int(packet[packet.startIndex + 1] & 0x1F) << 8 | Int(packet[packet.startIndex + 2])
      return packet[packet.startIndex + 1] & 0x40 != 0 && identifier >= 0x40 && identifier < 0x1FFF
    }
    let head = packets[..<starts[0]].reduce(Data(), +)
    let rest = packets[starts[5]...].reduce(Data(), +)
    try (head + rest).write(to: URL(fileURLWithPath: folder.path("cut.ts")))
    let report = try await Reverser(folder.path("cut.ts")).plan()
    #expect(report.streams.first?.count == 40)
    let warning = try #require(report.warnings.first { $0.message.contains("before the first keyframe") })
    #expect(warning.count == 15 && warning.span != nil)
  }

  /// The file consists of two concatenated files. Only the second file has audio.
  @Test("a stream that begins mid-file is reported")
  func lateStream() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.muxer = "mpegtsmux"
    media.name = "a.ts"
    var bytes = try Data(contentsOf: URL(fileURLWithPath: media.write(to: folder)))
    media.name = "b.ts"
    media.sampleCount = 96_000
    media.audio = "avenc_mp2 ! mpegaudioparse"
    bytes += try Data(contentsOf: URL(fileURLWithPath: media.write(to: folder)))
    try bytes.write(to: URL(fileURLWithPath: folder.path("s.ts")))
    let warnings = try await Reverser(folder.path("s.ts")).plan().warnings
    let warning = try #require(warnings.first { $0.code == .streamLeftOut })
    #expect((warning.count ?? 0) > 0)
    #expect(warning.span != nil)
  }

  @Test("a second Ogg file in the same file is reported or refused")
  func chainedOgg() async throws {
    let folder = try TemporaryFolder()
    let media = TestMedia.audioOnly("a.opus", "opusenc", muxer: "oggmux")
    let one = try Data(contentsOf: URL(fileURLWithPath: media.write(to: folder)))
    try (one + one).write(to: URL(fileURLWithPath: folder.path("s.opus")))
    #expect(try await Reverser(folder.path("a.opus")).plan().warnings.isEmpty)
    do {
      let warnings = try await Reverser(folder.path("s.opus")).plan().warnings
      #expect(warnings.first?.code == .streamLeftOut)
      #expect(warnings.first?.count == 1)
    } catch let error as RetrogradeError {
      #expect(error.code == .damagedInput)
      #expect(error.message.contains("Ogg"))
    }
  }
}
