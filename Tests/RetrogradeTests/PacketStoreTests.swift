import Foundation
import GStreamer
import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Windows (frames that are decoded forwards and output in reverse) that are decoded from stored
/// packets, without a seek of the demuxer.
@Suite("Windows decoded from stored packets") struct PacketStoreTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var name: String
    var codec: String
    /// True if windows are always decoded from stored packets, and seeks of the demuxer are not
    /// tried.
    var isAlwaysStored: Bool
    /// True if only the decoder knows the presentation times.
    var needsDecodedTimes: Bool

    init(_ name: String, _ codec: String, isAlwaysStored: Bool = true, needsDecodedTimes: Bool = false) {
      testDescription = "\(name): \(codec)"
      (self.name, self.codec) = (name, codec)
      (self.isAlwaysStored, self.needsDecodedTimes) = (isAlwaysStored, needsDecodedTimes)
    }

    func write(to folder: TemporaryFolder) throws -> String {
      let path = folder.path(name)
      let isPiped = name.hasPrefix("piped")
      let written = try FFmpeg.bytes(
        "-f lavfi -i testsrc2=s=192x128:d=4:r=25 -pix_fmt yuv420p \(codec)".split(separator: " ").map(String.init)
          + (isPiped ? ["-f", "matroska", "pipe:"] : [path]))
      if isPiped { try Data(written).write(to: URL(fileURLWithPath: path)) }
      return path
    }
  }

  private static let x264 = "-c:v libx264 -preset ultrafast -bf 2 -g 20"
  private static let cases = [
    Case("a.ts", x264),
    Case("open.ts", "-c:v libx264 -preset veryfast -x264-params open-gop=1:keyint=20:bframes=3"),
    Case("hevc.ts", "-c:v libx265 -preset ultrafast -x265-params keyint=20:open-gop=1:bframes=3:log-level=none"),
    Case("mpeg2.ts", "-c:v mpeg2video -bf 2 -g 12 -qscale 2", needsDecodedTimes: true),
    Case("a.h264", "-c:v libx264 -preset ultrafast -bf 0 -g 20"), Case("b.h264", x264, needsDecodedTimes: true),
    Case("a.mpg", "-c:v mpeg2video -g 12 -qscale 2", needsDecodedTimes: true),
    Case("b.mpg", "-c:v mpeg2video -bf 2 -g 12 -qscale 2", needsDecodedTimes: true),
    Case("a.m2v", "-c:v mpeg2video -bf 2 -g 12 -qscale 2", needsDecodedTimes: true),
    // Matroska without cues.
    Case("piped.mkv", x264),
    Case("a.mp4", x264, isAlwaysStored: false),
    Case("a.mkv", x264, isAlwaysStored: false),
  ]

  private func indexed(_ path: String) throws -> (video: VideoIndex, recipe: DecodingRecipe) {
    let settings = PlaybackSettings(
      PlaybackOptions(), count: 1, resources: Resources(), cancellation: Cancellation())
    let index = try OpenedSource(path, settings).indexer(settings).run()
    return (try #require(index.video), try #require(index.recipe))
  }

  private func hashes(_ video: VideoIndex, _ recipe: DecodingRecipe, from store: PacketStore?) throws -> [UInt64] {
    let decoder = try VideoDecoder(recipe, FormatChanges(), from: store, Cancellation())
    defer { decoder.close() }
    var hashes: [UInt64] = []
    while let sample = try decoder.next(Cancellation()) { hashes.append(try sample.buffer.pixelHash(decoder.caps)) }
    return hashes
  }

  @Test("each window contains the same frames as a sequential decode", arguments: cases)
  func windows(_ source: Case) throws {
    let folder = try TemporaryFolder()
    var (video, recipe) = try indexed(source.write(to: folder))
    #expect(recipe.estimatesSeekPositions == source.isAlwaysStored)
    let plain = try hashes(video, recipe, from: nil)
    var store = try #require(try PacketStore.read(video, recipe, folder.url.path, Cancellation()))
    if source.needsDecodedTimes {
      video = try #require(try DecodedTimes(video, store, recipe, Cancellation())).video
      store = store.timed(by: video)
    }
    let starts = try #require(video.starts)
    #expect(video.keyframes.count >= 5 && starts.count == plain.count)
    let decoder = try VideoDecoder(recipe, FormatChanges(), from: store, Cancellation())
    let ends = video.keyframes.dropFirst() + [starts.count]
    for (keyframe, end) in zip(video.keyframes, ends).reversed() {
      let window = try decoder.decode(
        Window(frames: keyframe..<end, keyframe: keyframe, spooled: 0), of: video, spool: nil, budget: 1 << 30,
        gauge: MemoryGauge(), Cancellation())
      let found = try (0..<window.count).map { try window.frame(at: $0).pixelHash(decoder.caps) }
      #expect(found == Array(plain[keyframe..<end]), "\(keyframe)..<\(end)")
    }
  }

  @Test(
    "a container without an index is decoded in windows",
    arguments: cases.filter(\.isAlwaysStored))
  func method(_ source: Case) async throws {
    let folder = try TemporaryFolder()
    let path = try source.write(to: folder)
    #expect(try await Reverser(path).plan().plan?.method == .windows)
  }

  /// The chunks use the presentation times that the decoder found and that `plan.json` contains.
  @Test("chunks contain the same frames as a reversal in one run", arguments: ["a.mpg", "a.m2v"])
  func chunks(name: String) async throws {
    let folder = try TemporaryFolder()
    let source = Case(name, "-c:v mpeg2video -bf 2 -g 12 -qscale 2")
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    let reverser = Reverser(try source.write(to: folder), options: options)
    try await reverser.reverse(to: folder.path("whole.mkv"))
    _ = try await reverser.start(to: folder.path("chunks.mkv"), in: folder.path("work"), chunks: .count(3)).summary()
    #expect(
      try FFmpeg.frames(folder.path("chunks.mkv")).map(\.sum) == FFmpeg.frames(folder.path("whole.mkv")).map(\.sum))
  }

  @Test("packets that do not match the index are not used")
  func otherPackets() throws {
    let folder = try TemporaryFolder()
    let (video, _) = try indexed(Case("a.ts", Self.x264).write(to: folder))
    let (_, other) = try indexed(Case("b.ts", "\(Self.x264) -t 2").write(to: folder))
    #expect(try PacketStore.read(video, other, folder.url.path, Cancellation()) == nil)
  }
}
