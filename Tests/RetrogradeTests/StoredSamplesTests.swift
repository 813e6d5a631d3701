import Containers
import Foundation
import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// PCM is read directly from the source file if the container declares the position of the samples.
@Suite struct StoredSamplesTests {
  private func media(_ format: String, channels: Int) -> TestMedia {
    var media = TestMedia.audioOnly("s.wav", muxer: "wavenc", sampleCount: 150_001)
    media.audioFormat = format
    media.channels = channels
    return media
  }

  @Test(
    "every sample of PCM is reversed without the spool", arguments: ["S16LE", "S24LE", "F32LE", "S32LE"], [1, 2, 6])
  func waveFile(_ format: String, _ channels: Int) async throws {
    let folder = try TemporaryFolder()
    let media = media(format, channels: channels)
    let source = try media.write(to: folder)
    #expect(try await Reverser(source).plan().spoolBytes == 0)
    try await Reverser(source).reverse(to: folder.path("o.wav"))
    let read = try DecodedMedia(folder.path("o.wav"), like: media)
    let own = try DecodedMedia(source, like: media)
    let size = channels * 8
    let isReversed =
      stride(from: 0, to: own.audio.count, by: size).reversed().flatMap { own.audio[$0..<$0 + size] } == read.audio
    #expect(own.audio.count == 150_001 * size && isReversed)
  }

  @Test("a truncated WAVE file is read through the spool")
  func truncatedWAVE() async throws {
    let folder = try TemporaryFolder()
    let source = try media("S16LE", channels: 2).write(to: folder)
    let file = try #require(FileHandle(forWritingAtPath: source))
    try file.truncate(atOffset: 400_000)
    try file.close()
    let report = try await Reverser(source).plan()
    #expect(report.spoolBytes > 0 && !report.warnings.isEmpty)
  }

  @Test(
    "PCM in other containers is reversed without the spool",
    arguments: [
      ("s.mov", "qtmux", "S16LE"), ("s.mov", "qtmux", "S24LE"), ("s.w64", "avmux_w64", "S16LE"),
      ("s.mkv", "matroskamux", "S24LE"), ("s.avi", "avimux", "S16LE"),
    ])
  func otherContainers(_ name: String, _ muxer: String, _ format: String) async throws {
    let folder = try TemporaryFolder()
    var media = media(format, channels: 2)
    // QuickTime edits and Wave64 chunks are rounded. This length needs no rounding.
    media.sampleCount = 150_000
    let plain = try DecodedMedia(media.write(to: folder), like: media).audio
    (media.name, media.muxer) = (name, muxer)
    let source = try media.write(to: folder)
    #expect(try await Reverser(source).plan().spoolBytes == 0)
    try await Reverser(source).reverse(to: folder.path("o.wav"))
    let mirror = try DecodedMedia(folder.path("o.wav"), like: media).audio
    #expect(mirror.count == 150_000 * 16)
    #expect(mirror == reversed(plain))
  }

  @Test(
    "reversing PCM twice restores it in any container",
    arguments: [("o.mkv", "matroskamux"), ("o.mov", "qtmux"), ("o.avi", "avimux")])
  func reversedTwice(_ name: String, _ muxer: String) async throws {
    let folder = try TemporaryFolder()
    var media = media("S16LE", channels: 2)
    media.sampleCount = 150_000
    let source = try media.write(to: folder)
    try await Reverser(source).reverse(to: folder.path(name))
    try await Reverser(folder.path(name)).reverse(to: folder.path("back.wav"))
    #expect(
      try DecodedMedia(folder.path("back.wav"), like: media).audio == DecodedMedia(source, like: media).audio)
  }

  @Test("AVI with other packets between its audio packets is read packet by packet")
  func mixedAVI() throws {
    let folder = try TemporaryFolder()
    var media = media("S16LE", channels: 2)
    (media.name, media.muxer) = ("s.avi", "avimux")
    let source = try media.write(to: folder)
    #expect(ContainerFacts(source).tracks.first?.stored?.count == 150_001)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: source))
    let first = try #require(bytes.range(of: Data("00wb".utf8)))
    let second = try #require(bytes.range(of: Data("00wb".utf8), in: first.upperBound..<bytes.count))
    bytes.replaceSubrange(second, with: Data("01wb".utf8))
    try bytes.write(to: URL(fileURLWithPath: source))
    #expect(ContainerFacts(source).tracks.allSatisfy { $0.stored == nil })
  }

  @Test("PCM stays in sync with the video", arguments: [0, 500])
  func videoSync(_ milliseconds: Int64) async throws {
    let start = ClockTime(nanoseconds: milliseconds * 1_000_000)
    let folder = try TemporaryFolder()
    var media = TestMedia()
    (media.name, media.muxer, media.audio) = ("s.mov", "qtmux", "identity")
    media.video = "jpegenc quality=95"
    (media.sampleCount, media.audioStart) = (60_000, start)
    let source = try media.write(to: folder)
    #expect(try await Reverser(source).plan().spoolBytes == 0)
    try await Reverser(source).reverse(to: folder.path("o.mov"))
    let mirror = try DecodedMedia(folder.path("o.mov"), like: media)
    #expect(try mirror.audio == reversed(DecodedMedia(source, like: media).audio))
    // The video has a duration of 2 s, the audio of 1.25 s.
    let late = try #require(mirror.audioStart) - (ClockTime(nanoseconds: 750_000_000) - start)
    #expect(abs(late.nanoseconds) < 1_000_000_000 / 48_000)
    #expect(mirror.numbers == (0..<media.frameCount).reversed())
  }

  @Test(
    "a truncated movie is read through the spool", arguments: [("s.mov", "qtmux faststart=true"), ("s.avi", "avimux")])
  func truncatedMovie(_ name: String, _ muxer: String) async throws {
    let folder = try TemporaryFolder()
    var media = media("S16LE", channels: 2)
    (media.name, media.muxer) = (name, muxer)
    let source = try media.write(to: folder)
    let file = try #require(FileHandle(forWritingAtPath: source))
    try file.truncate(atOffset: 400_000)
    try file.close()
    let report = try await Reverser(source).plan()
    #expect(report.spoolBytes > 0 && !report.warnings.isEmpty)
  }

  /// Returns sample frames of two channels in reverse order.
  private func reversed(_ samples: [UInt8]) -> [UInt8] {
    stride(from: 0, to: samples.count, by: 16).reversed().flatMap { samples[$0..<$0 + 16] }
  }
}
