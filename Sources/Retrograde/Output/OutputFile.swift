import CSystemSupport
import Glibc
import RetrogradeEngine
import Synchronization
import Paths

/// A single output file. The file is created in its folder without a name (`O_TMPFILE`), and gets
/// its name when it is complete. If the file system can't create unnamed files, the file has a
/// temporary name until then.
///
/// If no file has the name yet, `linkat` assigns it in one step. `linkat` can't replace a file, so
/// a replacement takes two steps: the new file gets a temporary name in the same folder, and then
/// `renameat2` exchanges both names. The old file can thus be restored.
final class OutputFile: OutputPart {
  private struct State {
    /// True if the file is being written.
    var isWritten = false
    /// Temporary name. Before ``publish()``, it names the new file; after an exchange, the replaced
    /// file. nil if neither file has a temporary name.
    var name: String?
    /// True if the file has its final name, and no file had this name before.
    var isNew = false
    /// True if the replaced file now has the temporary name `name`.
    var isExchanged = false
  }
  private let place: OutputPlace
  private let overwrites: Bool
  private let file: TemporaryFile
  private let state: Mutex<State>

  /// - Parameter needsName: true to behave as on a file system that can't create unnamed files.
  /// - Throws: ``RetrogradeError`` of code `cannotCreateOutput`; `inputOutput` if the disk is full
  ///   or fails.
  init(_ place: OutputPlace, overwrites: Bool, inputs: [String], needsName: Bool = false) throws {
    self.place = place
    self.overwrites = overwrites
    try place.checkFolder()
    try place.check(overwrites: overwrites, inputs: Set(inputs.flatMap(FileIdentity.all)))
    guard let file = TemporaryFile(in: place.folder, mode: 0o666, needsName: needsName) else {
      let reason = errno
      throw RetrogradeError(
        [ENOSPC, EDQUOT, EIO].contains(reason) ? .inputOutput : .cannotCreateOutput,
        about: place.path, "can't be created: \(String(cString: strerror(reason)))")
    }
    self.file = file
    state = Mutex(State(name: file.name))
  }

  func location(of place: OutputPlace) -> String {
    state.withLock { $0.isWritten = true }
    return file.path
  }

  func sync() throws {
    guard !state.withLock({ $0.isWritten }) || fsync(file.descriptor) == 0 else { throw place.failure }
  }

  func publish() throws {
    guard state.withLock({ $0.isWritten }) else { return }
    if state.withLock({ $0.name }) == nil {
      if link(as: place.path) {
        state.withLock { $0.isNew = true }
        return
      }
      guard errno == EEXIST, overwrites else { throw place.failure }
      let name = TemporaryFile.name(in: place.folder)
      guard link(as: name) else { throw place.failure }
      state.withLock { $0.name = name }
    }
    guard let name = state.withLock({ $0.name }) else { return }
    if overwrites, system_exchange(name.cPath, place.path.cPath) == 0 {
      return state.withLock { $0.isExchanged = true }
    }
    let isNew = !overwrites || access(place.path.cPath, F_OK) != 0
    guard overwrites ? rename(name.cPath, place.path.cPath) == 0 : renameToNew(name, place.path) else {
      throw place.failure
    }
    state.withLock {
      $0.name = nil
      $0.isNew = isNew
    }
  }

  /// Gives the unnamed file a name; returns false on failure, with the reason in `errno`.
  private func link(as name: String) -> Bool {
    linkat(AT_FDCWD, file.path.cPath, AT_FDCWD, name.cPath, AT_SYMLINK_FOLLOW) == 0
  }

  func rollBack() -> String? {
    state.withLock { state in
      if state.isNew { unlink(place.path.cPath) }
      state.isNew = false
      guard state.isExchanged, let name = state.name else { return nil }
      state.isExchanged = false
      guard system_exchange(name.cPath, place.path.cPath) != 0 else { return nil }
      // Keep the previous file, which ``clear()`` would remove.
      state.name = nil
      return "the previous file is now \(name)"
    }
  }

  func clear() {
    state.withLock { state in
      if let name = state.name { unlink(name.cPath) }
      state.name = nil
    }
  }
}

/// Renames a file to a name that does not exist yet.
/// - Returns: false if renaming fails; `errno` then has the reason: EEXIST if the name exists.
func renameToNew(_ from: String, _ to: String) -> Bool {
  if system_rename_new(from.cPath, to.cPath) == 0 { return true }
  guard [EINVAL, ENOSYS].contains(errno) else { return false }
  // On file systems without RENAME_NOREPLACE (NFS, FUSE), use a hard link. Some of these file
  // systems have no hard links either: for them, look for the name before renaming.
  if link(from.cPath, to.cPath) == 0 {
    unlink(from.cPath)
    return true
  }
  guard [EPERM, ENOSYS, EOPNOTSUPP, EMLINK].contains(errno) else { return false }
  if access(to.cPath, F_OK) == 0 {
    errno = EEXIST
    return false
  }
  return rename(from.cPath, to.cPath) == 0
}
