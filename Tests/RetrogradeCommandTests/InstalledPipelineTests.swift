import Foundation
import Testing

@testable import RetrogradeCommand

/// Pipeline files that `retrograde run NAME` finds by name.
@Suite struct InstalledPipelineTests {
  private let scratch: Scratch
  /// Environment in which the command searches only the test's folders for installed pipeline
  /// files.
  private let environment: [String: String]

  init() throws {
    scratch = try Scratch()
    environment = ProcessInfo.processInfo.environment.merging([
      "XDG_DATA_HOME": scratch.path("own"), "XDG_DATA_DIRS": "\(scratch.path("first")):\(scratch.path("second"))",
    ]) { $1 }
  }

  private func install(_ name: String, in folder: String, _ comment: String) throws {
    let pipelines = scratch.url.appending(path: "\(folder)/retrograde/pipelines")
    try FileManager.default.createDirectory(at: pipelines, withIntermediateDirectories: true)
    let text = """
      # \(comment)

      filesrc location=${input} ! decodebin ! video/x-raw ! videoconvert ! appsink name=video
      ---
      appsrc name=video ! videoconvert ! avenc_ffv1 ! matroskamux ! filesink location=${output}

      """
    try Data(text.utf8).write(to: pipelines.appending(path: "\(name).pipeline"))
  }

  /// Returns the lines of `run --list` that start with one of `names`. The other lines, which list
  /// the pipeline files in this project's source, are left out.
  private func listed(_ result: Command.Result, _ names: String...) -> [String] {
    result.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
      .filter { line in names.contains { line.hasPrefix("\($0) ") } }
  }

  @Test("a command in a build folder also searches the source folder that contains it")
  func sourceFolder() {
    let folders = PipelineFolders(environment: ["HOME": "/home/anna"], executable: "/src/it/.build/release/retrograde")
    #expect(folders.paths.prefix(2) == ["/home/anna/.local/share/retrograde/pipelines", "/src/it/pipelines"])
  }

  @Test("a name stands for an installed file", arguments: ["mine", "mine.pipeline"])
  func installedName(name: String) throws {
    try install("mine", in: "second", "Of the system.")
    try Command.makeClip(scratch.path("a.mp4"))
    let result = try Command.run(
      ["run", name, "input=\(scratch.path("a.mp4"))", "output=\(scratch.path("b.mkv"))"], environment: environment)
    #expect(result.status == 0, "\(result.errors)")
    #expect(scratch.names.contains("b.mkv"))
  }

  @Test("user files hide system files, and earlier folders hide later ones")
  func precedence() throws {
    try install("one", in: "own", "The user's one.")
    try install("one", in: "first", "The system's one.")
    try install("two", in: "first", "The first two.")
    try install("two", in: "second", "The second two.")
    try install("three", in: "second", "The only three.")
    let result = try Command.run(["run", "--list"], environment: environment)
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      listed(result, "one", "two", "three") == ["one The user's one.", "three The only three.", "two The first two."])
  }

  @Test("files installed with the command are found")
  func installedWithCommand() throws {
    let folder = scratch.path("prefix/share/retrograde/pipelines")
    let folders = PipelineFolders(environment: environment, executable: scratch.path("prefix/bin/retrograde"))
    #expect(
      folders.paths == [
        scratch.path("own/retrograde/pipelines"), folder, scratch.path("first/retrograde/pipelines"),
        scratch.path("second/retrograde/pipelines"),
      ])
    try install("with-it", in: "prefix/share", "Came with the command.")
    #expect(try folders.path(of: "with-it") == "\(folder)/with-it.pipeline")
  }

  @Test("if no XDG variable is set, the XDG default folders are searched")
  func defaultFolders() {
    let folders = PipelineFolders(environment: ["HOME": "/home/anna"], executable: "/usr/bin/retrograde")
    #expect(
      folders.paths == [
        "/home/anna/.local/share/retrograde/pipelines", "/usr/share/retrograde/pipelines",
        "/usr/local/share/retrograde/pipelines",
      ])
  }

  @Test("relative folders in XDG variables are ignored")
  func relativeFolders() {
    let folders = PipelineFolders(
      environment: ["HOME": "/home/anna", "XDG_DATA_HOME": "own", "XDG_DATA_DIRS": "a:/b"], executable: nil)
    #expect(folders.paths == ["/b/retrograde/pipelines"])
  }

  @Test("a path is used as it is, without a search in other folders")
  func explicitPath() throws {
    try install("mine", in: "first", "Of the system.")
    let path = scratch.path("no/mine.pipeline")
    let result = try Command.run(["run", path], environment: environment)
    #expect(result.status == 66)
    #expect(result.errors == "retrograde: \(path): No such file or directory\n")
  }

  @Test("an unknown name lists the searched folders")
  func unknownName() throws {
    let result = try Command.run(["run", "nowhere"], environment: environment)
    #expect(result.status == 66)
    for folder in ["own", "first", "second"] {
      #expect(result.errors.contains(scratch.path("\(folder)/retrograde/pipelines")))
    }
  }

  @Test("the list names an invalid file")
  func invalidFile() throws {
    try install("good", in: "first", "Good.")
    let path = scratch.path("first/retrograde/pipelines/bad.pipeline")
    try Data("filesrc ! fakesink\n".utf8).write(to: URL(fileURLWithPath: path))
    let result = try Command.run(["run", "--list"], environment: environment)
    #expect(result.status == 0, "\(result.errors)")
    let lines = listed(result, "bad", "good")
    #expect(lines.first?.hasPrefix("bad can't be run: \(path):1:1: ") ?? false)
    #expect(lines.last == "good Good.")
  }

  @Test("run takes either a file or --list", arguments: [["run"], ["run", "--list", "mine"]])
  func fileOrList(arguments: [String]) throws {
    #expect(try Command.run(arguments, environment: environment).status == 64)
  }
}
