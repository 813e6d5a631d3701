import Glibc
import RetrogradeEngine
import Paths

/// A folder for a file that is made by name, and kept without one.
enum ScratchFolder {
  /// - Parameters:
  ///   - directory: where the folder is, for as long as the file is made.
  ///   - name: of the file.
  ///   - make: makes it, at the path that it gets.
  /// - Returns: the file, which has no name any more.
  static func made(
    in directory: String, _ name: String, _ make: (_ path: String) async throws -> Void
  ) async throws -> OpenFile {
    let folder = TemporaryFile.name(in: directory)
    guard mkdir(folder.cPath, 0o700) == 0 else {
      throw RetrogradeError(
        .inputOutput, about: directory, "no folder can be made: \(String(cString: strerror(errno)))")
    }
    let path = "\(folder)/\(name)"
    defer {
      unlink(path.cPath)
      rmdir(folder.cPath)
    }
    try await make(path)
    return try OpenFile(path)
  }
}
