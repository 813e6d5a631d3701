import ArgumentParser

/// Commands that reverse one file in chunks.
struct WorkCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "work",
    abstract: "Reverses a long file in chunks, in any number of processes and machines.",
    discussion: """
      `split` plans the chunks in a folder, `chunk` makes some of them, and `join` joins them into the output. The \
      processes need only the folder and the source, under the same names. On one machine, `retrograde reverse --work` does all three.

      EXAMPLES
        retrograde work split film.mkv out.mkv --work film.work --chunks 12
        retrograde work chunk film.work 0-5
        retrograde work chunk film.work 6-12
        retrograde work status film.work
        retrograde work join film.work
      """,
    subcommands: [Split.self, Chunk.self, Join.self, Status.self, Submit.self])

  /// Names of the commands. Up to 0.3 these were top-level commands, and are still accepted as
  /// such.
  static let names = configuration.subcommands.map { $0._commandName }
}
