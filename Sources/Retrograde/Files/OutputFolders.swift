import Glibc
import RetrogradeEngine
import Synchronization
import Paths

/// Creates missing output folders, and removes the created folders again if they stay empty.
package final class OutputFolders: Sendable {
  /// Created folders, in the order of creation.
  private let made = Mutex<[String]>([])

  package init() {}

  /// Creates `folder` and its parent folders if they are missing.
  /// - Throws: ``RetrogradeError`` of code `cannotCreateOutput`.
  package func make(_ folder: String) throws {
    if folder.isEmpty || MediaFolder.isFolder(folder) { return }
    let place = OutputPlace(folder)
    if place.folder != folder, !place.name.isEmpty { try make(place.folder) }
    if mkdir(folder.cPath, 0o777) == 0 { return made.withLock { $0.append(folder) } }
    let reason = errno
    guard reason != EEXIST || !MediaFolder.isFolder(folder) else { return }
    throw RetrogradeError(
      .cannotCreateOutput, about: folder,
      reason == EEXIST ? "is not a folder" : "the folder can't be created: \(String(cString: strerror(reason)))",
      remedy: "use another folder")
  }

  /// Removes the created folders that are empty.
  package func clear() {
    for folder in made.withLock({ $0.reversed() }) { rmdir(folder.cPath) }
  }
}
