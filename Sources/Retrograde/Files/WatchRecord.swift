import FoundationEssentials
import Glibc
import RetrogradeEngine
import Synchronization
import Paths

/// What became of the files of a watched folder: a hidden file beside their mirrors, to which a line is added for each. So a file is done once,
/// whoever starts anew, and though its mirror has been moved on.
package final class WatchRecord: Sendable {
  private struct Entry: Codable {
    /// The absolute path.
    var file: String
    var stamp: FileStamp
    /// Whether its mirror was made; else it is damaged.
    var isMade: Bool
  }

  package static let name = ".retrograde-watch"
  private let path: String
  /// By the bytes of paths.
  private let known: Mutex<[[UInt8]: FileStamp]>

  /// Reads what is in `folder`, if anything is.
  package init(in folder: String) {
    path = "\(folder)/\(WatchRecord.name)"
    let decoder = JSONDecoder()
    let text = String(decoding: fileBytes(at: path) ?? [], as: UTF8.self)
    // A line that is not whole was being written when the machine stopped.
    let entries = text.split(separator: "\n").compactMap { try? decoder.decode(Entry.self, from: Data($0.utf8)) }
    known = Mutex(Dictionary(entries.map { ($0.file.pathBytes, $0.stamp) }) { $1 })
  }

  /// Whether something has become of the file at `path`, as it is now.
  package func knows(_ path: String, _ stamp: FileStamp) -> Bool { known.withLock { $0[path.pathBytes] == stamp } }

  /// Notes what has become of a file.
  /// - Parameter stamp: what it was when it was read.
  /// - Throws: ``RetrogradeError`` of code `inputOutput`.
  package func add(_ file: String, _ stamp: FileStamp, isMade: Bool) throws {
    known.withLock { $0[file.pathBytes] = stamp }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let line = try encoder.encode(Entry(file: file, stamp: stamp, isMade: isMade)) + Data("\n".utf8)
    let descriptor = open(path.cPath, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o666)
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, line.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) == line.count,
      fsync(descriptor) == 0
    else {
      throw RetrogradeError(
        .inputOutput, about: path, "can't be written: \(String(cString: strerror(errno)))",
        remedy: "\(file) will be done again when its folder is watched anew")
    }
  }
}
