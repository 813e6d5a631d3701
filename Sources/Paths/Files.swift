import Glibc

/// Returns the names of all entries of a folder except `.` and `..`, unordered.
/// - Returns: nil if the folder cannot be read; `errno` has the reason.
package func fileNames(in folder: String) -> [String]? {
  guard let directory = opendir(folder.cPath) else { return nil }
  defer { closedir(directory) }
  var names: [String] = []
  while let entry = readdir(directory) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cPath: $0) }
    }
    if name != "." && name != ".." { names.append(name) }
  }
  return names
}

/// Reads a file.
/// - Parameter most: size limit, in bytes.
/// - Returns: nil if the file cannot be read; `errno` has the reason, which is `EFBIG` if the file
///   exceeds the limit.
package func fileBytes(at path: String, most: Int = .max) -> [UInt8]? {
  let descriptor = open(path.cPath, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  var bytes: [UInt8] = []
  var part = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = read(descriptor, &part, part.count)
    if count < 0 && errno == EINTR { continue }
    if count < 0 { return nil }
    if count == 0 { return bytes }
    bytes += part[..<count]
    if bytes.count > most {
      errno = EFBIG
      return nil
    }
  }
}

/// True if the path exists.
package func exists(at path: String) -> Bool { access(path.cPath, F_OK) == 0 }

/// Resolves links, `.` and `..` in a path.
/// - Returns: nil if the path does not exist.
package func realPath(_ path: String) -> String? {
  guard let real = realpath(path.cPath, nil) else { return nil }
  defer { free(real) }
  return String(cPath: real)
}
