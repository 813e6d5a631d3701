import Foundation
import MediaTime
import Retrograde
import RetrogradeEngine
import TestSupport
import Testing

@testable import Containers

/// Audio of which an MP4 or MOV file shows several parts.
@Suite struct EditListTests {
  @Test(
    "all parts of an edit list are heard", arguments: [("s.m4a", "alac"), ("s.mov", "pcm_s16le"), ("s.mov", "alac")])
  func parts(_ name: String, _ codec: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path(name)
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "aevalsrc='0.3*sin(900*t*t)|0.3*sin(3000*t-300*t*t)':s=48000:d=2", "-c:a", codec]
        + ["-movie_timescale", "1000", path])
    let all = try FFmpeg.samples(path)
    // Half a second from the beginning and from 1.1 s on, a quarter of a second of nothing between.
    try setEdits([(500, 0), (250, -1), (500, 52_800)], in: path)
    let mirror = folder.path("m.mkv")
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    let summary = try await Reverser(path, options: options).reverse(to: mirror)
    #expect(summary.warnings.isEmpty)
    let silence = [Float32](repeating: 0, count: 2 * 12_000)
    let shown = Array(all[..<48_000]) + silence + Array(all[105_600..<153_600])
    let heard = try FFmpeg.samples(mirror)
    let turned = stride(from: shown.count - 2, through: 0, by: -2).flatMap { [shown[$0], shown[$0 + 1]] }
    #expect(heard == turned)
  }

  /// Replaces the edit list of the only track.
  /// - Parameter edits: durations in milliseconds, and starts in the media; -1: nothing is shown.
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
    // The index comes last: nothing else moves.
    try Data(edited(file[...])).write(to: url)
  }
}
