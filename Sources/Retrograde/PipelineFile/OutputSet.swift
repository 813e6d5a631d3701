import CSystemSupport
import GStreamer
import RetrogradeEngine
import Glibc
import Synchronization

/// The files that the second half of a pipeline file writes: all of them appear whole, or none.
///
/// Sinks write into a folder without a telling name beside where the files belong; when all is done, they are moved.
final class OutputSet: Sendable {
  private struct State {
    /// The folder that is written to, by the folder where its files belong.
    var folders: [(final: String, temporary: String)] = []
    /// The folders that were not there before.
    var made: [String] = []
    var names: [String] = []
    var header = ""
  }
  private let overwrites: Bool
  private let state = Mutex(State())
  /// The properties by which GStreamer's sinks are told where to write.
  private static let properties = ["location", "playlist-location"]

  init(overwrites: Bool) { self.overwrites = overwrites }

  /// What was asked for: file names, or patterns of them.
  var names: [String] { state.withLock { $0.names } }
  /// The one file that is written, if it is one.
  var headerPath: String { state.withLock { $0.header } }

  /// Finds out early whether the outputs may be made.
  func check(_ pipelines: ResolvedPipelines) throws {
    guard let pipeline = try? Pipeline(pipelines.encoding) else { return }
    let inputs = (try? Pipeline(pipelines.decoding))?.files ?? []
    for (sink, _, path) in OutputSet.locations(pipeline) {
      // A pattern names files that are known when they are there: commit() looks.
      if path.contains("%"), sink.factoryName != "filesink" { continue }
      for input in inputs + [""] { try OutputFile.check(path, overwrites: overwrites, input: input) }
    }
  }

  private static func locations(_ pipeline: Pipeline) -> [(element: Element, property: String, path: String)] {
    pipeline.elements(ofClass: "Sink").flatMap { sink in
      properties.compactMap { property in
        sink.string(property).flatMap { $0.isEmpty || $0.hasPrefix("/dev/") ? nil : (sink, property, $0) }
      }
    }
  }

  /// Has the sinks write elsewhere until all is whole.
  func redirect(_ pipeline: Pipeline) throws {
    for (sink, property, path) in OutputSet.locations(pipeline) {
      let slash = path.lastIndex(of: "/")
      let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
      let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
      let temporary = try temporary(for: folder, path)
      try sink.set(property, "\(temporary)/\(name)")
      state.withLock { state in
        state.names.append(path)
        state.header = state.names.count == 1 && sink.factoryName == "filesink" ? "\(temporary)/\(name)" : ""
      }
    }
  }

  /// Finds out early whether the pictures of a sequence may be made.
  func check(sequence pattern: String, input: String) throws {
    guard let found = try? ImageSequence.files(of: pattern), !found.isEmpty else { return }
    if ImageSequence.isPattern(input), OutputSet.resolved(input) == OutputSet.resolved(pattern) {
      throw RetrogradeError(.cannotCreateOutput, "\(pattern): is the input itself; name another output")
    }
    if !overwrites {
      throw RetrogradeError(.cannotCreateOutput, "\(pattern): there are such files; --overwrite replaces them")
    }
  }

  /// A path whose folder has no links in it.
  private static func resolved(_ path: String) -> String {
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { String(path[...$0]) } ?? "."
    guard let real = realpath(folder, nil) else { return path }
    defer { free(real) }
    return String(cString: real) + "/" + (slash.map { path[path.index(after: $0)...] } ?? path[...])
  }

  private func temporary(for folder: String, _ path: String) throws -> String {
    if let known = state.withLock({ $0.folders.first { $0.final == folder }?.temporary }) { return known }
    if mkdir(folder, 0o777) == 0 { state.withLock { $0.made.append(folder) } }
    var template = Array("\(folder)/.retrograde-XXXXXX".utf8CString)
    let made = template.withUnsafeMutableBufferPointer { $0.baseAddress.map { mkdtemp($0) != nil } ?? false }
    guard made else {
      throw RetrogradeError(
        errno == ENOSPC ? .inputOutput : .cannotCreateOutput,
        "\(path): can't be made: \(String(cString: strerror(errno)))")
    }
    let temporary = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    state.withLock { $0.folders.append((folder, temporary)) }
    return temporary
  }

  /// Moves the finished files to where they belong, once their bytes are on the disk.
  func commit() throws {
    for (final, temporary) in state.withLock({ $0.folders }) {
      let files = OutputSet.files(in: temporary)
      guard overwrites || !files.contains(where: { access("\(final)/\($0)", F_OK) == 0 }) else {
        throw RetrogradeError(.cannotCreateOutput, "\(final): has files of these names; --overwrite replaces them")
      }
      for file in files {
        let descriptor = open("\(temporary)/\(file)", O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        guard descriptor >= 0, fsync(descriptor) == 0,
          overwrites
            ? rename("\(temporary)/\(file)", "\(final)/\(file)") == 0
            : system_rename_new("\(temporary)/\(file)", "\(final)/\(file)") == 0
        else {
          throw RetrogradeError(
            .inputOutput, "\(final)/\(file): can't be finished: \(String(cString: strerror(errno)))")
        }
      }
      rmdir(temporary)
    }
  }

  /// Removes what was begun.
  func discard() {
    for (_, temporary) in state.withLock({ $0.folders }) {
      for file in OutputSet.files(in: temporary) { unlink("\(temporary)/\(file)") }
      rmdir(temporary)
    }
    for folder in state.withLock({ $0.made }) { rmdir(folder) }
  }

  private static func files(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }
}
