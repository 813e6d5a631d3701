import CSystemSupport
import GStreamer
import Glibc
import Retrograde

/// Plugins of GStreamer, and the libraries below them, abort or crash on some damaged files. They run in this process, which ends
/// with them; that there was no output, and why, is said all the same.
enum Crash {
  /// From here on, a crash ends the process with a message and the status of an internal failure. Whoever sets SWIFT_BACKTRACE wants to see
  /// where it was, and gets what Swift's runtime says instead.
  static func report() {
    GStreamer.printLogLinesOnce()
    GStreamer.onThreadShortage {
      Terminal.error(
        "retrograde: no thread can be started; no output was made; let this user, or this container, have more processes "
          + "(ulimit -u)")
      _exit(RetrogradeError.Code.inputOutput.exitStatus)
    }
    guard getenv("SWIFT_BACKTRACE") == nil else { return }
    // The parent of a child process says what it was working on.
    system_end_on_crash(
      Child.isThisProcess
        ? "crashed"
        : "retrograde: crashed: GStreamer, one of its plugins, or this program can't cope with this input; no output was made; "
          + "SWIFT_BACKTRACE=enable=yes shows where it was",
      RetrogradeError.Code.internalFailure.exitStatus)
  }
}
