import ArgumentParser
import Retrograde

struct Run: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs a pipeline file: one GStreamer pipeline that decodes, and one that encodes the reversal.",
    discussion: """
      `retrograde run --list` lists the installed pipeline files. `retrograde run FILE`, without values, lists the \
      parameters of a file. `retrograde reverse … --print-pipeline` prints a pipeline file for the given options.

      FILE is a path, or the name of an installed file. Names are searched for in $XDG_DATA_HOME/retrograde/pipelines \
      (~/.local/share/…), then in the folders of this installation, then in those of $XDG_DATA_DIRS. Parameter values \
      are used as they are, and may contain spaces, quotes, ! or $.

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

  @Argument(help: ArgumentHelp("Values for the parameters of the file.", valueName: "name=value"))
  var values: [Value] = []

  @Flag(help: "List the installed pipeline files, and what each does.")
  var list = false

  @Flag(help: "Only check that the file can be run.")
  var check = false

  @OptionGroup(title: "Output") var writing: OverwriteArguments

  @OptionGroup(title: "Output") var strictness: StrictArguments

  @OptionGroup(title: "Output") var reporting: DisplayArguments

  @OptionGroup(title: "Machine") var machine: ResourceArguments

  func validate() throws {
    if list && file != nil { throw ValidationError("--list lists the installed files, and can't be used with a file.") }
    if !list && file == nil {
      throw ValidationError("No pipeline file is given. `retrograde run --list` lists the installed ones.")
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
          "  \(parameter.name)=\(parameter.fallback ?? "…")\(parameter.fallback == nil ? "  (required)" : "")")
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
