import Foundation
import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Overlays and subtitle files are the same with chunks as without chunks.
@Suite struct ChunkExtrasTests {
  private let folder: TemporaryFolder
  private let source: String
  private let work: String

  init() throws {
    folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(30, rate: 30)
    media.video = "x264enc key-int-max=10 speed-preset=ultrafast ! h264parse"
    source = try media.write(to: folder)
    work = folder.path("work")
  }

  private func run(_ options: ReverseOptions, _ name: String, isInChunks: Bool) async throws {
    let reverser = Reverser(source, options: options)
    let reversal =
      isInChunks
      ? reverser.start(to: folder.path(name), in: work, jobs: 2, chunks: .about(.seconds(0.3)))
      : reverser.start(to: folder.path(name))
    _ = try await reversal.summary()
  }

  private func text(_ name: String) throws -> String { try String(contentsOfFile: folder.path(name), encoding: .utf8) }

  /// The timecode gives each frame a different text.
  @Test("captions are the same with chunks as without chunks")
  func captions() async throws {
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    options.playback.loop = .pingPong
    options.lettering = Lettering(caption: "Once more", showsTimecode: true)
    func frames(_ name: String) throws -> [[UInt8]] {
      try DecodedMedia.buffers(of: "filesrc location=\(folder.path(name)) ! decodebin ! video/x-raw")
    }
    try await run(options, "whole.mkv", isInChunks: false)
    try await run(options, "chunks.mkv", isInChunks: true)
    let drawn = try frames("chunks.mkv")
    #expect(drawn == (try frames("whole.mkv")))
    options.lettering = Lettering(caption: "Once more")
    try await run(options, "other.mkv", isInChunks: true)
    #expect(zip(drawn, try frames("other.mkv")).allSatisfy { $0 != $1 })
  }

  @Test("overlays and titles drawn by a program are refused")
  func programOverlays() async throws {
    let overlay: Overlay = { _, _ in }
    let title = Title(duration: .seconds(1)) { _, _ in }
    for reverser in [Reverser(source, overlay: overlay), Reverser(source, title: title)] {
      let error = await #expect(throws: RetrogradeError.self) {
        _ = try await reverser.start(to: folder.path("out.mkv"), in: work).summary()
      }
      #expect(error?.description.contains("the plan can't store overlays or titles drawn by a program") ?? false)
    }
  }

  private var withSubtitles: ReverseOptions {
    get throws {
      let text = "1\n00:00:00,100 --> 00:00:00,300\nFirst\n\n2\n00:00:00,500 --> 00:00:00,750\nLast\n"
      try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path("in.srt")))
      var options = ReverseOptions()
      options.subtitles = folder.path("in.srt")
      options.output.subtitles = folder.path("out.srt")
      return options
    }
  }

  @Test("the subtitle file is the same with chunks as without chunks", arguments: ["mp4", "avi"])
  func subtitleFile(_ container: String) async throws {
    var options = try withSubtitles
    options.playback.frameRate = FrameRate(30, 1)
    try await run(options, "whole.\(container)", isInChunks: false)
    let whole = try text("out.srt")
    #expect(whole.contains("00:00:00,250 --> 00:00:00,500\nLast"))
    try FileManager.default.removeItem(atPath: folder.path("out.srt"))
    try await run(options, "out.\(container)", isInChunks: true)
    #expect(try text("out.srt") == whole)
  }

  @Test("a run resumes if it was interrupted after it had renamed only the subtitle file")
  func interruptedRename() async throws {
    let options = try withSubtitles
    let output = folder.path("out.mp4")
    try await Reverser(source, options: options).split(to: output, in: work, chunks: .about(.seconds(0.3)))
    try await ChunkFolder(work).make(0...2)
    let chunked = ChunkedReversal(work, Work())
    let plan = try chunked.folder.knownPlan()
    var states = ChunkStates(plan)
    try states.update(from: chunked.folder.journal)
    _ = try ChunkJoin(chunked.folder, plan, states.done.compactMap { $0 }, Resources(), Work()).run()
    let made = try text("out.srt")
    try FileManager.default.removeItem(atPath: output)
    _ = try await Reverser(source, options: options).start(to: output, in: work).summary()
    #expect(try text("out.srt") == made)
    #expect(FileManager.default.fileExists(atPath: output))
    #expect(!FileManager.default.fileExists(atPath: work))
  }

  @Test("an existing subtitle file is refused before the work starts")
  func existingSubtitleFile() async throws {
    let options = try withSubtitles
    try Data("mine".utf8).write(to: URL(fileURLWithPath: folder.path("out.srt")))
    let error = await #expect(throws: RetrogradeError.self) {
      try await Reverser(source, options: options).split(to: folder.path("out.mp4"), in: work)
    }
    #expect(error?.code == .cannotCreateOutput)
    #expect(!FileManager.default.fileExists(atPath: work))
  }
}
