import Containers
import Foundation
import TestSupport
import Testing

@testable import Retrograde

@Suite("Parts that are missing in the middle of a file") struct MissingPartsTests {
  enum Fault: CaseIterable {
    case typeIsZero, allIsZero, isCalledFree, isRemoved

    func damage(_ bytes: inout Data, _ fragment: Range<Int>) {
      switch self {
      case .typeIsZero: bytes.resetBytes(in: fragment.lowerBound + 4..<fragment.lowerBound + 8)
      case .allIsZero: bytes.resetBytes(in: fragment)
      case .isCalledFree:
        bytes.replaceSubrange(fragment.lowerBound + 4..<fragment.lowerBound + 8, with: Data("free".utf8))
      case .isRemoved: bytes.removeSubrange(fragment)
      }
    }
  }

  @Test("a lost MP4 fragment is reported", arguments: Fault.allCases, ["mp4mux fragment-duration=200", ""])
  func lostFragment(_ fault: Fault, _ muxer: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("s.mp4")
    if muxer.isEmpty {
      _ = try FFmpeg.bytes(
        "-f lavfi -i testsrc=s=64x48:d=2:r=25 -f lavfi -i sine=d=2 -g 10 -c:a aac -movflags frag_keyframe".split(
          separator: " "
        ).map(String.init) + [path])
    } else {
      var media = TestMedia()
      media.name = "s.mp4"
      (media.audio, media.muxer, media.sampleCount) = ("avenc_aac ! aacparse", muxer, 96_000)
      _ = try media.write(to: folder)
    }
    #expect(try await Reverser(path).plan().warnings.isEmpty)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let boxes = Box.all(in: [UInt8](bytes)[...])
    let fragments = boxes.indices.filter { boxes[$0].type == "moof" }
    let lost = fragments[fragments.count / 2]
    let place = boxes[lost].body.lowerBound - 8
    // `isRemoved` removes the fragment's header and its media; the other faults damage only the
    // header.
    fault.damage(&bytes, place..<(fault == .isRemoved ? boxes[lost + 1] : boxes[lost]).body.upperBound)
    try bytes.write(to: URL(fileURLWithPath: path))
    let warnings = try await Reverser(path).plan().warnings
    #expect(warnings.contains { $0.code == .damaged || $0.code == .truncated }, "\(warnings)")
  }

  /// qtdemux skips a fragment that declares too many samples, and reports no error.
  @Test("an MP4 fragment that declares more samples than it lists is reported", arguments: [0, 1])
  func overlongFragment(_ number: Int) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("s.mp4")
    _ = try FFmpeg.bytes(
      "-f lavfi -i testsrc=s=64x48:d=1:r=25 -f lavfi -i sine=d=1 -g 10 -c:a aac -movflags frag_keyframe".split(
        separator: " "
      ).map(String.init) + [path])
    var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    let fragments = Box.all(in: bytes[...]).filter { $0.type == "moof" }
    let run = try #require(bytes.box("traf", "trun", in: fragments[number].body))
    bytes.replaceSubrange(run.lowerBound + 4..<run.lowerBound + 8, with: [0, 0x98, 0x96, 0x80])
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let warnings = try await Reverser(path).plan().warnings
    #expect(
      warnings.contains {
        $0.code == .damaged && $0.message.contains("packets of the fragmented MP4 are missing in 1 place")
      }, "\(warnings)")
  }

  @Test(
    "zeros in the middle of a file are reported",
    arguments: [("a.wmv", "-c:v wmv2 -c:a wmav2"), ("a.rm", "-c:v rv20 -c:a ac3 -s 176x144")])
  func zeros(_ name: String, _ codecs: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path(name)
    let text = "-f lavfi -i testsrc=s=160x120:d=2:r=25 -f lavfi -i sine=d=2:r=48000 \(codecs)"
    _ = try FFmpeg.bytes(text.split(separator: " ").map(String.init) + [path])
    // The WMA decoder does not output the last samples, and a warning reports them.
    #expect(try await Reverser(path).plan().warnings.allSatisfy { "\($0.message)".contains("WMA") })
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes.resetBytes(in: bytes.count * 45 / 100..<bytes.count * 55 / 100)
    try bytes.write(to: URL(fileURLWithPath: path))
    let warnings = try await Reverser(path).plan().warnings
    #expect(warnings.contains { $0.code == .damaged && $0.message.contains("damaged: ") }, "\(warnings)")
  }

  @Test("MJPEG frames without timestamps play at 25 fps")
  func rawMJPEG() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mjpeg")
    _ = try FFmpeg.bytes(
      "-f lavfi -i testsrc=s=64x48:d=1:r=25 -c:v mjpeg".split(separator: " ").map(String.init) + [path])
    let summary = try await Reverser(path).reverse(to: folder.path("m.mkv"))
    #expect(summary.warnings.map(\.code) == [.timesRepaired])
    #expect(try FFmpeg.frames(folder.path("m.mkv")).map(\.time) == (0..<25).map { $0 * 40 })
  }
}
