import ArgumentParser
import Glibc
import RetrogradeEngine
import Paths

/// Short form `retrograde clip.mov out.mp4` of `retrograde reverse clip.mov out.mp4`.
enum BareForm {
  /// First arguments that are valid without a command.
  private static let own: Set = ["-h", "--help", "--help-hidden", "--version", "--experimental-dump-help"]

  /// Adds the omitted command name to the arguments.
  ///
  /// A word that is no command and does not look like a file counts as a misspelt command, not as a
  /// missing file.
  /// - Throws: `ValidationError` that suggests a command.
  static func completed(_ arguments: [String], _ commands: [any ParsableCommand.Type]) throws -> [String] {
    let known = names(of: commands)
    if arguments.first == "help" {
      let asked = Array(arguments.dropFirst())
      if let name = asked.first, WorkCommand.names.contains(name) { return ["help", WorkCommand._commandName] + asked }
      // Report unknown commands here, because the parser would show the general help instead.
      if let name = asked.first(where: { !$0.hasPrefix("-") }), !known.contains(name) { throw unknown(name, known) }
      return arguments
    }
    guard let first = arguments.first, !own.contains(first), !Child.isThisProcess,
      !first.hasPrefix("--generate-completion-script"), first != "---completion"
    else { return arguments }
    if known.contains(first) { return arguments }
    if WorkCommand.names.contains(first) { return [WorkCommand._commandName] + arguments }
    if first.hasPrefix("-") || isLikelyFile(first) { return ["reverse"] + arguments }
    throw unknown(first, known, ", and no file of that name")
  }

  /// Returns the possible first arguments of a command line that does not omit the command.
  static func firstWords(_ commands: [any ParsableCommand.Type]) -> [String] {
    names(of: commands) + WorkCommand.names + own.sorted()
  }

  private static func names(of commands: [any ParsableCommand.Type]) -> [String] {
    commands.filter { $0.configuration.shouldDisplay }.map { $0._commandName } + ["help"]
  }

  private static func unknown(_ word: String, _ known: [String], _ more: String = "") -> ValidationError {
    let nearest = known.map { ($0, distance($0, word)) }.min { $0.1 < $1.1 }
    let advice = nearest.flatMap { $0.1 <= max(1, word.count / 2) ? " Did you mean '\($0.0)'?" : nil } ?? ""
    return ValidationError("There is no command '\(word)'\(more).\(advice)")
  }

  private static func isLikelyFile(_ word: String) -> Bool {
    word.contains { "./%".contains($0) } || access(word.cPath, F_OK) == 0
  }

  /// Returns the edit distance of two words (Levenshtein).
  static func distance(_ a: String, _ b: String) -> Int {
    let b = Array(b)
    var row = Array(0...b.count)
    for (i, letter) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in b.enumerated() {
        let changed = diagonal + (letter == other ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(changed, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[b.count]
  }
}
