import ArgumentParser

/// Completion scripts of ArgumentParser, extended for the short form `retrograde clip.mov out.mp4`.
///
/// The parser's scripts offer options only after a command's name. With the extension, if the first
/// word is not a command, completion works as if `reverse` stood before that word (`BareForm`). For
/// the first word itself, files are offered besides the commands.
enum CompletionScript {
  /// Returns the script that `--generate-completion-script SHELL` asks for; nil if the arguments do
  /// not ask for a script, or name an unknown shell.
  /// - Parameter firstWords: possible first words of a command line that does not omit the command.
  static func wanted(by arguments: [String], _ firstWords: [String]) -> String? {
    guard arguments.count == 2, arguments[0] == "--generate-completion-script",
      let shell = CompletionShell(rawValue: arguments[1])
    else { return nil }
    let script = RetrogradeCommand.completionScript(for: shell)
    let words = firstWords.joined(separator: " ")
    return switch shell {
    case .fish: fish(words) + script.replacing("(__retrograde_tokens -pc)\n", with: "(__retrograde_words)\n")
    case .zsh: script.replacing("\n_retrograde() {", with: "\n\(zsh(words))\n_retrograde_parsed() {")
    default: script.replacing("\n_retrograde() {", with: "\n\(bash(words))\n_retrograde_parsed() {")
    }
  }

  private static func bash(_ words: String) -> String {
    #"""
    _retrograde() {
        if [[ "${COMP_CWORD}" -gt 1 && ' \#(words) ' != *" ${COMP_WORDS[1]} "* ]]; then
            COMP_LINE="${COMP_LINE/"${COMP_WORDS[1]}"/reverse "${COMP_WORDS[1]}"}"
            COMP_POINT="$((COMP_POINT + 8))"
            COMP_WORDS=("${COMP_WORDS[0]}" reverse "${COMP_WORDS[@]:1}")
            COMP_CWORD="$((COMP_CWORD + 1))"
        fi
        _retrograde_parsed "${@}"
        if [[ "${COMP_CWORD}" -eq 1 ]]; then
            local cur="${2}"
            __retrograde_add_completions -f
        fi
    }

    """#
  }

  private static func zsh(_ words: String) -> String {
    #"""
    _retrograde() {
        if [[ "${CURRENT}" -gt 2 && ' \#(words) ' != *" ${words[2]} "* ]]; then
            words=("${words[1]}" reverse "${(@)words[2,-1]}")
            CURRENT="$((CURRENT + 1))"
        fi
        local -i ret=1
        _retrograde_parsed "${@}" && ret=0
        if [[ "${CURRENT}" -eq 2 ]]; then
            _files && ret=0
        fi
        return "${ret}"
    }

    """#
  }

  private static func fish(_ words: String) -> String {
    #"""
    function __retrograde_words
        set -l tokens (__retrograde_tokens -pc)
        if set -q tokens[2]; and not contains -- $tokens[2] \#(words)
            set tokens $tokens[1] reverse $tokens[2..]
        end
        printf '%s\n' $tokens
    end

    complete -c 'retrograde' -n 'test (count (__retrograde_tokens -pc)) -eq 1' -F

    """#
  }
}
