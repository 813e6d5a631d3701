import Glibc
import RetrogradeEngine
import Paths

/// Path of an output file, or pattern of numbered files, split into folder and name.
struct OutputPlace: Sendable {
  let path: String
  let folder: String
  let name: String

  init(_ path: String) {
    self.path = path
    folder = path.folderPath
    name = path.lastPart
  }

  /// Checks that a file of this name can be created in its folder.
  /// - Throws: ``RetrogradeError`` of code `cannotCreateOutput`.
  func checkFolder() throws {
    var info = stat()
    guard stat(folder.cPath, &info) == 0 else {
      throw errno == ENOENT
        ? refusal("there is no folder \(folder)", remedy: "create it first, or use another one")
        : refusal("can't be created in \(folder): \(String(cString: strerror(errno)))")
    }
    guard info.st_mode & S_IFMT == S_IFDIR else {
      throw refusal("\(folder) is not a folder", remedy: "use an output in an existing folder")
    }
    guard access(folder.cPath, W_OK | X_OK) == 0 else {
      throw refusal(
        "can't be created in \(folder): \(String(cString: strerror(errno)))",
        remedy: "use a folder that you may write to"
      )
    }
    guard !name.isEmpty else { throw refusal("is a folder", remedy: "give the name of a file in it") }
    // For a pattern of numbered files, check the length of the shortest name, which has number 0.
    let length = (ImageSequence.isPattern(path) ? ImageSequence.name(path, 0) : name).pathBytes.count
    let longest = pathconf(folder.cPath, Int32(_PC_NAME_MAX))
    guard longest <= 0 || length <= longest else {
      throw refusal(
        "the name has \(length) bytes, but at most \(longest) are allowed here", remedy: "use a shorter name")
    }
  }

  /// Checks that an existing file at ``path`` may be replaced.
  /// - Throws: ``RetrogradeError`` of code `cannotCreateOutput`.
  func check(overwrites: Bool, inputs: Set<FileIdentity>) throws {
    var link = stat()
    guard lstat(path.cPath, &link) == 0 else {
      if errno == ENOENT { return }
      throw refusal("can't be created: \(String(cString: strerror(errno)))")
    }
    var file = stat()
    if stat(path.cPath, &file) == 0 {  // else a dangling link
      guard !inputs.contains(FileIdentity(file)) else {
        throw refusal("is the input itself", remedy: "use another output")
      }
      guard file.st_mode & S_IFMT == S_IFREG else {
        throw refusal("is not a plain file", remedy: "use another output")
      }
    }
    guard overwrites else { throw refusal("exists", remedy: "\(setting: .overwrites) replaces it") }
  }

  /// Error for an output that could not be created, synced or renamed; `errno` contains the reason.
  var failure: RetrogradeError {
    let reason = errno
    let isInTheWay = [EEXIST, ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, EROFS].contains(reason)
    return RetrogradeError(
      isInTheWay ? .cannotCreateOutput : .inputOutput,
      about: path,
      "can't be finished: \(String(cString: strerror(reason)))"
        + (reason == EEXIST ? "; another program created it meanwhile" : ""),
      remedy: reason == EEXIST ? "\(setting: .overwrites) replaces it" : nil)
  }

  func refusal(_ reason: Message, remedy: Message? = nil) -> RetrogradeError {
    RetrogradeError(.cannotCreateOutput, about: path, reason, remedy: remedy)
  }
}

/// Identity of a file, independent of its name: device and inode number.
struct FileIdentity: Hashable, Sendable {
  private let device: dev_t
  private let number: ino_t

  init(_ info: stat) {
    device = info.st_dev
    number = info.st_ino
  }

  /// Reads the identity of the file at `path`; returns nil if there is no file.
  init?(ofFileAt path: String) {
    var info = stat()
    guard stat(path.cPath, &info) == 0 else { return nil }
    self.init(info)
  }

  /// Returns the identities of all files of `input`, which is a path, `-` (standard input), or a
  /// pattern of numbered files.
  static func all(of input: String) -> [FileIdentity] { paths(of: input).compactMap(FileIdentity.init(ofFileAt:)) }

  /// Returns the paths of all files of `input`, which is a path, `-` (standard input), or a pattern
  /// of numbered files.
  static func paths(of input: String) -> [String] {
    if input == "-" { return ["/proc/self/fd/\(STDIN_FILENO)"] }
    let path = Address.path(of: input)
    if FileIdentity(ofFileAt: path) != nil { return [path] }
    let folder = OutputPlace(path).folder
    return ((try? ImageSequence.names(of: path)) ?? []).map { "\(folder)/\($0)" }
  }
}
