import ArgumentParser

/// What `reverse` turns round, and where its mirror goes.
struct FileArguments: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "INPUT OUTPUT: a file, numbered images such as 'frames/%05d.png', or - for standard input; and the file to make, which appears "
        + "when it is whole.", valueName: "file"), completion: .file())
  var files: [String] = []

  func list() throws -> FileList { try FileList(files, isNamed: true) }
}
