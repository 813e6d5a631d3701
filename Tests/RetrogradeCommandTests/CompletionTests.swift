import Foundation
import TestSupport
import Testing

/// Completion scripts of the shells.
@Suite struct CompletionTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    for name in ["clip.mp4", "clap.mov"] { try Data().write(to: scratch.url.appending(path: name)) }
  }

  /// Returns the completions that bash offers for the last of `words`.
  private func offered(_ words: [String]) throws -> Set<String> {
    let script = try Command.run(["--generate-completion-script", "bash"])
    #expect(script.status == 0, "\(script.errors)")
    let all = [Command.url.path] + words
    let quoted = all.map { "'\($0)'" }.joined(separator: " ")
    let program = """
      \(script.output)
      COMP_WORDS=(\(quoted)); COMP_CWORD=\(words.count); COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
      _retrograde retrograde '\(all[words.count])' '\(all[words.count - 1])'
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    let ending = Command.Result(try Program("/bin/bash", ["-c", program], in: scratch.url).end())
    #expect(ending.errors == "")
    return Set(ending.output.split(separator: "\n").map(String.init))
  }

  @Test("the first word is completed to commands and files")
  func firstWord() throws {
    #expect(try offered(["c"]) == ["capture", "codecs", "clip.mp4", "clap.mov"])
    #expect(try offered(["re"]) == ["reverse"])
  }

  @Test("without a command name, the shell completes the options of `retrograde reverse` and their values")
  func shortForm() throws {
    #expect(try offered(["clip.mp4", "--audio-c"]) == ["--audio-codec"])
    #expect(try offered(["reverse", "clip.mp4", "--audio-c"]) == ["--audio-codec"])
    #expect(try offered(["--quiet", "clip.mp4", "out.mp4", "--for", "whats"]).contains("whatsapp"))
    #expect(try offered(["clip.mp4", "cl"]) == ["clip.mp4", "clap.mov"])
  }

  @Test("other commands keep their own options")
  func commands() throws {
    #expect(try offered(["info", "--verb"]) == ["--verbose"])
    #expect(try offered(["codecs", "--audio-c"]) == [])
    #expect(try offered(["help", "rev"]).isSubset(of: ["reverse"]))
  }

  @Test("zsh and fish also complete without a command name", arguments: ["zsh", "fish"])
  func otherShells(shell: String) throws {
    let script = try Command.run(["--generate-completion-script", shell]).output
    let inserted = ["zsh": "\"${words[1]}\" reverse", "fish": "$tokens[1] reverse"]
    let used = ["zsh": "\n_retrograde_parsed() {", "fish": "set -l unparsed_tokens (__retrograde_words)\n"]
    #expect(try script.contains(#require(inserted[shell])))
    #expect(try script.contains(#require(used[shell])))
  }
}
