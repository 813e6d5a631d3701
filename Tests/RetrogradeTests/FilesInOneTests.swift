import Foundation
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Concatenated files, as `cat` writes them.
@Suite struct FilesInOneTests {
  struct Kind: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var options: [String]

    init(_ name: String, _ options: String) {
      testDescription = name
      self.options = options.split(separator: " ").map(String.init)
    }
  }

  static let kinds = [
    Kind("a.mkv", "-c:v libx264 -c:a libvorbis"), Kind("a.webm", "-c:v libvpx -deadline realtime -c:a libopus"),
    Kind("a.mp4", "-c:v libx264"), Kind("a.mov", "-c:v libx264 -c:a pcm_s16le"), Kind("a.avi", "-c:v mpeg4 -c:a mp3"),
    Kind("a.wmv", ""), Kind("a.aiff", "-vn"), Kind("a.voc", "-vn"), Kind("a.apng", "-an"), Kind("a.webp", "-an"),
  ]

  private func write(_ kind: Kind, to folder: borrowing TemporaryFolder) throws -> (path: String, Data) {
    let path = folder.path(kind.testDescription)
    let source = [
      "-f", "lavfi", "-i", "testsrc2=d=1:r=10:s=64x48", "-f", "lavfi", "-i", "sine=d=1:r=48000",
    ]
    _ = try FFmpeg.bytes(source + kind.options + [path])
    return (path, try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  @Test("the first file is reversed, and the others are reported", arguments: kinds)
  func concatenatedFiles(_ kind: Kind) async throws {
    let folder = try TemporaryFolder()
    let (path, whole) = try write(kind, to: folder)
    let first = try await Reverser(path).reverse(to: folder.path("first.mkv"))
    #expect(!first.warnings.contains { $0.message.contains("files joined together") })
    try (whole + whole).write(to: URL(fileURLWithPath: path))
    let mirror = try await Reverser(path).reverse(to: folder.path("mirror.mkv"))
    let warning = try #require(mirror.warnings.first { $0.message.contains("files joined together") })
    #expect(warning.message.contains("split it at byte \(whole.count)"))
    #expect(mirror.frames == first.frames && mirror.samples == first.samples)
    #expect(mirror.duration == first.duration)
  }

  /// An MP4 may have its `ftyp` box after `moov`.
  @Test("an `ftyp` box after `moov` does not count as a second file")
  func typeAfterIndex() async throws {
    let folder = try TemporaryFolder()
    let (path, whole) = try write(Kind("a.mp4", "-c:v libx264"), to: folder)
    let size = Int(whole[3])
    let type = whole[..<size]
    try (type[..<4] + Data("free".utf8) + whole[8...] + type).write(to: URL(fileURLWithPath: path))
    let mirror = try await Reverser(path).reverse(to: folder.path("mirror.mkv"))
    #expect(!mirror.warnings.contains { $0.message.contains("files joined together") })
  }

  /// `IEND` marks the end of a PNG.
  @Test("bytes after an animation are ignored")
  func trailingBytes() async throws {
    let folder = try TemporaryFolder()
    let (path, whole) = try write(Kind("a.apng", "-an"), to: folder)
    try (whole + Data(count: 40)).write(to: URL(fileURLWithPath: path))
    #expect(try await Reverser(path).reverse(to: folder.path("a.mkv")).frames == 10)
  }

  @Test("a truncated animation is reported")
  func truncatedAnimation() async throws {
    let folder = try TemporaryFolder()
    let (path, whole) = try write(Kind("a.apng", "-an"), to: folder)
    try whole.dropLast(40).write(to: URL(fileURLWithPath: path))
    let mirror = try await Reverser(path).reverse(to: folder.path("a.mkv"))
    #expect(mirror.frames == 9)
    #expect(mirror.warnings.contains { $0.code == .truncated && $0.count == 1 })
  }
}
