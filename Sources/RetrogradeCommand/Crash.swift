import CSystemSupport
import GStreamer
import Glibc
import Retrograde
import RetrogradeEngine

/// Crash reports. GStreamer plugins and their libraries abort or crash on some damaged files. Such
/// a crash ends this process, but the report still says that there is no output, and why.
enum Crash {
  /// Installs handlers. A crash then ends the process with a message and the status of an internal
  /// failure. A lack of threads or of address space ends it with the status of `inputOutput`. If
  /// SWIFT_BACKTRACE is set, the Swift runtime handles crashes instead, and prints the location of
  /// the crash.
  static func report() {
    GStreamer.printLogLinesOnce()
    GStreamer.onThreadShortage {
      Terminal.error(crashReport(RetrogradeError.noThread.message, isCrash: false))
      _exit(RetrogradeError.Code.inputOutput.exitStatus)
    }
    guard getenv("SWIFT_BACKTRACE") == nil else { return }
    let cause: Message =
      "GStreamer, one of its plugins, or this program failed on this input; "
      + "set SWIFT_BACKTRACE=enable=yes to see where"
    system_end_on_crash(
      Child.isThisProcess ? "crashed" : crashReport(cause), RetrogradeError.Code.internalFailure.exitStatus,
      crashReport("the limit on address space (ulimit -v) is reached; \(AddressSpace.remedy)"),
      RetrogradeError.Code.inputOutput.exitStatus)
  }

  /// Returns the last line that a crashing process prints. If the process is a child, its parent
  /// adds the file name.
  private static func crashReport(_ cause: Message, isCrash: Bool = true) -> String {
    Child.isThisProcess
      ? "crashed: \(cause.inOptions)"
      : "retrograde: \(isCrash ? "crashed, " : "")no output was made: \(cause.inOptions)"
  }
}
