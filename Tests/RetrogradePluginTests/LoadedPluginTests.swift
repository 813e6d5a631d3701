import Foundation
import TestSupport
import Testing

/// The plugin as other programs load it: from its file, in programs without Swift.
@Suite struct LoadedPluginTests {
  /// Folder of the plugin under test. `make test` selects the release plugin, which includes the
  /// Swift runtime. The default is the plugin in the folder of the test program.
  private static let folder =
    ProcessInfo.processInfo.environment["RETROGRADE_PLUGIN_DIR"]
    ?? URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path

  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private func run(
    _ command: String, in folder: TemporaryFolder, environment: [String: String] = [:]
  ) throws -> (status: Int32, output: String) {
    // Uses a separate registry, so that GStreamer loads the plugin under test.
    let variables = [
      "GST_PLUGIN_PATH": LoadedPluginTests.folder, "GST_REGISTRY": folder.path("registry.bin"),
    ].merging(environment) { $1 }
    // With a timeout, a command that hangs fails only this test, and does not block the other
    // tests.
    let arguments = ["120", "sh", "-c", "exec 2>&1\n\(command)"]
    let ending = try Program("/usr/bin/timeout", arguments, in: folder.url, variables: variables).end()
    return (ending.status, ending.text)
  }

  /// Writes two seconds of numbered frames and audio as `name`.
  private func clip(_ folder: TemporaryFolder, _ name: String = "clip.mp4") throws {
    var media = TestMedia()
    media.video = "x264enc key-int-max=15 bframes=2 ! h264parse"
    media.audio = "avenc_aac ! aacparse"
    media.sampleCount = 96_000
    media.name = name
    _ = try media.write(to: folder)
  }

  @Test("gst-inspect describes the elements")
  func inspection() throws {
    let folder = try TemporaryFolder()
    for element in ["reversesrc", "videoreverse", "audioreverse"] {
      let result = try run("gst-inspect-1.0 \(element)", in: folder)
      #expect(result.status == 0)
      #expect(result.output.contains("memory-budget"))
      #expect(!result.output.contains("CRITICAL") && !result.output.contains("WARNING"), "\(result.output)")
    }
    #expect(try run("gst-inspect-1.0 reversesrc", in: folder).output.contains("pingpong+file"))
  }

  @Test("the element reference in the manual matches the plugin")
  func elementReference() throws {
    let folder = try TemporaryFolder()
    let program = LoadedPluginTests.root.appending(path: "scripts/elements.py").path
    let result = try run("/usr/bin/python3 '\(program)'", in: folder)
    #expect(result.status == 0, "\(result.output)")
  }

  @Test("players play a reverse+file URI", arguments: ["playbin", "playbin3"])
  func players(player: String) throws {
    let folder = try TemporaryFolder()
    try clip(folder)
    let result = try run(
      "gst-launch-1.0 \(player) uri=reverse+file://$PWD/clip.mp4 video-sink='fakesink sync=false' "
        + "audio-sink='fakesink sync=false'", in: folder)
    #expect(result.status == 0 && result.output.contains("Got EOS"), "\(result.output)")
  }

  @Test("gst-discoverer reports duration and seekability")
  func discoverer() throws {
    let folder = try TemporaryFolder()
    try clip(folder)
    let result = try run("gst-discoverer-1.0 -v reverse+file://$PWD/clip.mp4", in: folder)
    #expect(result.output.contains("Seekable: yes") && result.output.contains("Duration: 0:00:02"), "\(result.output)")
  }

  @Test("gst-transcoder writes the reversed video")
  func transcoder() throws {
    let folder = try TemporaryFolder()
    try clip(folder)
    let result = try run(
      "gst-transcoder-1.0 reverse+file://$PWD/clip.mp4 file://$PWD/out.webm webm", in: folder)
    #expect(result.status == 0)
    var like = TestMedia()
    like.sampleCount = 0
    let numbers = try DecodedMedia(folder.path("out.webm"), like: like).numbers
    // The webm target has a constant frame rate, so videorate may repeat a frame.
    let shown = numbers.indices.filter { $0 == 0 || numbers[$0] != numbers[$0 - 1] }.map { numbers[$0] }
    #expect(shown == (0..<60).reversed())
  }

