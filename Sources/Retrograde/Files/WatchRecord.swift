import CVersion
import FoundationEssentials
import GStreamer
import Glibc
import RetrogradeEngine
import Synchronization
import Paths

/// Record of the files in a watched folder, with the outcome of reversing each file. A batch
/// without a watched folder has a record too, but only of files that crashed the process that read
/// them.
///
/// The record is a hidden file in the folder of the mirrors (the reversed files), with one line per
/// source file. Later runs read the record, so they don't try a source file again even if its
/// mirror was moved.
package final class WatchRecord: Sendable {
  private struct Entry: Codable {
    /// Absolute path of the source file.
    var file: String
    var stamp: FileStamp
    /// True if the mirror (the reversed file) was written; false if the file is damaged, or crashed
    /// the process that read it.
    var isMade: Bool
    /// Releases of this program and GStreamer that crashed on the file; nil if the file caused no
    /// crash.
    var crashed: String?
  }

  package static let name = ".retrograde-watch"
  private let path: String
  /// Entries by path. The keys are the bytes of the paths, because Swift strings are equal if they
  /// differ only in Unicode normalization.
  private let known: Mutex<[[UInt8]: Entry]>

  /// Current releases of this program and GStreamer. A file that crashed other releases is tried
  /// again, because the current releases may be able to read it.
  private static let releases = "retrograde \(RETROGRADE_VERSION), GStreamer \(GStreamer.release)"

  /// Reads the record in `folder`, if it exists.
  package init(in folder: String) {
    path = "\(folder)/\(WatchRecord.name)"
    let decoder = JSONDecoder()
    let text = String(decoding: fileBytes(at: path) ?? [], as: UTF8.self)
    // Skip an incomplete line. Such a line remains if the machine stops while the line is written.
    let entries = text.split(separator: "\n").compactMap { try? decoder.decode(Entry.self, from: Data($0.utf8)) }
    known = Mutex(Dictionary(entries.map { ($0.file.pathBytes, $0) }) { $1 })
  }

  /// True if the file at `path` was already tried in its current state, and should not be tried
  /// again. A file that crashed other releases should be tried again.
  package func knows(_ path: String, _ stamp: FileStamp) -> Bool {
    known.withLock { known in
      guard let entry = known[path.pathBytes], entry.stamp == stamp else { return false }
      return entry.crashed.map { $0 == WatchRecord.releases } ?? true
    }
  }

  /// Returns an error if the file crashed the current releases of this program and GStreamer
  /// before, and has not changed since; nil for any other file.
  /// - Parameter name: name of the file in messages.
  package func crash(of path: String, _ stamp: FileStamp, called name: String) -> RetrogradeError? {
    guard known.withLock({ $0[path.pathBytes]?.crashed != nil }), knows(path, stamp) else { return nil }
    return RetrogradeError(
      .crashed, about: name,
      "skipped: the process that read the file crashed or hung in an earlier run, and the file has not changed since",
      remedy: "to try it again, delete \(self.path), the record of earlier runs")
  }

  /// Adds the outcome of a file to the record.
  /// - Parameters:
  ///   - stamp: stamp of the file when it was read.
  ///   - isMade: true if the mirror was written.
  ///   - isCrash: true if the process that read the file crashed.
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
