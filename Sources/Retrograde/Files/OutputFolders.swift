import Glibc
import RetrogradeEngine
import Synchronization
import Paths

/// Folders that outputs go into. Those that are not there are made, and are gone again when nothing was put into them.
package final class OutputFolders: Sendable {
  /// Folders that were made, in that order.
  private let made = Mutex<[String]>([])

  package init() {}

  /// Makes `folder`, and the folders that it is in, where they are not there.
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
      reason == EEXIST ? "is not a folder" : "the folder can't be made: \(String(cString: strerror(reason)))",
      remedy: "name another one")
  }

  /// Removes those that were made and are empty.
  package func clear() {
    for folder in made.withLock({ $0.reversed() }) { rmdir(folder.cPath) }
  }
}
