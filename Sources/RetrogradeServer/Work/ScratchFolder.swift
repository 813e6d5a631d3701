import Glibc
import RetrogradeEngine
import Paths

/// Temporary folder for a file that is created by name and then unlinked.
enum ScratchFolder {
  /// - Parameters:
  ///   - directory: where the temporary folder is created. The temporary folder exists while `make`
  ///     runs.
  ///   - name: name of the file.
  ///   - make: creates the file at the passed path.
  /// - Returns: the file, unlinked.
  static func made(
    in directory: String, _ name: String, _ make: (_ path: String) async throws -> Void
  ) async throws -> OpenFile {
    let folder = TemporaryFile.name(in: directory)
    guard mkdir(folder.cPath, 0o700) == 0 else {
      throw RetrogradeError(
        .inputOutput, about: directory, "no temporary folder can be created: \(String(cString: strerror(errno)))")
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
