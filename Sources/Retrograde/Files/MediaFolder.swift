import Containers
import GStreamer
import Glibc
import Images
import Paths
import RetrogradeEngine

/// The files in a folder that hold media.
package enum MediaFolder {
  /// A file, and in which folder of the one that was looked into it is.
  package struct File: Sendable {
    package var path: String
    /// `""` where it is in that folder itself.
    package var subfolder: String

    package init(_ path: String, subfolder: String = "") { (self.path, self.subfolder) = (path, subfolder) }
  }

  /// Whether `path` is a folder.
  package static func isFolder(_ path: String) -> Bool {
    var info = stat()
    return stat(path.cPath, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
  }

  /// Whether two names are those of one folder.
  /// - Throws: ``RetrogradeError`` of code `noInput`, where the first one is that of none.
  package static func isSame(_ folder: String, _ other: String) throws -> Bool {
    var info = stat()
    guard stat(folder.cPath, &info) == 0 else {
      throw RetrogradeError(.noInput, about: folder, "\(String(cString: strerror(errno)))")
    }
    let own = FileIdentity(info)
    return stat(other.cPath, &info) == 0 && FileIdentity(info) == own
  }

  /// All of them, by name, without hidden files. Empty and unreadable files count if their extension
  /// is that of a container.
  ///
  /// - Parameters:
  ///   - isDeep: whether folders in it are looked into.
  ///   - excluded: a folder that is not: what is made goes there.
  /// - Throws: ``RetrogradeError`` of code `noInput`, where there are none, or the folder can't be read.
  package static func files(in folder: String, isDeep: Bool, excluding excluded: String) throws -> [File] {
    var info = stat()
    let left = stat(excluded.cPath, &info) == 0 ? [FileIdentity(info)] : []
    let found = try all(in: folder, "", isDeep, Set(left))
    guard !found.isEmpty else {
      throw RetrogradeError(
        .noInput, about: folder, "no media files are in this folder",
        remedy: isDeep ? nil : "name files, or have its folders looked into too")
    }
    return found
  }

  private static func all(
    in folder: String, _ subfolder: String, _ isDeep: Bool, _ visited: Set<FileIdentity>
  ) throws -> [File] {
    var info = stat()
    guard let names = fileNames(in: folder), stat(folder.cPath, &info) == 0 else {
      throw RetrogradeError(.noInput, about: folder, "\(String(cString: strerror(errno)))")
    }
    // A link may lead back to where it is.
    let visited = visited.union([FileIdentity(info)])
    return try names.sorted().filter { !$0.hasPrefix(".") }.flatMap { name -> [File] in
      let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
      // A file that cannot be read must fail by its name, not go missing.
      guard stat(path.cPath, &info) == 0 else {
        return isNamedAsMedia(path) ? [File(path, subfolder: subfolder)] : []
      }
      switch info.st_mode & S_IFMT {
      case S_IFDIR where isDeep && !visited.contains(FileIdentity(info)):
        return try all(in: path, subfolder.isEmpty ? name : "\(subfolder)/\(name)", isDeep, visited)
      case S_IFREG:
        let isUnreadable = info.st_size == 0 || access(path.cPath, R_OK) != 0
        return isMedia(path) || isUnreadable && isNamedAsMedia(path)
          ? [File(path, subfolder: subfolder)] : []
      default: return []
      }
    }
  }

  /// Whether a plain file begins as video, audio or a moving image does. Photographs, lists of files and subtitles are none.
  package static func isMedia(_ path: String) -> Bool {
    guard let file = RandomAccessFile(path), let start = file.read(0..<min(file.size, 1 << 16)),
      let type = TypeFinder.mediaType(ofFileBeginningWith: start)
    else { return false }
    switch type {
    case "image/gif": return true
    case "image/webp": return WebPFrames.isAnimated(start)
    case "image/png": return APNGFrames.isAnimated(file.read)
    case "audio/midi", "audio/x-midi": return false
    default: return type.hasPrefix("video/") || type.hasPrefix("audio/") || containers.contains(type)
    }
  }

  /// Whether the extension of a name is that of a container.
  package static func isNamedAsMedia(_ path: String) -> Bool {
    path.contains(".") && Container.extensions.contains(String(path.dotExtension.dropFirst()))
  }

  private static let containers: Set = [
    "application/ogg", "application/x-id3", "application/x-apetag", "application/mxf", "application/vnd.rn-realmedia",
    "application/x-ogm-video",
  ]
}
