import Foundation
import MediaTime
import Retrograde
import RetrogradeEngine
import TestSupport
import Testing

@testable import Containers

/// MP4 and MOV files whose edit lists show only ranges of their media.
@Suite struct EditListTests {
  @Test(
    "the audio of every edit is kept", arguments: [("s.m4a", "alac"), ("s.mov", "pcm_s16le"), ("s.mov", "alac")])
  func audioEdits(_ name: String, _ codec: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path(name)
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "aevalsrc='0.3*sin(900*t*t)|0.3*sin(3000*t-300*t*t)':s=48000:d=2", "-c:a", codec]
        + ["-movie_timescale", "1000", path])
    let all = try FFmpeg.samples(path)
    // The edits: 0.5 s from the start, 0.25 s of silence, and 0.5 s from 1.1 s.
    try setEdits([(500, 0), (250, -1), (500, 52_800)], in: path)
    let mirror = folder.path("m.mkv")
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    let summary = try await Reverser(path, options: options).reverse(to: mirror)
    #expect(summary.warnings.isEmpty)
    let silence = [Float32](repeating: 0, count: 2 * 12_000)
    let shown = Array(all[..<48_000]) + silence + Array(all[105_600..<153_600])
    let reversed = stride(from: shown.count - 2, through: 0, by: -2).flatMap { [shown[$0], shown[$0 + 1]] }
    #expect(try FFmpeg.samples(mirror) == reversed)
  }

  /// Opus predicts from packet to packet, so the packets before the edit are decoded too.
  @Test("Opus is decoded exactly from the start of an edit")
  func opusEdit() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("s.mp4")
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "aevalsrc='0.3*sin(900*t*t)+0.2*sin(2000*t)':s=48000:d=2", "-c:a", "libopus"]
        + ["-movie_timescale", "1000", path])
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    try await Reverser(path, options: options).reverse(to: folder.path("all.mkv"))
    let all = try FFmpeg.samples(folder.path("all.mkv"))
    // After 312 samples of priming, the edit begins at 0.6 s, within a packet, and lasts 1 s.
    try setEdits([(1000, 312 + 28_800)], in: path)
    let summary = try await Reverser(path, options: options).reverse(to: folder.path("m.mkv"))
    #expect(summary.warnings.isEmpty)
    try #require(all.count >= 76_800)
    #expect(try FFmpeg.samples(folder.path("m.mkv")) == Array(all.dropLast(28_800).suffix(48_000)))
  }

  /// Edits with times in milliseconds, and the numbers of the frames that these edits show.
  struct EditedVideo: Sendable {
    var edits: [(duration: Int, start: Int)]
    var shown: [Range<Int>]
  }

  private static let edited: [EditedVideo] = [
    EditedVideo(edits: [(500, 0), (500, 1000)], shown: [0..<13, 25..<38]),
    EditedVideo(edits: [(300, 200), (300, 600)], shown: [5..<13, 15..<23]),
    EditedVideo(edits: [(500, 0), (500, 0)], shown: [0..<13, 0..<13]),
  ]

  @Test("the frames of several edits are decoded correctly", arguments: edited)
  func videoEdits(_ video: EditedVideo) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mp4")
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=96x80:r=25:d=2", "-c:v", "libx264", "-bf", "2", "-g", "10"]
        + ["-video_track_timescale", "12800", "-movie_timescale", "1000", path])
    let all = try FFmpeg.frames(path).map(\.sum)
    // Because of the B-frames, the first presentation time is 80 ms in the media, so all edits are
    // moved by 80 ms.
    try setEdits(video.edits.map { ($0.duration, ($0.start + 80) * 12_800 / 1000) }, in: path)
    let mirror = folder.path("m.mkv")
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    let summary = try await Reverser(path, options: options).reverse(to: mirror)
    #expect(summary.warnings.isEmpty, "\(summary.warnings)")
    let found = try FFmpeg.frames(mirror).map { all.firstIndex(of: $0.sum) }
    #expect(found == video.shown.flatMap(Array.init).reversed())
  }

  @Test(
    "if an edit begins within a frame, the rest of this frame is shown or reported",
    arguments: ["libx264", "mjpeg"])
  func editWithinFrame(_ codec: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mov")
    let isIndependent = codec == "mjpeg"
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=96x80:r=25:d=1", "-c:v", codec] + (isIndependent ? [] : ["-bf", "2"])
        + ["-video_track_timescale", "12800", "-movie_timescale", "1000", path])
    let all = try FFmpeg.frames(path).map(\.sum)
    // The edit begins 24 ms before the end of frame 2.
    try setEdits([(500, ((isIndependent ? 0 : 80) + 96) * 12_800 / 1000)], in: path)
    for isLossless in [true, false] {
      let mirror = folder.path(isLossless ? "m.mkv" : "m.mov")
      var options = ReverseOptions()
      options.encoding.quality = isLossless ? .lossless : .source
      let summary = try await Reverser(path, options: options).reverse(to: mirror)
      #expect(summary.warnings.contains { "\($0.message)".contains("start of an edit") } == !isIndependent)
      let frames = try FFmpeg.frames(mirror)
      let shown = (isIndependent ? 2 : 3)..<15
      try #require(frames.count == shown.count)
      if isLossless { #expect(frames.map { all.firstIndex(of: $0.sum) } == shown.reversed()) }
    }
  }

  /// Replaces the edit list of the only track.
  /// - Parameter edits: duration of each edit in milliseconds, and start of the edit in the media
  ///   timescale; a start of -1 means an empty edit.
  private func setEdits(_ edits: [(duration: Int, start: Int)], in path: String) throws {
    let url = URL(fileURLWithPath: path)
    let file = [UInt8](try Data(contentsOf: url))
    func edited(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
      Box.all(in: bytes).flatMap { box -> [UInt8] in
        switch box.type {
        case "moov", "trak", "edts": Box.bytes(box.type, edited(bytes[box.body]))
        case "elst":
          Box.full(
            "elst", .big(UInt32(edits.count)),
            edits.flatMap {
              [UInt8].big(UInt32($0.duration)) + .big(UInt32(bitPattern: Int32($0.start))) + .big(UInt32(1 << 16))
            })
        default: Box.bytes(box.type, Array(bytes[box.body]))
        }
      }
    }
    // FFmpeg writes the `moov` box after the media, so media offsets do not change.
    try Data(edited(file[...])).write(to: url)
  }
}
