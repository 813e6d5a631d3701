import Foundation
import TestSupport
import Testing

/// Runs the commands in docs/ as they are written there.
@Suite struct DocumentationTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static func commands(_ page: String) throws -> [String] {
    try String(contentsOf: root.appending(path: "docs/\(page)"), encoding: .utf8).split(separator: "\n")
      .filter { $0.hasPrefix("    retrograde ") || $0.hasPrefix("    printf ") }.map {
        $0.trimmingCharacters(in: .whitespaces)
      }
  }

  @Test("every command in loops-and-movies.md runs")
  func loops() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("clip.mp4"), frames: 60)
    try run("loops-and-movies.md", in: scratch, atLeast: 15)
  }

  @Test("every command in score.md runs")
  func scores() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("clip.mp4"), frames: 60)
    try run("score.md", in: scratch, atLeast: 8)
    #expect(FileManager.default.fileExists(atPath: scratch.path("danced.mp4")))
  }

  @Test(
    "every command about jobs, folders, sizes and pipes runs",
    arguments: [("jobs.md", 8), ("folders.md", 4), ("sizes.md", 17), ("pipes.md", 3)])
  func jobs(page: String, count: Int) throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("clip.mp4"), frames: 30)
    try FileManager.default.createDirectory(atPath: scratch.path("clips/more"), withIntermediateDirectories: true)
    for name in ["clips/a.mp4", "clips/b.mp4", "clips/more/c.mp4"] {
      try FileManager.default.copyItem(atPath: scratch.path("clip.mp4"), toPath: scratch.path(name))
    }
    try FileManager.default.createDirectory(atPath: scratch.path("arriving"), withIntermediateDirectories: true)
    try FileManager.default.createDirectory(atPath: scratch.path("retrograde"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      at: scratch.url.appending(path: "retrograde/presets"), withDestinationURL: Self.root.appending(path: "presets"))
    try run(page, in: scratch, atLeast: count) { !$0.contains("--watch") }  // covered by WatchTests
  }

  @Test("every command in presentation.md runs")
  func presentation() throws {
    let scratch = try Scratch()
    try Data("1\n00:00:00,200 --> 00:00:00,600\nHello\n".utf8).write(to: URL(fileURLWithPath: scratch.path("a.srt")))
    let film = "videotestsrc num-buffers=50 ! video/x-raw,width=160,height=120,framerate=25/1"
    let audio = "audiotestsrc num-buffers=20 samplesperbuffer=4800 ! audio/x-raw,rate=48000,channels=2"
    try shell(
      """
      gst-launch-1.0 -q matroskamux name=m ! filesink location=video.mkv \(film) ! x264enc ! h264parse ! queue ! m. \
        \(audio) ! avenc_aac ! aacparse ! queue ! m. \(audio) ! avenc_ac3 ! ac3parse ! queue ! m. \
        filesrc location=a.srt ! subparse ! capssetter replace=true caps=text/x-raw,format=utf8 ! queue ! m.
      """, in: scratch)
    try shell(
      """
      gst-launch-1.0 -q videotestsrc num-buffers=50 ! video/x-raw,width=352,height=288,framerate=50/1 ! \
        interlace field-pattern=1:1 top-field-first=true ! avenc_ffv1 ! matroskamux ! filesink location=interlaced.mkv
      """, in: scratch)
    try run("presentation.md", in: scratch, atLeast: 9)
  }

  private func run(
    _ page: String, in scratch: Scratch, atLeast count: Int, where isRun: (String) -> Bool = { _ in true }
  ) throws {
    let screen = try Screen()
    defer { screen.close() }
    let commands = try DocumentationTests.commands(page)
    #expect(commands.count >= count)
    for command in commands.filter(isRun) { try shell(command, in: scratch, display: screen.name) }
  }

  private func shell(_ command: String, in scratch: Scratch, display: String = "") throws {
    let folder = Command.url.deletingLastPathComponent().path
    let variables = ["PATH": "\(folder):/usr/bin:/bin", "DISPLAY": display, "XDG_DATA_HOME": scratch.url.path]
    let ending = try Program("/bin/sh", ["-c", command], in: scratch.url, variables: variables).end()
    #expect(ending.status == 0, "\(command): \(ending.errors)")
  }
}
