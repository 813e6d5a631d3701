import Foundation
import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// A file with a single image is a video of one frame.
@Suite struct StillImageTests {
  /// Start of a pipeline for an image that is larger than one read of filesrc. Callers append the
  /// pixel format.
  private static let raw = "videotestsrc num-buffers=1 pattern=snow ! video/x-raw,width=160,height=96,format="

  private func write(_ description: String, to path: String) throws -> String {
    try run(pipeline: "\(description) ! filesink location=\"\(path)\"")
    return path
  }

  private func frames(_ path: String, decoder: String, _ format: String) throws -> [[UInt8]] {
    try DecodedMedia.buffers(
      of: "filesrc location=\"\(path)\" blocksize=10000000 ! \(decoder) ! videoconvert ! video/x-raw,format=\(format)")
  }

  @Test("a JPEG of any pixel format is one frame", arguments: ["Y444", "Y42B", "I420", "GRAY8"])
  func jpeg(_ format: String) async throws {
    let folder = try TemporaryFolder()
    let source = try write("\(StillImageTests.raw)\(format) ! jpegenc", to: folder.path("a.jpg"))
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    let summary = try await Reverser(source, options: options).reverse(to: folder.path("m.mkv"))
    #expect(summary.frames == 1 && summary.warnings.isEmpty, "\(summary.warnings)")
    let shown = try frames(source, decoder: "jpegparse ! avdec_mjpeg", format)
    #expect(try frames(folder.path("m.mkv"), decoder: "matroskademux ! avdec_ffv1", format) == shown)
    #expect(try await Reverser(source).reverse(to: folder.path("m.mp4")).frames == 1)
  }

  @Test(
    "an image that must be decoded from a single buffer is one frame",
    arguments: ["avenc_bmp", "avenc_tiff compression-algo=raw"], ["a.bmp", "100 %d% of it.bmp"])
  func wholeImage(encoder: String, name: String) async throws {
    let folder = try TemporaryFolder()
    let format = encoder == "avenc_bmp" ? "BGR" : "RGB"
    let source = try write("\(StillImageTests.raw)\(format) ! \(encoder)", to: folder.path(name))
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    let summary = try await Reverser(source, options: options).reverse(to: folder.path("m.mkv"))
    #expect(summary.frames == 1 && summary.warnings.isEmpty, "\(summary.warnings)")
    let shown = try DecodedMedia.buffers(
      of: "\(StillImageTests.raw)\(format) ! videoconvert ! video/x-raw,format=RGB")
    #expect(try frames(folder.path("m.mkv"), decoder: "matroskademux ! avdec_ffv1", "RGB") == shown)
  }

  @Test("several images in one file are a video")
  func imageSequence() async throws {
    let folder = try TemporaryFolder()
    var bytes = Data()
    for number in 0..<3 {
      let path = try write(
        "videotestsrc num-buffers=1 pattern=\(["black", "white", "red"][number]) ! video/x-raw,width=64,height=48 ! jpegenc",
        to: folder.path("\(number).jpg"))
      bytes += try Data(contentsOf: URL(fileURLWithPath: path))
    }
    try bytes.write(to: URL(fileURLWithPath: folder.path("all.mjpeg")))
    let summary = try await Reverser(folder.path("all.mjpeg")).reverse(to: folder.path("m.mkv"))
    #expect(summary.frames == 3)
    #expect(summary.warnings.map(\.code) == [.timesRepaired])
  }

  /// Writes a JPEG with an orientation in EXIF, and with a comment.
  /// - Parameter orientation: value of the EXIF entry, from 1 to 8.
  private func photo(_ pattern: String, _ orientation: UInt8, to path: String) throws {
    _ = try write(
      "videotestsrc num-buffers=1 pattern=\(pattern) ! video/x-raw,width=64,height=48,format=I420 ! jpegenc", to: path)
    func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] { [0xFF, marker, 0, UInt8(body.count + 2)] + body }
    let exif: [UInt8] =
      Array("Exif\0\0MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    try #require(bytes.starts(with: [0xFF, 0xD8, 0xFF, 0xE0]))
    let place = 4 + (Int(bytes[4]) << 8 | Int(bytes[5]))
    bytes.insert(contentsOf: segment(0xE1, exif) + segment(0xFE, Array("a note".utf8)), at: place)
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }

  @Test("numbered JPEGs are rotated by their EXIF, like single ones", arguments: [6, 8, 5] as [UInt8])
  func numberedOrientation(_ orientation: UInt8) async throws {
    let folder = try TemporaryFolder()
    for (number, pattern) in ["snow", "smpte", "ball"].enumerated() {
      try photo(pattern, orientation, to: folder.path("\(number).jpg"))
    }
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    let source = folder.path("%d.jpg")
    let summary = try await Reverser(source, options: options).reverse(to: folder.path("m.mkv"))
    #expect(summary.frames == 3)
    var expected: [[UInt8]] = []
    for number in (0..<3).reversed() {
      let one = folder.path("one\(number).mkv")
      let single = try await Reverser(folder.path("\(number).jpg"), options: options).reverse(to: one)
      #expect(single.warnings == summary.warnings)
      expected += try frames(one, decoder: "matroskademux ! avdec_ffv1", "I420")
    }
    #expect(try frames(folder.path("m.mkv"), decoder: "matroskademux ! avdec_ffv1", "I420") == expected)
    let animation = try await Reverser(source).reverse(to: folder.path("m.webp"))
    #expect(animation.warnings.contains { "\($0.message)".contains("comment") }, "\(animation.warnings)")
    try await Reverser(source).reverse(to: folder.path("m.mp4"))
    let single = try await Reverser(folder.path("0.jpg")).plan().streams.first?.orientation
    #expect(single != nil)
    #expect(try await Reverser(folder.path("m.mp4")).plan().streams.first?.orientation == single)
  }

  @Test("numbered JPEGs with another orientation than the first one are counted")
  func otherOrientations() async throws {
    let folder = try TemporaryFolder()
    for number in 0..<4 { try photo("smpte", number == 2 ? 3 : 6, to: folder.path("\(number).jpg")) }
    let summary = try await Reverser(folder.path("%d.jpg")).reverse(to: folder.path("m.mp4"))
    let warning = summary.warnings.first { "\($0.message)".contains("the orientation of 1 of 4 images") }
    #expect(warning?.code == .detailLeftOut && warning?.count == 1, "\(summary.warnings)")
    #expect(try await Reverser(folder.path("m.mp4")).plan().streams.first?.orientation == "rotate-90")
  }
}
