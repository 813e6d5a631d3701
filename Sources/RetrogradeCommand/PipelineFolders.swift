import Retrograde
import RetrogradeEngine
import Paths

/// Folders in which `retrograde run NAME` searches for pipeline files.
struct PipelineFolders {
  static let pathExtension = ".pipeline"

  private let folders: DataFolders

  /// - Parameter executable: path of the running program, `…/bin/retrograde`.
  init(
    environment: [String: String] = DataFolders.environment,
    executable: String? = DataFolders.executable
  ) {
    folders = DataFolders(
      "pipelines", PipelineFolders.pathExtension, environment: environment, executable: executable)
  }

  /// Folders in search order.
  var paths: [String] { folders.paths }

  /// Names and paths of all pipeline files in the search folders.
  func files() -> [(name: String, path: String)] { folders.files() }

  /// Returns the path of the pipeline file `name`. A path, or the name of a file in the current
  /// folder, is returned unchanged. Any other name, with or without `.pipeline`, stands for a file
  /// in the search folders.
  /// - Throws: ``RetrogradeError`` of code `noInput`, with the searched folders.
  func path(of name: String) throws -> String {
    if name.contains("/") || exists(at: name) { return name }
    let fileName = name.hasSuffix(PipelineFolders.pathExtension) ? name : name + PipelineFolders.pathExtension
    if let folder = paths.first(where: { exists(at: "\($0)/\(fileName)") }) {
      return "\(folder)/\(fileName)"
    }
    throw RetrogradeError(
      .noInput,
      about: name, "there is no such file, and no \(fileName) in \(paths.joined(separator: ", "))",
      remedy: "`retrograde run --list` lists the installed files")
  }
}
