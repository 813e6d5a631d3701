import CSystemSupport
import FoundationEssentials
import GStreamer
import Glibc
import Retrograde
import RetrogradeEngine
import Paths

/// Terminal output.
enum Terminal {
  /// Flushes the output, and ends the process with `_exit` instead of `exit`.
  ///
  /// Threads may be running, for example loading a plugin. `exit` would unload the plugins'
  /// libraries and mark the libraries as uninitialised (glibc's `_dl_fini`). A thread that loads a
  /// plugin would then initialise the libraries again, and GObject would abort.
  static func exit(_ status: Int32) -> Never {
    for line in GStreamer.unprintedLogLines { error("retrograde: \(line)") }
    _ = system_flush_output()
    _exit(status)
  }

  /// Opens the standard descriptors that are closed. If they stayed closed, a file opened later
  /// could get the number of standard error, and this program's messages would be written to the
  /// file. Reading from standard input and writing to the other two still fail, as before.
  static func holdStandardDescriptors() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
      // The system call returns the lowest free number, which is this descriptor.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Checks that all output was written.
  /// - Throws: ``RetrogradeError`` of code `inputOutput`.
  static func finishOutput() throws {
    guard system_flush_output() != 0 else { return }
    let reason = errno
    throw RetrogradeError(
      .inputOutput,
      about: "standard output", "can't be written: \(String(cString: strerror(reason)))",
      remedy: reason == ENOSPC ? "free some space, or write to another disk" : nil)
  }

  static var isInteractive: Bool { isatty(STDERR_FILENO) == 1 }

  /// Writes a value as JSON to standard output.
  static func print(json value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.userInfo = Setting.jsonNaming
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    Swift.print(String(decoding: try encoder.encode(value), as: UTF8.self).safeJSON)
  }

  /// Writes a line to standard output.
  static func print(_ line: String) { Swift.print(line.withoutControls()) }

  /// Writes several lines to standard output.
  static func print(lines: String) { Swift.print(lines.withoutControls(keepingLines: true)) }

  /// Writes a file's text to standard output; control characters are escaped only on a terminal.
  static func print(file: String) {
    let text = isatty(STDOUT_FILENO) == 1 ? file.withoutControls(keepingLines: true) : file
    for byte in text.pathBytes { putchar(Int32(byte)) }
  }

  /// Writes a value as one line of JSON to standard error.
  static func error(json value: some Encodable) {
    let encoder = JSONEncoder()
    encoder.userInfo = Setting.jsonNaming
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Encoding fails only for infinite numbers and NaN; `value` contains none.
    if let line = try? encoder.encode(value) {
      write(String(decoding: line, as: UTF8.self).safeJSON + "\n", to: STDERR_FILENO)
    }
  }

  /// Writes a line to standard error.
  static func error(_ line: String) { write(line.withoutControls() + "\n", to: STDERR_FILENO) }

  /// Writes several lines to standard error.
  static func error(lines: String) { write(lines.withoutControls(keepingLines: true) + "\n", to: STDERR_FILENO) }

  /// Writes text without escaping control characters. Pass only text whose effect on a terminal is
  /// known.
  static func write(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { bytes in
      var done = 0
      while done < bytes.count {
        let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { return }
        done += count
      }
    }
  }

  /// Width of the terminal in columns; 80 if unknown.
  static var width: Int {
    var size = winsize()
    return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }
}
