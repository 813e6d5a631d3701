import FoundationEssentials
import Glibc
import Paths

/// The folders in which files of one kind lie that come with the command, or that users add: `retrograde/pipelines`, `retrograde/presets`.
struct DataFolders {
  /// File name extension, with its dot.
  let pathExtension: String
  /// Folders in the order in which they are looked into: a file in an earlier one hides those of its name in
  /// later ones.
  let paths: [String]

  /// The path of the running program.
  static var executable: String? { realPath("/proc/self/exe") }

  /// The variables that name folders.
  static var environment: [String: String] {
    ["HOME", "XDG_DATA_HOME", "XDG_DATA_DIRS"].reduce(into: [:]) { values, name in
      values[name] = getenv(name).map { String(cPath: $0) }
    }
  }

  /// The user's own files come first, then those that came with this very command, or with the source it was built from, then the system's.
  ///
  /// The XDG Base Directory Specification says what the variables mean, and that relative paths in them are ignored.
  /// - Parameters:
  ///   - name: of the folder in `retrograde`.
  ///   - executable: the path of the running program, `…/bin/retrograde`.
  init(
    _ name: String, _ pathExtension: String,
    environment: [String: String] = DataFolders.environment,
    executable: String? = DataFolders.executable
  ) {
    func value(_ variable: String) -> String? { environment[variable].flatMap { $0.isEmpty ? nil : $0 } }
    let own = value("XDG_DATA_HOME") ?? value("HOME").map { $0 + "/.local/share" }
    let installed = executable.map {
      URL(fileURLWithPath: $0).deletingLastPathComponent().deletingLastPathComponent().appending(path: "share").path
    }
    let system = (value("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share").split(separator: ":").map(String.init)
    var paths: [String] = []
    func add(_ path: String) {
      if !paths.contains(path) { paths.append(path) }
    }
    for folder in [own, installed].compactMap({ $0 }) + system where folder.hasPrefix("/") {
      if folder == installed, let source = executable.flatMap(DataFolders.source) { add("\(source)/\(name)") }
      add(URL(fileURLWithPath: folder).standardizedFileURL.appending(path: "retrograde/\(name)").path)
    }
    (self.pathExtension, self.paths) = (pathExtension, paths)
  }

  /// The folder of the source of a program that lies where SwiftPM puts it; nil of another one.
  private static func source(of executable: String) -> String? {
    executable.firstRange(of: "/.build/").map { String(executable[..<$0.lowerBound]) }
  }

  /// The files in these folders, by name.
  func files() -> [(name: String, path: String)] {
    var found: [String: String] = [:]
    for folder in paths {
      for name in fileNames(in: folder) ?? []
      where name.hasSuffix(pathExtension) && found[name] == nil {
        found[name] = "\(folder)/\(name)"
      }
    }
    return found.map { (String($0.key.dropLast(pathExtension.count)), $0.value) }.sorted { $0.name < $1.name }
  }
}
