import ArgumentParser

/// What `reverse` turns round, and where its mirror goes.
struct FileArguments: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "INPUT OUTPUT: a file, numbered images such as 'frames/%05d.png', or - for standard input; and the file to make, which appears "
        + "when it is whole. With --into, all are inputs.", valueName: "file"), completion: .file())
  var files: [String] = []

  @Option(
    help: ArgumentHelp(
      "Make a mirror of each file in this folder. A folder stands for the video, audio and moving images in it. What fails stops none of the "
        + "others; the status is that of the first that failed.", valueName: "folder"), completion: .directory)
  var into: String?

  @Option(
    help: ArgumentHelp(
      "With --into: what a mirror is called. {stem} is the input's name without its extension, {ext} is that.",
      valueName: "name"))
  var name = OutputName.same

  @Flag(help: "With --into: look into the folders of folders too, and make the same ones.")
  var recursive = false

  func validate() throws {
    guard into == nil else { return }
    if name != .same { throw ValidationError("--name says what mirrors are called in the folder that --into names.") }
    if recursive { throw ValidationError("--recursive is about folders whose files have mirrors --into another one.") }
  }

  func list() throws -> FileList { try FileList(files, isNamed: into == nil) }
}
