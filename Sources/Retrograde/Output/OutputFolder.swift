import Glibc
import RetrogradeEngine
import Synchronization
import Paths

/// Output files in one folder, with file names that GStreamer sinks choose: numbered images, or
/// segments and their playlist.
///
/// The files are written to a temporary subfolder, and moved to the folder when all are complete.
/// Numbered files replace all existing files of the same pattern. The existing files are first
/// moved to another subfolder, so that they can be restored if a later move fails.
final class OutputFolder: OutputPart {
  private struct State {
    /// Requested outputs: file names, or patterns of numbered files.
    var places: [OutputPlace] = []
    /// Temporary folder that contains the files until all are complete; nil before the first write.
    var workFolder: String?
    /// True if this object created ``folder``.
    var isMade = false
    /// Files moved by ``publish()``, in order; ``rollBack()`` moves them back.
    var moves: [(from: String, to: String)] = []
    var isPublished = false
  }
  let folder: String
  private let overwrites: Bool
  private let state = Mutex(State())

  init(_ folder: String, overwrites: Bool) {
    self.folder = folder
    self.overwrites = overwrites
  }

  /// Adds the output at `place`, after checking that its files can be created. If the folder is
  /// missing, the first write will create it.
  /// - Throws: ``RetrogradeError`` of code `cannotCreateOutput`.
  func add(_ place: OutputPlace, inputs: [String]) throws {
    if access(folder.cPath, F_OK) == 0 {
      try place.checkFolder()
      let inputs = Set(inputs.flatMap(FileIdentity.all))
      for name in try existing(of: place) {
        try OutputPlace("\(folder)/\(name)").check(overwrites: overwrites, inputs: inputs)
      }
    } else {
      try OutputPlace(folder).checkFolder()
    }
    state.withLock { $0.places.append(place) }
  }

  /// Returns the names of the existing files that the output at `place` would replace.
  private func existing(of place: OutputPlace) throws -> [String] {
    ImageSequence.isPattern(place.path)
      ? try ImageSequence.names(of: place.path) : [place.name].filter(exists)
  }

  private func exists(_ name: String) -> Bool {
    var info = stat()
    return lstat("\(folder)/\(name)".cPath, &info) == 0
  }

  private func names(in folder: String) -> [String] { (fileNames(in: folder) ?? []).sorted() }

  private func newFiles(_ workFolder: String) -> String { "\(workFolder)/new" }
  private func oldFiles(_ workFolder: String) -> String { "\(workFolder)/old" }

  func location(of place: OutputPlace) throws -> String {
    let known = state.withLock { $0.workFolder }
    return "\(newFiles(try known ?? makeWorkFolder(for: place)))/\(place.name)"
  }

  private func makeWorkFolder(for place: OutputPlace) throws -> String {
    if mkdir(folder.cPath, 0o777) == 0 { state.withLock { $0.isMade = true } }
    let workFolder = TemporaryFile.name(in: folder)
    guard mkdir(workFolder.cPath, 0o700) == 0 else { throw place.failure }
    state.withLock { $0.workFolder = workFolder }
    guard mkdir(newFiles(workFolder).cPath, 0o700) == 0, mkdir(oldFiles(workFolder).cPath, 0o700) == 0 else {
      throw place.failure
    }
    return workFolder
  }

  func sync() throws {
    guard let workFolder = state.withLock({ $0.workFolder }) else { return }
    for name in names(in: newFiles(workFolder)) {
      let descriptor = open("\(newFiles(workFolder))/\(name)".cPath, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw OutputPlace("\(folder)/\(name)").failure }
      let status = fsync(descriptor)
      let reason = errno
      close(descriptor)
      errno = reason
      guard status == 0 else { throw OutputPlace("\(folder)/\(name)").failure }
    }
  }

  func publish() throws {
    let (places, work) = state.withLock { ($0.places, $0.workFolder) }
    guard let workFolder = work else { return }
    let (newFolder, oldFolder) = (newFiles(workFolder), oldFiles(workFolder))
    let new = names(in: newFolder)
    guard !new.isEmpty else {
      throw RetrogradeError(.internalFailure, about: places.map(\.path).joined(separator: ", "), "no file was written")
    }
    if overwrites {
      for name in Set(new.filter(exists) + (try places.flatMap(existing))).sorted() {
        try OutputPlace("\(folder)/\(name)").check(overwrites: true, inputs: [])
        try move(name, from: folder, to: oldFolder)
      }
    }
    for name in new { try move(name, from: newFolder, to: folder) }
    state.withLock { $0.isPublished = true }
  }

  private func move(_ name: String, from: String, to: String) throws {
    let (old, new) = ("\(from)/\(name)", "\(to)/\(name)")
    guard renameToNew(old, new) else { throw OutputPlace("\(folder)/\(name)").failure }
    state.withLock { $0.moves.append((old, new)) }
  }

  func rollBack() -> String? {
    let (moves, workFolder) = state.withLock { state in
      defer {
        state.moves = []
        state.isPublished = false
      }
      return (state.moves, state.workFolder)
    }
    for (from, to) in moves.reversed() { rename(to.cPath, from.cPath) }
    guard let workFolder, !names(in: oldFiles(workFolder)).isEmpty else { return nil }
    return "the previous files are now in \(oldFiles(workFolder))"
  }

  func clear() {
    let (workFolder, isPublished, isMade) = state.withLock { ($0.workFolder, $0.isPublished, $0.isMade) }
    if let workFolder {
      // If publishing failed, keep the remaining old files, because they could not be restored.
      for folder in isPublished ? [newFiles(workFolder), oldFiles(workFolder)] : [newFiles(workFolder)] {
        for name in names(in: folder) { unlink("\(folder)/\(name)".cPath) }
      }
      for folder in [newFiles(workFolder), oldFiles(workFolder), workFolder] { rmdir(folder.cPath) }
    }
    if isMade { rmdir(folder.cPath) }  // fails if the folder contains files
  }
}
