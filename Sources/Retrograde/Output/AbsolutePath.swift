import Glibc
import RetrogradeEngine
import Paths

/// `path` from the root, without a slash at its end: for who works elsewhere.
/// - Throws: ``RetrogradeError`` of code `noInput`, where the working folder is gone.
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