  @Test("ges-launch edits a reversed clip")
  func editor() throws {
    let folder = try TemporaryFolder()
    try clip(folder)
    let result = try run(
      "ges-launch-1.0 +clip reverse+file://$PWD/clip.mp4 inpoint=0.5 duration=1.0 --videosink=fakesink "
        + "--audiosink=fakesink", in: folder)
    #expect(result.status == 0 && result.output.contains("Done"), "\(result.output)")
  }

  @Test("200 seeks from Python leak no memory")
  func pythonSeeks() throws {
    let folder = try TemporaryFolder()
    try clip(folder)
    let program = LoadedPluginTests.root.appending(path: "Tests/Programs/seeks.py").path
    let result = try run("/usr/bin/python3 \(program) clip.mp4", in: folder)
    let growth = result.output.split(separator: "\n").last.flatMap { Int($0) }
    #expect(result.status == 0 && growth.map { $0 < 40 << 10 } ?? false, "KiB over 200 seeks: \(result.output)")
  }

  /// Like gst-validate's scenario alternate_fast_backward_forward, with more seeks of this kind.
  @Test("every seek ends, whatever its rate", arguments: ["playbin", "playbin3"])
  func seekRates(player: String) throws {
    let folder = try TemporaryFolder()
    try clip(folder)
    let program = LoadedPluginTests.root.appending(path: "Tests/Programs/rates.py").path
    let result = try run("/usr/bin/python3 \(program) \(player) clip.mp4", in: folder)
    #expect(result.status == 0 && !result.output.contains("CRITICAL"), "\(result.output)")
  }

  @Test("a C program drives the filters")
  func cProgram() throws {
    let folder = try TemporaryFolder()
    let program = LoadedPluginTests.root.appending(path: "Tests/Programs/harness.c").path
    let result = try run(
      "cc -o harness '\(program)' $(pkg-config --cflags --libs gstreamer-check-1.0) && ./harness", in: folder)
    #expect(result.status == 0, "\(result.output)")
  }

  @Test(
    "a reversing pipeline leaks no object",
    arguments: [
      "reversesrc uri=file://$PWD/clip.mp4 name=r r.video_0 ! queue ! fakesink sync=false r.audio_0 ! queue ! fakesink sync=false",
      "reversesrc uri=pingpong+file://$PWD/clip.mp4 memory-budget=200000 ! video/x-raw ! fakesink",
      "videotestsrc num-buffers=40 ! videoreverse memory-budget=200000 ! fakesink audiotestsrc num-buffers=40 ! audioreverse loop=ping-pong ! fakesink",
    ])
  func leaks(description: String) throws {
    let folder = try TemporaryFolder()
    try clip(folder)
    let result = try run(
      "gst-launch-1.0 -q \(description)", in: folder,
      environment: ["GST_TRACERS": "leaks", "GST_DEBUG": "GST_TRACER:7", "GST_DEBUG_NO_COLOR": "1"])
    let alive = result.output.split(separator: "\n").filter { $0.contains("object-alive,") && !$0.contains("%s") }
    #expect(result.status == 0)
    #expect(alive.isEmpty)
  }

  @Test("every command in the manual runs without an error")
  func manualCommands() throws {
    let manual = try ["docs/elements.md", "docs/elements-filters.md"].map {
      try String(contentsOf: LoadedPluginTests.root.appending(path: $0), encoding: .utf8)
    }.joined(separator: "\n")
    let lines = manual.replacing("\\\n", with: " ").split(separator: "\n").filter {
      $0.hasPrefix("    gst-") || $0.hasPrefix("    ges-")
    }
    #expect(lines.count >= 10)
    for line in lines {
      let folder = try TemporaryFolder()
      try clip(folder)
      // There is no display and no audio device here.
      let command = line.replacing("autovideosink", with: "fakesink").replacing("autoaudiosink", with: "fakesink")
      let result = try run("timeout 60 \(command)", in: folder)
      #expect(result.status == 0, "\(line): \(result.output.suffix(600))")
    }
  }
}
