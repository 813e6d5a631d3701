import ArgumentParser

/// Options of `reverse` for several files.
struct SeveralFilesArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Reverse each input into this folder. An input folder stands for the video, audio and animations in it. "
        + "A failed file stops no other; the exit status is that of the first failed file.", valueName: "folder"),
    completion: .directory)
  var into: String?

  @Option(
    help: ArgumentHelp(
      "With --into: the outputs' names. {stem} is the input's name without its extension. {ext} is the extension, "
        + "or mkv if that format can't be written (flv.mkv if two outputs would have the same name).",
      valueName: "name"))
  var name = OutputName.same

  @Flag(help: "With --into: include subfolders, and recreate them in the output.")
  var recursive = false

  @Option(
    help: ArgumentHelp(
      "With --into: reverse each new file in this folder when it is complete, until Ctrl-C. "
        + "A later run does not reverse it again.", valueName: "folder"), completion: .directory)
  var watch: String?

  @Option(
    help: ArgumentHelp(
      "With --into: a file fails if its process makes no progress for this time, 1 to 86400 seconds. "
        + "Each file has its own process. (default: 300)", valueName: "seconds"))
  var stallLimit: Double?
}

/// Inputs and outputs of `reverse`.
struct FileArguments: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "INPUT and OUTPUT. INPUT is a file, numbered images such as 'frames/%05d.png', or - for standard input. It can "
        + "also be an http, https or file address, which may be that of an HLS or DASH playlist. OUTPUT is the file "
        + "to write, which appears when it is complete, or - for standard output, with --format. A + between inputs "
        + "joins them in the first one's format, and they are reversed as one. With --into, all files are inputs.",
      valueName: "file"), completion: .file())
  var files: [String] = []

  @OptionGroup(title: "Several files") var several: SeveralFilesArguments

  var into: String? { several.into }
  var name: OutputName { several.name }
  var recursive: Bool { several.recursive }
  var watch: String? { several.watch }
  var stallLimit: Double? { several.stallLimit }

  func validate() throws {
    if let stallLimit, !(1...86400).contains(stallLimit) {
      throw ValidationError("--stall-limit must be 1 to 86400 seconds.")
    }
    if stallLimit != nil, into == nil { throw ValidationError("--stall-limit needs --into.") }
    if watch != nil {
      if into == nil { throw ValidationError("--watch needs --into: the folder for the outputs.") }
      if let file = files.first {
        throw ValidationError("\(file): --watch takes the files of its folder, and no others.")
      }
      if recursive { throw ValidationError("--recursive: --watch does not look into subfolders.") }
    }
    guard into == nil else { return }
    if name != .same { throw ValidationError("--name needs --into: it names the files in that folder.") }
    if recursive { throw ValidationError("--recursive needs --into.") }
  }

  func list() throws -> FileList {
    watch == nil ? try FileList(files, isNamed: into == nil) : FileList(inputs: [], output: nil)
  }
}
