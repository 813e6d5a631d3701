import Foundation
import GStreamer
import MediaTime
import Quirks
import TestSupport
import Testing

@Suite("Quirks of audio and tag parsers") struct AudioParserTests {
  @Test("mpegaudioparse does not trim FFmpeg's padding")
  func padding() throws {
    let folder = try TemporaryFolder()
    var file = try FileBytes(ffmpeg(folder, "a.mp3", tone, "-c:a libmp3lame"))
    func size() throws -> Int {
      try packets(of: "filesrc location=\(file.path) ! id3demux ! mpegaudioparse ! avdec_mp3").reduce(0) {
        $0 + $1.buffer.size
      }
    }
    let ours = try size()
    // Replaces FFmpeg's name in the header with LAME's.
    let name = try #require(Data(file.bytes).range(of: Data("Lavc".utf8))?.lowerBound)
    file.bytes.replaceSubrange(name..<name + 4, with: Array("LAME".utf8))
    try file.write()
    try expect(.mpegaudioparseFFmpegPadding) { try ours > size() }
  }

  @Test("mpegaudioparse reports the file's tags as stream tags")
  func fileTags() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.mp3", tone, "-c:a libmp3lame -metadata title=name")
    try expect(.mpegaudioparseFileTags) {
      try atFirstBuffer(of: "filesrc location=\(path) ! id3demux ! mpegaudioparse") { pad, sink, _ in
        sink.drain()
        return pad.tags(global: false)?.string("title") == "name"
      }
    }
  }

  @Test("id3demux does not report chapters")
  func chaptersOfID3() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.mp3", tone, twoChapters(folder), "-map 0:a -map_chapters 1 -c:a libmp3lame")
    #expect(Data(try FileBytes(path).bytes).range(of: Data("CHAP".utf8)) != nil)
    try expect(.id3demuxChapters) {
      try atFirstBuffer(of: "filesrc location=\(path) ! id3demux") { pad, _, _ in pad.tableOfContents == nil }
    }
  }
}
