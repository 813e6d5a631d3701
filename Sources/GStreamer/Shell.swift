import CGStreamer
import Glibc
import Paths

/// Runs programs and parses command lines, through GLib (`g_spawn_sync`, `g_shell_parse_argv`).
package enum Shell {
  /// Exit status and output of a program.
  package struct Ending: Sendable {
    /// Exit status; 128 plus the number of the signal if a signal ended the program.
    package var status: Int32
    package var output: String
    package var errors: String
  }

  /// Runs a program and waits for its end. Searches `PATH` for the program unless the program's
  /// name is a path.
  ///
  /// - Parameter arguments: the program's name first.
  /// - Returns: nil if the program does not exist or cannot be run.
  package static func run(_ arguments: [String]) -> Ending? {
    var words = arguments.map { strdup($0.cPath) } + [nil]
    defer { words.forEach { free($0) } }
    var output: UnsafeMutablePointer<gchar>?
    var errors: UnsafeMutablePointer<gchar>?
    defer {
      g_free(output)
      g_free(errors)
    }
    var status: gint = 0
    guard g_spawn_sync(nil, &words, nil, G_SPAWN_SEARCH_PATH, nil, nil, &output, &errors, &status, nil) != 0 else {
      return nil
    }
    // `status` has the format of `waitpid`: the low seven bits are the signal; if they are 0, bits
    // 8 to 15 are the exit status.
    let signal = status & 0x7f
    return Ending(
      status: signal == 0 ? status >> 8 & 0xff : 128 + signal,
      output: output.map { String(cString: $0) } ?? "", errors: errors.map { String(cString: $0) } ?? "")
  }

  /// Splits a command line into words as a shell does, without expansions.
  /// - Returns: nil if a quote is not closed.
  package static func words(_ line: String) -> [String]? {
    // GLib reports an error for an empty line.
    if line.allSatisfy(\.isWhitespace) { return [] }
    var count: gint = 0
    var words: UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?
    guard g_shell_parse_argv(line, &count, &words, nil) != 0 else { return nil }
    defer { g_strfreev(words) }
    return (0..<Int(count)).compactMap { words?[$0].map { String(cString: $0) } }
  }

  /// Quotes a word for `bash`, `zsh` and `ksh`, if the word contains special characters. A word
  /// with characters that a terminal cannot show is written as `$'caf\xe9.mp4'`.
  package static func quoted(_ word: String) -> String {
    let isHidden = word.unicodeScalars.contains { $0.rawByte != nil || $0.properties.generalCategory == .control }
    guard isHidden else { return quotedInScript(word) }
    return "$'" + word.unicodeScalars.map(escape).joined() + "'"
  }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    if let byte = scalar.rawByte { return "\\x" + String(byte, radix: 16) }
    switch scalar {
    case "'", "\\": return "\\\(scalar)"
    case "\n": return "\\n"
    case "\r": return "\\r"
    case "\t": return "\\t"
    case _ where scalar.properties.generalCategory == .control:
      return String(scalar).utf8.map { byte in "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    default: return String(scalar)
    }
  }

  /// Quotes a word for a `sh` script: in single quotes if the word contains special characters.
  package static func quotedInScript(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { byte in
      (97...122).contains(byte) || (65...90).contains(byte) || (48...57).contains(byte)
        || "-._/:,".utf8.contains(byte)
    }
    if isPlain, !word.isEmpty { return word }
    return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
