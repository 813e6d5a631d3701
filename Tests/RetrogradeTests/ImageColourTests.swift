import Foundation
import Retrograde
import TestSupport
import Testing

/// Colours in image formats that prescribe a matrix and a range.
@Suite struct ImageColourTests {
  private let folder: TemporaryFolder
  private let red: [UInt8] = [0xCC, 0x33, 0x22]
  private static let bare = "video/x-raw,format=I420,width=64,height=48,framerate=25/1"

  init() throws { folder = try TemporaryFolder() }

  /// Writes a red video of limited range.
  /// - Parameter colours: colorimetry in the header; nil for none. Players then assume BT.601 for a
  ///   video of this size.
  private func film(_ colours: String?) throws -> String {
    let path = folder.path("red.mkv")
    try run(
      pipeline: "videotestsrc num-buffers=3 pattern=solid-color foreground-color=0xffcc3322 ! "
        + "video/x-raw,format=I420,width=64,height=48,framerate=25/1,colorimetry=\(colours ?? "bt601") ! "
        + (colours == nil ? "capssetter replace=true caps=\(Self.bare) ! " : "") + "avenc_ffv1 ! matroskamux ! "
        + "filesink location=\(path)")
    return path
  }

  private func expectRed(_ path: String) throws {
    let bytes = try FFmpeg.bytes(["-i", path, "-frames:v", "1", "-pix_fmt", "rgb24", "-f", "rawvideo", "-"])
    #expect(bytes.count == 64 * 48 * 3)
    let farthest = bytes.indices.map { abs(Int(bytes[$0]) - Int(red[$0 % 3])) }.max() ?? 255
    // The tolerance covers lossy coding and YUV rounding. A wrong range or matrix differs by at
    // least 13.
    #expect(farthest <= 8, "\(path)")
  }

  @Test(
    "MJPEG output is the same in each run, even if blocks reach beyond the frame",
    arguments: [("yuv422p", "ffv1"), ("yuyv422", "rawvideo"), ("gray", "ffv1")])
  func unfilledBlocks(format: String, codec: String) async throws {
    let source = folder.path("s.mkv")
    _ = try FFmpeg.bytes([
      "-f", "lavfi", "-i", "testsrc2=s=98x50:r=25:d=0.4", "-pix_fmt", format, "-c:v", codec, source,
    ])
    var options = ReverseOptions()
    options.encoding.videoCodec = "mjpeg"
    var files: Set<Data> = []
    for run in 1...3 {
      try await Reverser(source, options: options).reverse(to: folder.path("\(run).avi"))
      files.insert(try Data(contentsOf: URL(fileURLWithPath: folder.path("\(run).avi"))))
    }
    #expect(files.count == 1)
  }

  @Test("frames are converted to JPEG's colorimetry", arguments: ["avi", "mov", "mkv"], ["bt709", nil])
  func motionJPEG(container: String, colours: String?) async throws {
    var options = ReverseOptions()
    options.encoding.videoCodec = "mjpeg"
    let (source, mirror) = (try film(colours), folder.path("der.\(container)"))
    try await Reverser(source, options: options).reverse(to: mirror)
    try expectRed(mirror)
    #expect(try await Verifier(source, mirror: mirror, options: options).verify().isMirror)
  }

  @Test("MJPEG keeps colours that RGB cannot represent")
  func coloursOutsideRGB() async throws {
    let (source, mirror) = (folder.path("s.mkv"), folder.path("o.avi"))
    _ = try FFmpeg.bytes([
      "-f", "lavfi", "-i", "color=s=64x48:r=25:d=0.2,format=yuv420p,geq=lum=60:cb=220:cr=60", "-c:v", "ffv1", source,
    ])
    var options = ReverseOptions()
    options.encoding.videoCodec = "mjpeg"
    try await Reverser(source, options: options).reverse(to: mirror)
    let bytes = try FFmpeg.bytes(["-i", mirror, "-frames:v", "1", "-pix_fmt", "yuvj420p", "-f", "rawvideo", "-"])
    let size = 64 * 48 * 3 / 2
    try #require(bytes.count == size)
    // The source's levels in full range, with a tolerance for lossy coding.
    for (place, level) in [(0, 51), (64 * 48, 233), (64 * 48 * 5 / 4, 51)] {
      #expect(abs(Int(bytes[place]) - level) <= 2, "\(bytes[place]) instead of \(level)")
    }
    #expect(try await Verifier(source, mirror: mirror, options: options).verify().isMirror)
  }

  @Test("full range becomes the limited range of Theora")
  func theora() async throws {
    let (source, mirror) = (folder.path("s.avi"), folder.path("o.ogv"))
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "color=white:s=64x48:r=25:d=0.2", "-c:v", "mjpeg", "-q:v", "2", source])
    try await Reverser(source).reverse(to: mirror)
    let white = try #require(
      FFmpeg.bytes(["-i", mirror, "-frames:v", "1", "-pix_fmt", "yuv420p", "-f", "rawvideo", "-"]).first)
    #expect(abs(Int(white) - 235) <= 1)
    #expect(try await Verifier(source, mirror: mirror).verify().isMirror)
  }

  @Test(
    "images are converted to their format's colorimetry", arguments: ["jpg", "webp", "png", "tiff", "bmp"],
    ["bt709", nil])
  func images(format: String, colours: String?) async throws {
    let picture = folder.path("red.\(format)")
    try await FrameGrab(try film(colours), at: [.start]).write(to: picture)
    try expectRed(picture)
  }
}
