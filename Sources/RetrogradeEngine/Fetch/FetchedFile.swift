import Containers
import GStreamer
import Glibc
import MediaTime
import Paths

/// Spool file of the media at an address or behind a playlist, compressed as it is: fetched once, and read
/// from there like any file. A mirror needs to read the media more than once and in any order, and one
/// transfer of all of it is never longer than that.
package final class FetchedFile: Sendable {
  /// Number of bytes that were kept, and of all; 0 if the total is not known.
  package typealias Report = @Sendable (_ done: Int, _ total: Int) -> Void

  private let spool: Spool
  /// In bytes.
  package let size: Int
  let warnings: [Warning]
  private let name: String
  /// True if the server or the playlist declared the length, or the end.
  private let isWhole: Bool
  /// Path that GStreamer, and others, read it from.
  package var path: String { spool.path }

  /// - Returns: nil where `input` is a file that holds media, or none at all.
  /// - Throws: ``RetrogradeError``: of code `noInput` where nothing can be had from the address, `inputOutput` where not all of it came.
  package init?(
    _ input: String, _ resources: Resources, _ cancellation: Cancellation, _ report: @escaping Report = { _, _ in }
  ) throws {
    name = input
    let fetch = Fetch(name: input, resources: resources, cancellation: cancellation, report: report)
    if input == "-" { return nil }
    let address = try Address(input)
    if case .web(let address)? = address {
      let (whole, isWhole) = try fetch.file(at: address)
      self.isWhole = isWhole
      let beginning = try whole.bytes(1024)
      guard Playlist(beginning) != nil else {
        (spool, size, warnings) = (whole, try whole.size, [])
        Log.index.info("\(input): its \(size) bytes went to the spool, and are read from there")
        return
      }
      guard let playlist = Playlist(try whole.bytes(Playlist.longest)) else { return nil }
      (spool, warnings) = try fetch.media(of: playlist, from: "souphttpsrc", at: address)
    } else {
      let path = Address.path(of: input)
      var info = stat()
      guard stat(path.cPath, &info) == 0, info.st_mode & S_IFMT == S_IFREG, let playlist = try Playlist(path: path)
      else {
        return nil
      }
      try playlist.checkNames(in: path)
      isWhole = true
      (spool, warnings) = try fetch.media(of: playlist, from: "filesrc", at: path)
    }
    size = try spool.size
    Log.index.info("\(input): is a playlist: the \(size) bytes of what it names went to the spool")
  }
}

extension FetchedFile {
  /// Throws if a transfer was cut that seemed complete. If a server does not declare the length, libsoup 3.2
  /// takes a connection that is cut between two chunks for the end (3.6 fails): only the promises of the file
  /// itself tell.
  /// - Parameter found: what was found to be missing.
  /// - Throws: ``RetrogradeError`` of code `inputOutput`.
  func check(_ found: [Warning]) throws {
    guard !isWhole, let cut = found.first(where: { $0.code == .truncated }) else { return }
    throw RetrogradeError(
      .inputOutput, about: name,
      "the download or the file itself is incomplete; the server does not say how long it is: \(cut.message)",
      remedy: "try again, or download it first, and name the file")
  }
}

extension Spool {
  /// The first ones, `count` at the most.
  fileprivate func bytes(_ count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: min(count, try size))
    try bytes.withUnsafeMutableBytes { try read($0, at: 0) }
    return bytes
  }
}
