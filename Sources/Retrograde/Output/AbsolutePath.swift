import Glibc
import RetrogradeEngine
import Paths

/// Returns `path` as an absolute path without a trailing slash, for processes with another working
/// folder.
/// - Throws: ``RetrogradeError`` of code `noInput` if the working folder no longer exists.
package func absolutePath(_ path: String) throws -> String {
  var path = path
  while path.count > 1, path.hasSuffix("/") { path.removeLast() }
  if path.hasPrefix("/") { return path }
  guard let here = getcwd(nil, 0) else {
    throw RetrogradeError(.noInput, about: ".", "\(String(cString: strerror(errno)))")
  }
  defer { free(here) }
  let folder = String(cPath: here)
  return folder == "/" ? "/\(path)" : "\(folder)/\(path)"
}
