import Containers
import GStreamer
import Glibc
import Images
import RetrogradeEngine
import Paths

/// The files in a folder that hold media.
package enum MediaFolder {
  /// A file, and in which folder of the one that was looked into it is.
  package struct File: Sendable {
    package var path: String
    /// `""` where it is in that folder itself.
    package var subfolder: String
    /// Set for a folder that can't be read.
    package var error: RetrogradeError?

    package init(_ path: String, subfolder: String = "", error: RetrogradeError? = nil) {
      (self.path, self.subfolder, self.error) = (path, subfolder, error)
    }
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

  /// All of them, by name, without hidden files. A file whose content is not known counts if its name is that
  /// of media: it has to fail by its name, and not go missing.
  ///
  /// - Parameters:
  ///   - isDeep: whether folders in it are looked into.
  ///   - excluded: a folder that is not looked into: the outputs go there.
  /// - Returns: the files, and the folders that can't be read, with the error of each.
  /// - Throws: ``RetrogradeError`` of code `noInput`, if there are no files and no folders.
  package static func files(
    in folder: String, isDeep: Bool, excluding excluded: String
  ) throws(RetrogradeError) -> [File] {
    var info = stat()
    let left = stat(excluded.cPath, &info) == 0 ? [FileIdentity(info)] : []
    let found = all(in: folder, "", isDeep, Set(left))
    guard !found.isEmpty else {
      throw RetrogradeError(
        .noInput, about: folder, "no media files are in this folder",
        remedy: isDeep ? nil : "name files, or search its subfolders too")
    }
    return found
  }

  private static func all(
    in folder: String, _ subfolder: String, _ isDeep: Bool, _ visited: Set<FileIdentity>
  ) -> [File] {
    var info = stat()
    guard let names = fileNames(in: folder), stat(folder.cPath, &info) == 0 else {
      let error = RetrogradeError(.noInput, about: folder, "\(String(cString: strerror(errno)))")
      return [File(folder, subfolder: subfolder, error: error)]
    }
    // A link may lead back to where it is.
    let visited = visited.union([FileIdentity(info)])
    return names.sorted().filter { !$0.hasPrefix(".") }.flatMap { name -> [File] in
      let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
      // A link that leads nowhere.
      guard stat(path.cPath, &info) == 0 else {
        return isNamedAsMedia(path) ? [File(path, subfolder: subfolder)] : []
      }
      switch info.st_mode & S_IFMT {
      case S_IFDIR where isDeep && !visited.contains(FileIdentity(info)):
        return all(in: path, subfolder.isEmpty ? name : "\(subfolder)/\(name)", isDeep, visited)
      case S_IFREG: return isTaken(path) ? [File(path, subfolder: subfolder)] : []
      default: return []
      }
    }
  }

  /// Kind of a plain file, by its beginning.
  private enum Content { case media, other, unknown }

  /// Photographs, lists of files and subtitles are no media.
  private static func content(_ path: String) -> Content {
    guard let file = RandomAccessFile(path), let start = file.read(0..<min(file.size, 1 << 16)), !start.isEmpty else {
      return .unknown
    }
    guard let type = TypeFinder.mediaType(ofFileBeginningWith: start) else {
      let isText = start.allSatisfy { $0 >= 0x20 || "\t\n\r\u{c}".utf8.contains($0) }
      return isText ? .other : .unknown
    }
    let isMedia =
      switch type {
      case "image/gif": true
      case "image/webp": WebPFrames.isAnimated(start)
      case "image/png": APNGFrames.isAnimated(file.read)
      case "audio/midi", "audio/x-midi": false
      default: type.hasPrefix("video/") || type.hasPrefix("audio/") || containers.contains(type)
      }
    return isMedia ? .media : .other
  }

  /// True if a plain file begins as video, audio or a moving image does.
  package static func isMedia(_ path: String) -> Bool { content(path) == .media }

  /// True for a plain file that stands for a mirror: it is media, or its name says so and its content is unknown.
  package static func isTaken(_ path: String) -> Bool {
    switch content(path) {
    case .media: true
    case .unknown: isNamedAsMedia(path)
    // TypeScript has the extension of transport streams, and photographs those of animations.
    case .other: isNamedAsMedia(path) && !shared.contains(fileExtension(path))
    }
  }

  /// True if the extension is one that media have.
  private static func isNamedAsMedia(_ path: String) -> Bool { extensions.contains(fileExtension(path)) }

  private static func fileExtension(_ path: String) -> String {
    path.contains(".") ? String(path.dotExtension.dropFirst()) : ""
  }

  /// Extensions that other files have too.
  private static let shared: Set = ["ts", "gif", "webp", "apng"]

  /// Extensions of files that can be read: containers that are written, and those that are only read.
  private static let extensions = Set(Container.extensions).union([
    "264", "265", "3g2", "3gp", "3gpp", "aac", "ac3", "aif", "aifc", "aiff", "amr", "ape", "asf", "au", "caf", "divx",
    "dts",
    "dv", "eac3", "f4a", "f4v", "flc", "fli", "flv", "h264", "h265", "hevc", "ivf", "m1v", "m2t", "m2ts", "m2v", "mj2",
    "mjpeg",
    "mjpg", "mk3d", "mp2", "mpc", "mpe", "mpeg", "mpg", "mpv", "mts", "mxf", "nut", "oga", "ogm", "ogx", "qt", "ra",
    "rm",
    "rmvb", "spx", "tod", "tta", "vob", "w64", "wma", "wmv", "wv",
  ])

  private static let containers: Set = [
    "application/ogg", "application/x-id3", "application/x-apetag", "application/mxf", "application/vnd.rn-realmedia",
    "application/x-ogm-video",
  ]
}
