import FoundationEssentials
import Glibc
import Paths

/// Folders for one kind of installed or user file: `retrograde/pipelines` or `retrograde/presets`.
struct DataFolders {
  /// File name extension, with the dot.
  let pathExtension: String
  /// Folders in search order: a file hides files of the same name in later folders.
  let paths: [String]

  /// Path of the running program.
  static var executable: String? { realPath("/proc/self/exe") }

  /// Environment variables that name folders.
  static var environment: [String: String] {
    ["HOME", "XDG_DATA_HOME", "XDG_DATA_DIRS"].reduce(into: [:]) { values, name in
      values[name] = getenv(name).map { String(cPath: $0) }
    }
  }

  /// Search order: the user's folder; the folder in this command's source tree, if the command runs
  /// from its build folder; the folder that was installed with this command; the system's folders.
  ///
  /// The environment variables follow the XDG Base Directory Specification; relative paths in them
  /// are ignored.
  /// - Parameters:
  ///   - name: name of the folder below `retrograde`, such as `pipelines`.
  ///   - executable: path of the running program, `…/bin/retrograde`.
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

  /// Returns the root of the source tree if `executable` is in SwiftPM's build folder; nil for an
  /// installed program.
  private static func source(of executable: String) -> String? {
    executable.firstRange(of: "/.build/").map { String(executable[..<$0.lowerBound]) }
  }

  /// Files in ``paths``, sorted by name.
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
