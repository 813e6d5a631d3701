import Foundation
import GStreamer
import MediaTime
import TestSupport

/// A virtual X server (Xvfb).
final class Screen {
  let name: String
  private let program: Program

  init() throws {
    // Xvfb must be ended by SIGTERM, because its socket remains after SIGKILL. Xvfb would inherit
    // the test process's signal mask, which blocks SIGTERM, so this program clears the mask first.
    let unmasked = """
      import os, signal
      signal.pthread_sigmask(signal.SIG_SETMASK, [])
      os.execv("/usr/bin/Xvfb", "Xvfb -displayfd 1 -screen 0 640x480x24 -nolisten tcp -noreset".split())
      """
    // Xvfb chooses a free display number, and prints it when it is ready. Without -noreset, Xvfb
    // resets after its last client, and refuses clients during the reset.
    program = try Program("/usr/bin/python3", ["-c", unmasked], errors: .nullDevice)
    name = ":" + (program.line() ?? "").trimmingCharacters(in: .whitespaces)
  }

  /// Returns the average brightness of the screen, from 0 to 1.
  func brightness() throws -> Double {
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
