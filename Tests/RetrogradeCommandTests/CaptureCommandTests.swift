import Foundation
import GStreamer
import Testing

@testable import Retrograde

@Suite struct CaptureCommandTests {
  private static let camera = "videotestsrc is-live=true pattern=ball"

  @Test("capture counts down, records, and reports progress")
  func progress() throws {
    let scratch = try Scratch()
    let result = try Command.run([
      "capture", scratch.path("a.mp4"), "--source", CaptureCommandTests.camera, "--frames", "15", "--countdown", "0.1",
      "--microphone", "audiotestsrc is-live=true", "--progress", "json", "--caption", "now",
    ])
    #expect(result.status == 0)
    #expect(result.errors.contains(#""stage":"countdown""#))
    #expect(result.errors.contains(#""stage":"capturing""#))
    #expect(result.errors.contains(#""captured":15"#))
    #expect(scratch.names == ["a.mp4"])
  }

  @Test("Ctrl-C ends the recording and writes the clip")
  func interrupt() throws {
    let scratch = try Scratch()
    let result = try Command.run([
      "capture", scratch.path("a.gif"), "--source", CaptureCommandTests.camera, "--progress", "json",
    ]) { process, errors in
      // Waits until the command reports that it is recording.
      while let line = errors(), !line.contains("capturing") {}
      process.interrupt()
    }
    #expect(result.status == 0)
    #expect(scratch.names == ["a.gif"])
  }

  @Test("wrong arguments are explained, and devices are listed")
  func wrongArguments() throws {
    let scratch = try Scratch()
    let both = try Command.run(["capture", scratch.path("a.mp4"), "--source", "x", "--device", "y"])
    #expect(both.status == 64)
    let none = try Command.run(["capture", scratch.path("a.mp4"), "--device", "No such camera"])
    #expect(none.status == 66 && none.errors.contains("retrograde devices"))
    let devices = try Command.run(["devices"])
    #expect(devices.status == 0 && devices.output.contains("Cameras") && devices.output.contains("Microphones"))
    let json = try Command.run(["devices", "--json"])
    #expect((try? JSONSerialization.jsonObject(with: Data(json.output.utf8))) is [Any])
  }

  @Test("without a display, a command that needs a window is refused")
  func noDisplay() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 10)
    let environment = ProcessInfo.processInfo.environment.filter {
      !["DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"].contains($0.key)
    }
    for arguments in [
      ["play", scratch.path("a.mp4")],
      ["capture", scratch.path("b.mp4"), "--source", CaptureCommandTests.camera, "--frames", "5", "--preview"],
    ] {
      let result = try Command.run(arguments, environment: environment)
      #expect(result.status == 69 && result.errors.contains("no display"))
    }
  }

  /// The screen is black except for the preview window.
  @Test("the preview shows the recording")
  func preview() throws {
    let scratch = try Scratch()
    let screen = try Screen()
    defer { screen.close() }
    let environment = ProcessInfo.processInfo.environment.merging(["DISPLAY": screen.name]) { $1 }
    let result = try Command.run(
      [
        "capture", scratch.path("a.mp4"), "--source", "videotestsrc is-live=true pattern=white", "--preview",
        "--progress", "json",
      ], environment: environment
    ) { process, errors in
      while let line = errors(), !line.contains("capturing") {}
      // The window may appear after the first frame, so each attempt grabs a new frame of the
      // screen.
      var isSeen = false
      for _ in 0..<200 where !isSeen { isSeen = (try? screen.brightness()) ?? 0 > 0.05 }
      #expect(isSeen)
      process.interrupt()
    }
    #expect(result.status == 0 && scratch.names == ["a.mp4"], "\(result.errors)")
  }
}
