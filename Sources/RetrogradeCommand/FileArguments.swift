import ArgumentParser

/// Options of `reverse` for several files.
struct SeveralFilesArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Reverse each input into this folder. If an input is a folder, all video, audio and animations in it are "
        + "reversed. If a file fails, the others continue; the exit status is that of the first failed file.",
      valueName: "folder"),
    completion: .directory)
  var into: String?

  @Option(
    help: ArgumentHelp(
      "With --into: pattern for the output names. {stem} is the input's name without its extension, {ext} is the "
        + "extension. If Retrograde can't write the format of that extension, the output is an mkv: "
        + "a.flv becomes a.mkv, or a.flv.mkv if another output is named a.mkv.",
      valueName: "name"))
  var name = OutputName.same

  @Flag(help: "With --into: include the subfolders of inputs, and create them in the output folder too.")
  var recursive = false

  @Option(
    help: ArgumentHelp(
      "With --into: watch this folder until Ctrl-C, and reverse each new file when it is complete. "
        + "Later runs skip files that were reversed before.", valueName: "folder"), completion: .directory)
  var watch: String?

  @Option(
    help: ArgumentHelp(
      "With --into: a file fails if there is no progress for this time, 1 to 86400 seconds. "
        + "Each file is reversed in its own process. (default: 300)", valueName: "seconds"))
  var stallLimit: Double?
}

/// Inputs and outputs of `reverse`.
struct FileArguments: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "INPUT and OUTPUT. INPUT is a file, numbered images such as 'frames/%05d.png', or - for standard input. An http, "
        + "https or file URL also works, including that of an HLS or DASH playlist. OUTPUT is the file to write, which "
        + "appears only when it is complete; or - for standard output, with --format. A + between inputs joins them "
        + "before they are reversed; all get the format of the first one. With --into, all files are inputs.",
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
      if into == nil { throw ValidationError("--watch needs --into, the folder for the outputs.") }
      if let file = files.first {
        throw ValidationError("\(file): --watch reverses only the files in the watched folder; leave out other files.")
      }
      if recursive {
        throw ValidationError("--recursive can't be used with --watch, which does not look into subfolders.")
      }
    }
    guard into == nil else { return }
    if name != .same { throw ValidationError("--name needs --into: it names the files in that folder.") }
    if recursive { throw ValidationError("--recursive needs --into.") }
  }

  func list() throws -> FileList {
    watch == nil ? try FileList(files, isNamed: into == nil) : FileList(inputs: [], output: nil)
  }
}
