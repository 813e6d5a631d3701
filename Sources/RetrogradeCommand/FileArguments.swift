import ArgumentParser

/// Inputs and outputs of `reverse`.
struct FileArguments: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "INPUT OUTPUT: a file, numbered images such as 'frames/%05d.png', an address (http, https, file, also of HLS and DASH), or - for "
        + "standard input; and the file to make, which appears when it is whole, or - for standard output, with --format. A + between inputs joins "
        + "them: they are played one after the other, and made to fit the first. With --into, all are inputs.",
      valueName: "file"), completion: .file())
  var files: [String] = []

  @Option(
    help: ArgumentHelp(
      "Make a mirror of each file in this folder. A folder stands for the video, audio and moving images in it. What fails stops none of the "
        + "others; the status is that of the first that failed.", valueName: "folder"), completion: .directory)
  var into: String?

  @Option(
    help: ArgumentHelp(
      "With --into: what a mirror is called. {stem} is the input's name without its extension. {ext} is the extension, or mkv if "
        + "such files can only be read: flv.mkv where two mirrors would have one name.",
      valueName: "name"))
  var name = OutputName.same

  @Flag(help: "With --into: look into the folders of folders too, and make the same ones.")
  var recursive = false

  @Option(
    help: ArgumentHelp(
      "Make a mirror, in the folder of --into, of each file in this one as soon as it is whole: once each, also when it is watched anew. Ctrl-C "
        + "ends it.", valueName: "folder"), completion: .directory)
  var watch: String?

  @Option(
    help: ArgumentHelp(
      "With --into: give up a file whose work has made no progress for this many seconds (300). Each file is read by a process of its own.",
      valueName: "seconds"))
  var stallLimit: Double?

  func validate() throws {
    if let stallLimit, !(1...86400).contains(stallLimit) {
      throw ValidationError("--stall-limit must be 1 to 86400 seconds.")
    }
    if stallLimit != nil, into == nil { throw ValidationError("--stall-limit needs --into.") }
    if watch != nil {
      if into == nil { throw ValidationError("--watch needs --into: the folder that mirrors go to.") }
      if let file = files.first {
        throw ValidationError("\(file): --watch takes the files of its folder, and no others.")
      }
      if recursive { throw ValidationError("--recursive: --watch looks at one folder, and not into those in it.") }
    }
    guard into == nil else { return }
    if name != .same { throw ValidationError("--name says what mirrors are called in the folder that --into names.") }
    if recursive { throw ValidationError("--recursive is about folders whose files have mirrors --into another one.") }
  }

  func list() throws -> FileList {
    watch == nil ? try FileList(files, isNamed: into == nil) : FileList(inputs: [], output: nil)
  }
}
