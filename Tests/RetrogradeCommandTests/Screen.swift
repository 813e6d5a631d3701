import Foundation
import GStreamer
import MediaTime
import TestSupport

/// An X server without a screen.
final class Screen {
  let name: String
  private let program: Program

  init() throws {
    // It would inherit the test process's signal mask, in which SIGTERM is blocked; killed, it would leave its socket behind.
    let unmasked = """
      import os, signal
      signal.pthread_sigmask(signal.SIG_SETMASK, [])
      os.execv("/usr/bin/Xvfb", "Xvfb -displayfd 1 -screen 0 640x480x24 -nolisten tcp -noreset".split())
      """
    // It chooses a free number, and says which when it is ready. When its last client goes it must not begin anew: it would
    // refuse those who come meanwhile.
    program = try Program("/usr/bin/python3", ["-c", unmasked], errors: .nullDevice)
    name = ":" + (program.line() ?? "").trimmingCharacters(in: .whitespaces)
  }

  /// How light the screen is on average, from 0 to 1.
  func lightness() throws -> Double {
    let pipeline = try Pipeline(
      "ximagesrc display-name=\(name) use-damage=false num-buffers=1 ! videoconvert ! video/x-raw,format=GRAY8 ! "
        + "appsink name=out sync=false")
    defer { pipeline.set(.null) }
    pipeline.set(.playing)
    guard let sample = try pipeline.appSink("out").pull(timeout: ClockTime(seconds: 10)) else { return 0 }
    return try sample.buffer.withBytes { bytes in
      Double(bytes.reduce(0) { $0 + Int($1) }) / Double(max(bytes.count, 1)) / 255
    }
  }

  func close() {
    program.process.terminate()
    _ = program.end()
  }
}
