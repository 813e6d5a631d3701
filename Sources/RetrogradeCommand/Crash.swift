import CSystemSupport
import GStreamer
import Glibc
import Retrograde
import RetrogradeEngine

/// Plugins of GStreamer, and the libraries below them, abort or crash on some damaged files. They run in this process, which ends
/// with them; that there was no output, and why, is said all the same.
enum Crash {
  /// From here on, a crash ends the process with a message and the status of an internal failure. A user who
  /// sets SWIFT_BACKTRACE wants to see where it was, and gets the message of Swift's runtime instead.
  static func report() {
    GStreamer.printLogLinesOnce()
    GStreamer.onThreadShortage {
      Terminal.error(lastWords(RetrogradeError.noThread.message, isCrash: false))
      _exit(RetrogradeError.Code.inputOutput.exitStatus)
    }
    guard getenv("SWIFT_BACKTRACE") == nil else { return }
    let cause: Message =
      "GStreamer, one of its plugins, or this program can't cope with this input; "
      + "SWIFT_BACKTRACE=enable=yes shows where"
    system_end_on_crash(
      Child.isThisProcess ? "crashed" : lastWords(cause), RetrogradeError.Code.internalFailure.exitStatus,
      lastWords("the limit on addresses (ulimit -v) is reached; \(AddressSpace.remedy)"),
      RetrogradeError.Code.inputOutput.exitStatus)
  }

  /// The line with which a process ends. The parent of a child process says what it was working on.
  private static func lastWords(_ cause: Message, isCrash: Bool = true) -> String {
    Child.isThisProcess
      ? "crashed: \(cause.inOptions)"
      : "retrograde: \(isCrash ? "crashed, " : "")no output was made: \(cause.inOptions)"
  }
}
