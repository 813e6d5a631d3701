import CSystemSupport
import Glibc
import RetrogradeEngine

/// The file to be made. It is written beside its final name, under another, and appears whole or not at all.
final class OutputFile: Sendable {
  let path: String
  /// Where it is written until it is whole.
  let temporaryPath: String
  private let overwrites: Bool

  /// - Throws: ``RetrogradeError`` of code `cannotCreateOutput`.
  init(_ path: String, overwrites: Bool, input: String) throws {
    self.path = path
    self.overwrites = overwrites
    try OutputFile.check(path, overwrites: overwrites, input: input)
    let slash = path.lastIndex(of: "/")
    let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    var template = Array("\(directory)/.\(name.prefix(200)).XXXXXX".utf8CString)
    let descriptor = system_make_temporary(&template)
    guard descriptor >= 0 else {
      throw RetrogradeError(
        errno == ENOSPC ? .inputOutput : .cannotCreateOutput,
        "\(path): can't be made: \(String(cString: strerror(errno)))")
    }
    // A temporary file may be read by its owner only; the output is to be like any other new file.
    let mask = umask(0)
    umask(mask)
    fchmod(descriptor, 0o666 & ~mask)
    close(descriptor)
    temporaryPath = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
  }

  /// Finds out early whether the output may be made, before any work is done for it.
  static func check(_ path: String, overwrites: Bool, input: String) throws {
    var output = stat()
    guard stat(path, &output) == 0 else { return }
    var source = stat()
    if stat(input, &source) == 0, source.st_dev == output.st_dev, source.st_ino == output.st_ino {
      throw RetrogradeError(.cannotCreateOutput, "\(path): is the input itself; name another output")
    }
    guard output.st_mode & S_IFMT == S_IFREG else {
      throw RetrogradeError(.cannotCreateOutput, "\(path): is not a plain file")
    }
    if !overwrites {
      throw RetrogradeError(.cannotCreateOutput, "\(path): exists; --overwrite replaces it")
    }
  }

  /// Gives the finished file its name, once its bytes are on the disk.
  func commit() throws {
    let descriptor = open(temporaryPath, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure() }
    let synced = fsync(descriptor)
    close(descriptor)
    guard synced == 0 else { throw failure() }
    // Somebody may have made a file of that name meanwhile: it is theirs.
    let moved =
      overwrites
      ? rename(temporaryPath, path)
      : system_rename_new(temporaryPath, path)
    if moved != 0 && !overwrites && (errno == EINVAL || errno == ENOSYS) {  // file systems without RENAME_NOREPLACE
      guard link(temporaryPath, path) == 0 else { throw failure() }
      unlink(temporaryPath)
    } else if moved != 0 {
      throw failure()
    }
  }

  /// Removes what was begun.
  func discard() { unlink(temporaryPath) }

  private func failure() -> RetrogradeError {
    let code: RetrogradeError.Code = errno == EEXIST ? .cannotCreateOutput : .inputOutput
    let advice = errno == EEXIST ? "; --overwrite replaces it" : ""
    return RetrogradeError(code, "\(path): can't be finished: \(String(cString: strerror(errno)))\(advice)")
  }
}
