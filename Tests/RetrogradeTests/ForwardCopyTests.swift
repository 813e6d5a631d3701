import Foundation
import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

@Suite struct ForwardCopyTests {
  /// Reads the video packets, in file order.
  private func packets(_ path: String) throws -> [[UInt8]] {
    // Uses no parser, because a parser would insert parameter sets into the stream.
    let demuxer = path.hasSuffix("mp4") || path.hasSuffix("mov") ? "qtdemux" : "matroskademux"
    return try DecodedMedia.buffers(of: "filesrc location=\(path) ! \(demuxer)")
  }

  private func options(_ loop: Loop, count: Int = 1) -> ReverseOptions {
    var options = ReverseOptions()
    options.playback.loop = loop
    options.playback.count = count
    options.encoding.copiesForward = true
    return options
  }

  @Test("intra-only RGB VP9 can be reversed into .mp4, even if the muxer refuses the packets")
  func rgbKeyframes() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.webm")
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=d=1:r=10:s=64x48", "-pix_fmt", "gbrp", "-c:v", "libvpx-vp9", "-g", "1", path])
    try await Reverser(path).reverse(to: folder.path("b.mp4"))
    #expect(try FFmpeg.frames(folder.path("b.mp4")).count == 10)
  }

  @Test("RGB VP9 is copied into .mkv, and also into .mp4 unless the muxer refuses the packets")
  func rgb() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.webm")
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=d=1:r=10:s=64x48", "-pix_fmt", "gbrp", "-c:v", "libvpx-vp9", path])
    try await Reverser(path, options: options(.pingPong)).reverse(to: folder.path("b.mkv"))
    #expect(try FFmpeg.frames(folder.path("b.mkv")).count == 19)
    do {
      try await Reverser(path, options: options(.pingPong)).reverse(to: folder.path("b.mp4"))
      #expect(try FFmpeg.frames(folder.path("b.mp4")).count == 19)
    } catch let error as RetrogradeError {
      #expect(error.code == .usage && "\(error)".contains("does not accept this variant of VP9"), "\(error)")
    }
  }

  @Test("the forward half has the source's packets", arguments: ["boomerang.mp4", "boomerang.mkv", "boomerang.mov"])
  func forwardHalf(_ output: String) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.video = "x264enc key-int-max=20 bframes=3 b-pyramid=true pass=qual quantizer=18 ! h264parse"
    media.sampleCount = 96_000
    let source = try media.write(to: folder)
    try await Reverser(source, options: options(.pingPong)).reverse(to: folder.path(output))
    let own = try packets(source)
    let mirrored = try packets(folder.path(output))
    let isCopied = Array(mirrored.prefix(60)) == own
    #expect(own.count == 60 && mirrored.count == 119 && isCopied)
    let read = try DecodedMedia(folder.path(output), like: media)
    #expect(read.numbers == Array(0..<60) + (0..<59).reversed())
    let gaps = zip(read.times, read.times.dropFirst()).map { ($1 - $0).nanoseconds / 1_000_000 }
    #expect(gaps.allSatisfy { (32...35).contains($0) })
  }

  @Test("each forward pass of a loop contains all frames")
  func severalRounds() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(20, rate: 25)
    let source = try media.write(to: folder)
    let round = Array(0..<20) + (1..<19).reversed()
    try await Reverser(source, options: options(.pingPong, count: 2)).reverse(to: folder.path("a.mp4"))
    #expect(try DecodedMedia(folder.path("a.mp4"), like: media).numbers == round + Array(0..<20) + (0..<19).reversed())
    try await Reverser(source, options: options(.reverseForward)).reverse(to: folder.path("b.mkv"))
    #expect(try DecodedMedia(folder.path("b.mkv"), like: media).numbers == (1..<20).reversed() + Array(0..<20))
  }

  @Test("VP9 packets are copied")
  func vp9() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.video = "vp9enc deadline=1 cpu-used=8 keyframe-max-dist=20"
    media.muxer = "webmmux"
    media.name = "s.webm"
    let source = try media.write(to: folder)
    try await Reverser(source, options: options(.pingPong)).reverse(to: folder.path("a.webm"))
    #expect(try Array(packets(folder.path("a.webm")).prefix(60)) == packets(source))
    #expect(try DecodedMedia(folder.path("a.webm"), like: media).numbers == Array(0..<60) + (0..<59).reversed())
  }

  @Test("a copy that is not possible is refused with the reason")
  func refusedCopies() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.frameRate = "30/1"
    let source = try media.write(to: folder)
    for (output, why) in [("a.webm", "would not be"), ("a.ts", "MP4, MOV, Matroska")] {
      let error = await #expect(throws: RetrogradeError.self) {
        try await Reverser(source, options: options(.pingPong)).reverse(to: folder.path(output))
      }
      #expect(error?.code == .usage && error?.message.contains(why) == true, "\(error?.message ?? "")")
    }
    var drawn = Reverser(source, options: options(.pingPong))
    drawn.overlay = { _, _ in }
    await #expect(throws: RetrogradeError.self) { try await drawn.reverse(to: folder.path("a.mp4")) }
    #expect(folder.names == ["source.mkv"])
  }

  @Test("parameter sets are joined only if their IDs differ")
  func joinedParameterSets() throws {
    // SPS 0 and PPS 0 are from one encoder, SPS 1 and PPS 1 from another.
    let first = try #require(
      ParameterSets([1, 77, 64, 31, 255, 225, 0, 5, 0x67, 77, 64, 31, 0x80, 1, 0, 2, 0x68, 0xC0]))
    #expect(first.freeNumber == 1)
    let second = try #require(
      ParameterSets([1, 100, 0, 40, 255, 225, 0, 5, 0x67, 100, 0, 40, 0x40, 1, 0, 2, 0x68, 0x50]))
    let joined = try #require(first.joined(with: second))
    #expect(joined.record.prefix(6) == [1, 100, 0, 40, 255, 226])
    #expect(ParameterSets(joined.record) == joined)
    #expect(first.joined(with: first) == nil)
    #expect(ParameterSets([1, 2, 3]) == nil)
    #expect(ParameterSets([1, 77, 64, 31, 255, 225, 0, 200, 1]) == nil)
  }

  @Test("DTS increase and never exceed the PTS")
  func decodeTimes() {
    var generator = SeededGenerator(8)
    for _ in 0..<200 {
      // The decode order of these GOPs differs from their display order.
      var order: [Int] = []
      while order.count < 40 {
        order += Array(order.count..<order.count + Int.random(in: 1...5, using: &generator)).reversed()
      }
      let times = order.map { ClockTime(nanoseconds: Int64($0) * 40) }
      let depth = DTSGenerator.depth(times)
      var clock = DTSGenerator(depth: depth, step: ClockTime(nanoseconds: 40))
      clock.add(times.sorted().map { $0 + clock.lead })
      let decoded = times.compactMap { _ in clock.next() }
      #expect(decoded.count == times.count)
      #expect(zip(decoded, decoded.dropFirst()).allSatisfy { $0 < $1 })
      #expect(zip(decoded, times).allSatisfy { $0 <= $1 + clock.lead })
    }
  }
}
