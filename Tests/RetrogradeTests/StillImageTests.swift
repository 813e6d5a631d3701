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
}
