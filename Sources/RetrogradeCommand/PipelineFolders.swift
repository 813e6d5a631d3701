import FoundationEssentials
import Retrograde
import RetrogradeEngine

/// The folders in which `retrograde run NAME` looks for a pipeline file that has no path.
struct PipelineFolders {
  static let pathExtension = ".pipeline"

  /// In the order in which they are looked into: a file in an earlier one hides those of its name in later ones.
  let paths: [String]

  /// The user's own files come first, then those that came with this very command, then the system's.
  ///
  /// The XDG Base Directory Specification says what the variables mean, and that relative paths in them are ignored.
  /// - Parameter executable: the path of the running program, `…/bin/retrograde`.
  init(
    environment: [String: String] = ProcessInfo.processInfo.environment,
    executable: String? = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
  ) {
    func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    let own = value("XDG_DATA_HOME") ?? value("HOME").map { $0 + "/.local/share" }
    let installed = executable.map {
      URL(fileURLWithPath: $0).deletingLastPathComponent().deletingLastPathComponent().appending(path: "share").path
    }
    let system = (value("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share").split(separator: ":").map(String.init)
    var paths: [String] = []
    for folder in [own, installed].compactMap({ $0 }) + system where folder.hasPrefix("/") {
      let path = URL(fileURLWithPath: folder).standardizedFileURL.appending(path: "retrograde/pipelines").path
      if !paths.contains(path) { paths.append(path) }
    }
    self.paths = paths
  }

  /// Where the file is that a user calls `name`: a path, or a file in the current folder, is that file; another name, with or
  /// without `.pipeline`, stands for one in these folders.
  /// - Throws: ``RetrogradeError`` of code `noInput`, with the folders that were looked into.
  func path(of name: String) throws -> String {
    let files = FileManager.default
    if name.contains("/") || files.fileExists(atPath: name) { return name }
    let fileName = name.hasSuffix(PipelineFolders.pathExtension) ? name : name + PipelineFolders.pathExtension
    if let folder = paths.first(where: { files.fileExists(atPath: "\($0)/\(fileName)") }) {
      return "\(folder)/\(fileName)"
    }
    throw RetrogradeError(
      .noInput,
      about: name, "no such file here, and no \(fileName) in \(paths.joined(separator: ", "))",
      remedy: "`retrograde run --list` names the files that are there")
  }

  /// The files in these folders, by name.
  func files() -> [(name: String, path: String)] {
    var found: [String: String] = [:]
    for folder in paths {
      for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      where name.hasSuffix(PipelineFolders.pathExtension) && found[name] == nil {
        found[name] = "\(folder)/\(name)"
      }
    }
    return found.map { (String($0.key.dropLast(PipelineFolders.pathExtension.count)), $0.value) }
      .sorted { $0.name < $1.name }
  }
}
