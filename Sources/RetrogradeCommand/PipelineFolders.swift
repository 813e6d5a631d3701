import Retrograde
import RetrogradeEngine
import Paths

/// The folders in which `retrograde run NAME` looks for a pipeline file that has no path.
struct PipelineFolders {
  static let pathExtension = ".pipeline"

  private let folders: DataFolders

  /// - Parameter executable: the path of the running program, `…/bin/retrograde`.
  init(
    environment: [String: String] = DataFolders.environment,
    executable: String? = DataFolders.executable
  ) {
    folders = DataFolders(
      "pipelines", PipelineFolders.pathExtension, environment: environment, executable: executable)
  }

  /// Folders in the order in which they are looked into.
  var paths: [String] { folders.paths }

  /// The files in these folders, by name.
  func files() -> [(name: String, path: String)] { folders.files() }

  /// Path of the file that a user calls `name`: a path, or a file in the current folder, is that file;
  /// another name, with or without `.pipeline`, stands for one in these folders.
  /// - Throws: ``RetrogradeError`` of code `noInput`, with the folders that were looked into.
  func path(of name: String) throws -> String {
    if name.contains("/") || exists(at: name) { return name }
    let fileName = name.hasSuffix(PipelineFolders.pathExtension) ? name : name + PipelineFolders.pathExtension
    if let folder = paths.first(where: { exists(at: "\($0)/\(fileName)") }) {
      return "\(folder)/\(fileName)"
    }
    throw RetrogradeError(
      .noInput,
      about: name, "no such file here, and no \(fileName) in \(paths.joined(separator: ", "))",
      remedy: "`retrograde run --list` names the files that are there")
  }
}
