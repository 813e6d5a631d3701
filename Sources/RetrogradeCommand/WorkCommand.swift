import ArgumentParser

/// Commands that reverse one file in chunks.
struct WorkCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "work",
    abstract: "Reverses a long file in chunks, which several processes or machines can share.",
    discussion: """
      `split` writes a plan of the chunks into a folder, `chunk` makes one or more of them, and `join` joins them into \
      the output. All machines need the folder and the source, under the same paths. On one machine, `retrograde \
      reverse --work` does all three steps.

      Chunks are numbered from 0. Each audio stream is one chunk, and the audio comes first: in the examples, chunk 0 \
      is the audio, and chunks 1 to 12 are the video.

      EXAMPLES
        retrograde work split film.mkv out.mkv --work film.work --chunks 12
        retrograde work chunk film.work 0-5
        retrograde work chunk film.work 6-12
        retrograde work status film.work
        retrograde work join film.work
      """,
    subcommands: [Split.self, Chunk.self, Join.self, Status.self, Submit.self])

  /// Names of the subcommands. Up to release 0.3 the subcommands were top-level commands, so
  /// `retrograde split` still works.
  static let names = configuration.subcommands.map { $0._commandName }
}
