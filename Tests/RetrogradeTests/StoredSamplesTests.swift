import Foundation
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// PCM in WAV is read where it lies.
@Suite struct StoredSamplesTests {
  private func media(_ format: String, channels: Int) -> TestMedia {
    var media = TestMedia.audioOnly("s.wav", muxer: "wavenc", sampleCount: 150_001)
    media.audioFormat = format
    media.channels = channels
    return media
  }

  @Test(arguments: ["S16LE", "S24LE", "F32LE", "S32LE"], [1, 2, 6])
  func theMirrorHasEverySampleAndNothingGoesToTheSpool(_ format: String, _ channels: Int) async throws {
    let folder = try TemporaryFolder()
    let media = media(format, channels: channels)
    let source = try media.write(to: folder)
    #expect(try await Reverser(source).plan().spoolBytes == 0)
    try await Reverser(source).reverse(to: folder.path("o.wav"))
    let read = try DecodedMedia(folder.path("o.wav"), like: media)
    let own = try DecodedMedia(source, like: media)
    let size = channels * 8
    let isTurned =
      stride(from: 0, to: own.audio.count, by: size).reversed().flatMap { own.audio[$0..<$0 + size] } == read.audio
    #expect(own.audio.count == 150_001 * size && isTurned)
  }

  @Test func aFileThatEndsBeforeItsAudioGoesTheOldWay() async throws {
    let folder = try TemporaryFolder()
    let source = try media("S16LE", channels: 2).write(to: folder)
    let file = try #require(FileHandle(forWritingAtPath: source))
    try file.truncate(atOffset: 400_000)
    try file.close()
    let report = try await Reverser(source).plan()
    #expect(report.spoolBytes > 0 && !report.warnings.isEmpty)
  }
}
