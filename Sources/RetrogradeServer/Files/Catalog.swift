import Glibc
import Retrograde
import RetrogradeEngine
import Synchronization
import Paths

/// Served files: the files that the user named, and the media files in the folders that the user
/// named. Requests are looked up in this list; no part of an address is ever used as a path.
package final class Catalog: Sendable {
  struct File: Sendable {
    let id: String
    let path: String
    /// File name, for display. ``folder`` is the file's subfolder within the named folder, or
    /// empty.
    let name: String
    let folder: String
  }

  private struct State {
    var files: [File] = []
    var byID: [String: File] = [:]
    /// Results of `MediaFolder.isMedia`, by the bytes of the path. A result is valid while the
    /// file's stamp stays the same.
    var known: [[UInt8]: (stamp: FileStamp, isMedia: Bool)] = [:]
    var looked: ContinuousClock.Instant?
  }

  /// Files and folders that the user named.
  private let names: [String]
  /// Folders among ``names``.
  private let folders: [String]
  private let state = Mutex(State())

  /// Limits on the number of files and on the folder depth.
  static let most = (files: 5000, depth: 8)

  /// Reads the named files and folders. Blocks.
  /// - Throws: ``RetrogradeError``. The code is `noInput` if a named file or folder does not exist
  ///   or can't be read, or if no media files were found. The code is `damagedInput` if a named
  ///   file is not media.
  package init(_ names: [String]) throws {
    self.names = names
    for name in names where access(name.cPath, R_OK) != 0 {
      throw RetrogradeError(.noInput, about: name, "\(String(cString: strerror(errno)))")
    }
    folders = names.filter(MediaFolder.isFolder)
    refresh()
    for name in names where !folders.contains(name) {
      guard MediaFolder.isMedia(name) else {
        throw RetrogradeError(
          .damagedInput, about: name, "is not video or audio in a format that GStreamer supports",
          remedy: "give media files, or a folder of them")
      }
    }
    guard !files.isEmpty else {
      throw RetrogradeError(
        .noInput, about: names.joined(separator: ", "), "no media files were found",
        remedy: "give media files, or a folder of them")
    }
  }

  /// Files in the order in which they were named; the files of a folder are sorted by name.
  var files: [File] { state.withLock { $0.files } }

  /// True if exactly one file was named, and no folder.
  var isSingle: Bool { folders.isEmpty && names.count == 1 }

  /// Opens the file with this ID, even if the file was added to a named folder after the server had
  /// started. Blocks.
  /// - Returns: nil if there is no such file, or the file is no longer in the named folder.
  func open(_ id: String) -> (file: File, content: OpenFile)? {
    if state.withLock({ $0.byID[id] }) == nil, !folders.isEmpty { refreshSometimes() }
    guard let file = state.withLock({ $0.byID[id] }) else { return nil }
    if names.contains(file.path), !folders.contains(file.path) {
      return OpenFile(plainFile: file.path).map { (file, $0) }
    }
    for folder in folders where file.path.utf8.starts(with: folder.utf8) {
      if let root = realPath(folder), let content = OpenFile(plainFile: file.path, in: root) { return (file, content) }
    }
    return nil
  }

  /// Rescans the folders, at most once a second. Blocks.
  func refreshSometimes() {
    let isDue = state.withLock { state in
      let now = ContinuousClock.now
      guard state.looked.map({ now - $0 > .seconds(1) }) ?? true else { return false }
      // Concurrent requests do not wait: they use the files known so far.
      state.looked = now
      return true
    }
    if isDue { refresh() }
  }

  private func refresh() {
    var found: [File] = []
    for name in names {
      guard folders.contains(name) else {
        found.append(
          File(
            id: FileID.of(name), path: name, name: name.lastPart, folder: "")
        )
        continue
      }
      guard let root = realPath(name) else { continue }
      collect(name, in: root, "", 0, &found)
    }
    state.withLock { state in
      state.looked = .now
      state.files = found
      state.byID = Dictionary(found.map { ($0.id, $0) }) { first, _ in first }
    }
  }

  private func collect(_ folder: String, in root: String, _ subfolder: String, _ depth: Int, _ found: inout [File]) {
    for name in (fileNames(in: folder) ?? []).sorted() where !name.hasPrefix(".") {
      guard found.count < Catalog.most.files else { return }
      let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
      let within = subfolder.isEmpty ? name : "\(subfolder)/\(name)"
      if MediaFolder.isFolder(path) {
        // A symbolic link may lead outside the named folder, or into a cycle.
        if depth < Catalog.most.depth, !isLink(path) { collect(path, in: root, within, depth + 1, &found) }
      } else if isMedia(path, in: root) {
        found.append(File(id: FileID.of(path), path: path, name: name, folder: subfolder))
      }
    }
  }

  private func isMedia(_ path: String, in root: String) -> Bool {
    guard let content = OpenFile(plainFile: path, in: root) else { return false }
    if let known = state.withLock({ $0.known[path.pathBytes] }), known.stamp == content.stamp { return known.isMedia }
    let isMedia = MediaFolder.isMedia(content.path)
    state.withLock { $0.known[path.pathBytes] = (content.stamp, isMedia) }
    return isMedia
  }
}

private func isLink(_ path: String) -> Bool {
  var info = stat()
  return lstat(path.cPath, &info) == 0 && info.st_mode & S_IFMT == S_IFLNK
}
