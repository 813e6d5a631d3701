import Containers
import GStreamer
import Glibc
import Images
import RetrogradeEngine
import Paths

/// Media files in a folder.
package enum MediaFolder {
  /// Media file or unreadable folder, found by a search of a folder.
  package struct File: Sendable {
    package var path: String
    /// Path of the subfolder that contains the file, relative to the searched folder; empty for the
    /// searched folder itself.
    package var subfolder: String
    /// Reason why the folder at `path` can't be read; nil if `path` is a file.
    package var error: RetrogradeError?

    package init(_ path: String, subfolder: String = "", error: RetrogradeError? = nil) {
      (self.path, self.subfolder, self.error) = (path, subfolder, error)
    }
  }

  /// True if `path` is a folder.
  package static func isFolder(_ path: String) -> Bool {
    var info = stat()
    return stat(path.cPath, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
  }

  /// True if both paths lead to the same folder.
  /// - Throws: ``RetrogradeError`` of code `noInput` if `folder` does not exist.
  package static func isSame(_ folder: String, _ other: String) throws -> Bool {
    var info = stat()
    guard stat(folder.cPath, &info) == 0 else {
      throw RetrogradeError(.noInput, about: folder, "\(String(cString: strerror(errno)))")
    }
    let own = FileIdentity(info)
    return stat(other.cPath, &info) == 0 && FileIdentity(info) == own
  }

  /// Finds all media files except hidden ones, sorted by name. Also finds an unrecognised file if
  /// its extension is that of a media format: reversing it will fail, and the failure is reported.
  ///
  /// - Parameters:
  ///   - isDeep: true to search subfolders too.
  ///   - excluded: folder of the outputs; this folder is not searched.
  /// - Returns: the files, and the folders that can't be read, with their errors.
  /// - Throws: ``RetrogradeError`` of code `noInput` if there are neither files nor unreadable
  ///   folders.
  package static func files(
    in folder: String, isDeep: Bool, excluding excluded: String
  ) throws(RetrogradeError) -> [File] {
    var info = stat()
    let left = stat(excluded.cPath, &info) == 0 ? [FileIdentity(info)] : []
    let found = all(in: folder, "", isDeep, Set(left))
    guard !found.isEmpty else {
      throw RetrogradeError(
        .noInput, about: folder, "contains no media files",
        remedy: isDeep ? nil : "name media files, or add --recursive to include subfolders")
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
    // A symbolic link may lead back to a parent folder.
    let visited = visited.union([FileIdentity(info)])
    return names.sorted().filter { !$0.hasPrefix(".") }.flatMap { name -> [File] in
      let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
      // Report a dangling symbolic link only if its extension is that of a media format.
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

  /// Kind of a regular file, judged by its first bytes.
  private enum Content { case media, other, unknown }

  /// Returns the kind of a file. Photographs, playlists and subtitles are not media.
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

  /// True if the first bytes of a regular file are those of video, audio or a moving image.
  package static func isMedia(_ path: String) -> Bool { content(path) == .media }

  /// True if a regular file should be reversed: its content is media, or its extension is that of a
  /// media format. If the content is known to be no media, ``shared`` extensions do not count.
  package static func isTaken(_ path: String) -> Bool {
    switch content(path) {
    case .media: true
    case .unknown: isNamedAsMedia(path)
    // TypeScript files have the extension of transport streams (`ts`), and still images may have
    // the extension of animations (`webp`).
    case .other: isNamedAsMedia(path) && !shared.contains(fileExtension(path))
    }
  }

  /// True if the file name extension is that of a media format.
  private static func isNamedAsMedia(_ path: String) -> Bool { extensions.contains(fileExtension(path)) }

  private static func fileExtension(_ path: String) -> String {
    path.contains(".") ? String(path.dotExtension.dropFirst()) : ""
  }

  /// Extensions that media files share with other files, such as TypeScript files and still images.
  private static let shared: Set = ["ts", "gif", "webp", "apng"]

  /// Extensions of media files: of containers that can be written, and of formats that can only be
  /// read.
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
