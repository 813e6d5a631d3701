import ArgumentParser
import Retrograde

struct Run: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs a pipeline file: one half decodes, the other encodes the reversal.",
    discussion: """
      `retrograde run --list` lists the installed files, about a dozen. `retrograde reverse … --print-pipeline` prints \
      others. A name without a slash that is not a file in the current folder is searched in \
      $XDG_DATA_HOME/retrograde/pipelines (~/.local/share/…), then where the command is installed, then in the folders \
      of $XDG_DATA_DIRS. `retrograde run FILE` lists the parameters of a file. Parameter values are not parsed, and may contain \
      spaces, quotes, ! or $.

      EXAMPLES
        retrograde run --list
        retrograde run webm
        retrograde run webm input=clip.mp4 output=reversed.webm
        retrograde run caption input=clip.mp4 output=out.mp4 caption='It works!'
        retrograde run --check ./mine.pipeline input=a.mp4 output=b.mp4
        retrograde reverse clip.mp4 out.mp4 --print-pipeline > mine.pipeline
      """)

  @Argument(
    help: "Pipeline file, or the name of an installed one.", completion: Completions.pipelines)
  var file: String?

  @Argument(help: ArgumentHelp("Values of parameters of the file.", valueName: "name=value"))
  var values: [Value] = []

  @Flag(help: "List the installed pipeline files, with their purposes.")
  var list = false

  @Flag(help: "Check that the file could run, and run nothing.")
  var check = false

  @OptionGroup(title: "Output") var writing: OverwriteArguments

  @OptionGroup(title: "Output") var strictness: StrictArguments

  @OptionGroup(title: "Output") var reporting: DisplayArguments

  @OptionGroup(title: "Machine") var machine: ResourceArguments

  func validate() throws {
    if list && file != nil { throw ValidationError("--list takes no file: it names the installed ones.") }
    if !list && file == nil {
      throw ValidationError("Which pipeline file? `retrograde run --list` names the installed ones.")
    }
  }

  func run() async throws {
    let folders = PipelineFolders()
    guard let file else { return try Run.list(folders) }
    let pipeline = try PipelineFile(path: folders.path(of: file))
    if values.isEmpty && !check && pipeline.parameters.contains(where: { $0.fallback == nil }) {
      Terminal.print(pipeline.summary)
      Terminal.print("")
      Terminal.print("Parameters of \(file):")
      for parameter in pipeline.parameters {
        Terminal.print(
          "  \(parameter.name)=\(parameter.fallback ?? "…")\(parameter.fallback == nil ? "  (needed)" : "")")
      }
      throw ExitCode(64)
    }
    let options = ReverseOptions(
      output: OutputOptions(overwrites: writing.overwrite, isStrict: strictness.strict), resources: machine.resources)
    let given = Dictionary(values.map { ($0.name, $0.text) }) { $1 }
    if check {
      try await pipeline.check(given, options: options)
      if !reporting.quiet { Terminal.print("\(file): can be run") }
      return
    }
    try await reporting.display.follow(pipeline.start(given, options: options), machine.memory)
  }
}

extension Run {
  private static func list(_ folders: PipelineFolders) throws {
    let files = folders.files()
    guard !files.isEmpty else {
      throw RetrogradeError(.noInput, "no pipeline files are installed in \(folders.paths.joined(separator: ", "))")
    }
    let width = files.map(\.name.count).max() ?? 0
    for file in files {
      let name = file.name.padded(to: width)
      do {
        Terminal.print("\(name)  \(try PipelineFile(path: file.path).summary)")
      } catch {
        Terminal.print("\(name)  can't be run: \(error)")
      }
    }
  }
}

/// Argument of the form `name=value`.
struct Value: ExpressibleByArgument {
  var name: String
  var text: String

  init?(argument: String) {
    guard let equals = argument.firstIndex(of: "="), equals != argument.startIndex else { return nil }
    name = String(argument[..<equals])
    text = String(argument[argument.index(after: equals)...])
  }
}
