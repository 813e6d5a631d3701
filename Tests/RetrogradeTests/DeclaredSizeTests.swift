import Containers
import Foundation
import GStreamer
import TestSupport
import Testing

@testable import Images
@testable import Retrograde
@testable import RetrogradeEngine

/// Headers of a few bytes that declare huge sizes.
@Suite struct DeclaredSizeTests {
  private func big(_ number: Int, _ size: Int) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  private func animatedPNG(_ width: Int, _ height: Int, frames: Int = 1, common: Int = 0) -> [UInt8] {
    APNGChunks.signature + APNGChunks.chunk("IHDR", big(width, 4) + big(height, 4) + [8, 6, 0, 0, 0])
      + APNGChunks().count(frames)
      + APNGChunks.chunk("iCCP", [UInt8](repeating: 1, count: common))
      + APNGChunks.chunk("fcTL", big(0, 4) + big(width, 4) + big(height, 4) + big(0, 8) + [0, 1, 0, 25, 0, 0])
      + APNGChunks.chunk("IDAT", [1, 2, 3])
      + (1..<max(frames, 1)).flatMap { number in
        APNGChunks.chunk("fcTL", big(number, 4) + big(1, 4) + big(1, 4) + big(0, 8) + [0, 1, 0, 25, 0, 0])
          + APNGChunks.chunk("fdAT", big(number, 4) + [1, 2, 3])
      } + APNGChunks.end
  }

  private func animatedWebP(_ width: Int, _ height: Int) -> [UInt8] {
    func little(_ number: Int, _ size: Int) -> [UInt8] { big(number, size).reversed() }
    let body = Array("WEBPVP8X".utf8) + little(10, 4) + [2, 0, 0, 0] + little(width - 1, 3) + little(height - 1, 3)
    return Array("RIFF".utf8) + little(body.count + 40, 4) + body + [UInt8](repeating: 0, count: 40)
  }

  @Test("an animation larger than the memory budget is refused before it is read", arguments: ["a.png", "a.webp"])
  func hugeAnimation(name: String) throws {
    let folder = try TemporaryFolder()
    let bytes = name == "a.png" ? animatedPNG(16_383, 16_383) : animatedWebP(16_383, 16_383)
    try Data(bytes).write(to: URL(fileURLWithPath: folder.path(name)))
    let error = #expect(throws: RetrogradeError.self) {
      try AnimationReader(folder.path(name), Resources())
    }
    #expect(error?.code == .damagedInput)
    #expect(error?.message.contains("16383x16383") == true, "\(error?.message ?? "")")
  }

  /// A failing disk must not turn an animation into its first frame.
  @Test("an unreadable file is not treated as a still image")
  func readError() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.png")
    try Data(animatedPNG(8, 8)).write(to: URL(fileURLWithPath: path))
    let file = try #require(RandomAccessFile(path))
    #expect(file.read(file.size..<file.size + 1) == nil)
    try file.checkReading("a.png")
    #expect(truncate(path, 40) == 0)
    #expect(file.read(0..<file.size) == nil)
    let error = #expect(throws: RetrogradeError.self) { try file.checkReading("a.png") }
    #expect(error?.code == .inputOutput)
    #expect(error?.message.description == "a.png: can't be read: \(String(cString: strerror(EIO)))")
  }

  /// Decoding would need gigabytes before the budget could be checked.
  @Test("a picture larger than the memory budget is refused before it is decoded")
  func hugePicture() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.png")
    // Grey with one bit per pixel. The compressed data is invalid, so decoding would fail.
    let header = APNGChunks.chunk("IHDR", big(60_000, 4) + big(60_000, 4) + [1, 0, 0, 0, 0])
    let bytes = APNGChunks.signature + header + APNGChunks.chunk("IDAT", [1, 2, 3]) + APNGChunks.end
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let error = await #expect(throws: RetrogradeError.self) { try await Reverser(path).plan() }
    #expect(error?.code == .usage)
    #expect(error?.message.contains("a frame of this video takes at least 3.4 GiB") == true, "\(error as Any)")
  }

  /// A sparse file of 900 MiB. Reading the file would take as much memory.
  @Test("a file larger than the memory budget is refused before it is read")
  func hugeFile() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.webp")
    try Data(animatedWebP(64, 64)).write(to: URL(fileURLWithPath: path))
    try #require(truncate(path, 900 << 20) == 0)
    let error = #expect(throws: RetrogradeError.self) {
      try AnimationReader(path, Resources())
    }
    #expect(error?.code == .damagedInput)
    #expect(error?.message.contains("900 MiB") == true, "\(error?.message ?? "")")
  }

  /// A copy of the shared PNG chunks for each frame would take gigabytes.
  @Test("PNG chunks shared by all frames of an animation are stored once")
  func sharedChunks() throws {
    let animation = try #require(APNGFrames(animatedPNG(4, 4, frames: 20_000, common: 1 << 20)))
    #expect(animation.frames.count == 20_000)
    #expect(animation.frames.suffix(3).allSatisfy { $0.png.count > 1 << 20 })
  }

  @Test("a plain PNG is not treated as an animation")
  func plainPNG() {
    let plain =
      APNGChunks.signature + APNGChunks.chunk("IHDR", big(1, 4) + big(1, 4) + [8, 6, 0, 0, 0])
      + APNGChunks.chunk("IDAT", [1]) + APNGChunks().count(1) + APNGChunks.end
    func read(_ bytes: [UInt8]) -> (Range<Int>) -> [UInt8]? {
      { $0.upperBound <= bytes.count ? Array(bytes[$0]) : nil }
    }
    #expect(!APNGFrames.isAnimated(read(plain)))
    #expect(APNGFrames.isAnimated(read(animatedPNG(1, 1))))
    #expect(!APNGFrames.isAnimated(read(APNGChunks.signature)))
  }
}
