import CVersion
import FoundationEssentials
import GStreamer
import Glibc
import RetrogradeEngine
import Synchronization
import Paths

/// Outcomes of the files in a watched folder, and of files in any batch whose reading process
/// crashed.
///
/// It is a hidden file beside the mirrors, with a line for each file. Each file is therefore tried
/// only once, also by later runs, and even if its mirror was moved.
package final class WatchRecord: Sendable {
  private struct Entry: Codable {
    /// Absolute path.
    var file: String
    var stamp: FileStamp
    /// True if its mirror was made; false if the file is damaged.
    var isMade: Bool
    /// Releases that crashed on the file; nil if none did.
    var crashed: String?
  }

  package static let name = ".retrograde-watch"
  private let path: String
  /// Entries by path, in bytes.
  private let known: Mutex<[[UInt8]: Entry]>

  /// Releases of this program and GStreamer. Others may read files on which these crash.
  private static let releases = "retrograde \(RETROGRADE_VERSION), GStreamer \(GStreamer.release)"

  /// Reads the record in `folder`, if it exists.
  package init(in folder: String) {
    path = "\(folder)/\(WatchRecord.name)"
    let decoder = JSONDecoder()
    let text = String(decoding: fileBytes(at: path) ?? [], as: UTF8.self)
    // Incomplete lines were being written when the machine stopped.
    let entries = text.split(separator: "\n").compactMap { try? decoder.decode(Entry.self, from: Data($0.utf8)) }
    known = Mutex(Dictionary(entries.map { ($0.file.pathBytes, $0) }) { $1 })
  }

  /// True if the file at `path` is not to be tried again in its current state.
  package func knows(_ path: String, _ stamp: FileStamp) -> Bool {
    known.withLock { known in
      guard let entry = known[path.pathBytes], entry.stamp == stamp else { return false }
      return entry.crashed.map { $0 == WatchRecord.releases } ?? true
    }
  }

  /// Error for an unchanged file on which these releases crashed before; nil for any other.
  /// - Parameter name: name of the file in messages.
  package func crash(of path: String, _ stamp: FileStamp, called name: String) -> RetrogradeError? {
    guard known.withLock({ $0[path.pathBytes]?.crashed != nil }), knows(path, stamp) else { return nil }
    return RetrogradeError(
      .crashed, about: name,
      "not tried again: the process that read it crashed or hung, and the file has not changed since",
      remedy: "remove \(self.path) to try it again")
  }

  /// Records the outcome of a file.
  /// - Parameters:
  ///   - stamp: of the file when it was read.
  ///   - isMade: true if its mirror was made.
  ///   - isCrash: true if the process that read it crashed.
  /// - Throws: ``RetrogradeError`` of code `inputOutput`.
  package func add(_ file: String, _ stamp: FileStamp, isMade: Bool, isCrash: Bool = false) throws {
    let entry = Entry(file: file, stamp: stamp, isMade: isMade, crashed: isCrash ? WatchRecord.releases : nil)
    known.withLock { $0[file.pathBytes] = entry }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let line = try encoder.encode(entry) + Data("\n".utf8)
    let descriptor = open(path.cPath, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o666)
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, line.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) == line.count,
      fsync(descriptor) == 0
    else {
      throw RetrogradeError(
        .inputOutput, about: path, "can't be written: \(String(cString: strerror(errno)))",
        remedy: "the next run that watches this folder will reverse \(file) again")
    }
  }
}
