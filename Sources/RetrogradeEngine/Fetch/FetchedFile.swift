import Containers
import GStreamer
import Glibc
import MediaTime
import Paths

/// Media from an address or a playlist, stored in a spool file without re-encoding.
///
/// The media is fetched once, and the spool file is then read like any other file. Reversing reads
/// the media more than once and in any order, so a single transfer is never slower than several
/// partial ones.
package final class FetchedFile: Sendable {
  /// Callback with the number of stored bytes and the total number of bytes, which is 0 if unknown.
  package typealias Report = @Sendable (_ done: Int, _ total: Int) -> Void

  private let spool: Spool
  /// Size in bytes.
  package let size: Int
  let warnings: [Warning]
  private let name: String
  /// True if the server declared the length of the file at the address, or if the input is a local
  /// playlist.
  private let isWhole: Bool
  /// Path for GStreamer and other readers.
  package var path: String { spool.path }

  /// - Returns: nil unless `input` is an http or https address, or a local playlist.
  /// - Throws: ``RetrogradeError`` of code `noInput` if nothing can be downloaded, `inputOutput` if
  ///   the download is incomplete, or `damagedInput` if the file is empty or the playlist can't be
  ///   used.
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
  /// Throws if a transfer seemed complete but was truncated.
  ///
  /// If a server does not declare the length, and the connection is lost between two HTTP chunks,
  /// libsoup 3.2 reports a normal end (3.6 reports an error). Only the declarations in the file's
  /// container then show that data is missing.
  /// - Parameter found: warnings about missing data in the file.
  /// - Throws: ``RetrogradeError`` of code `inputOutput`.
  func check(_ found: [Warning]) throws {
    guard !isWhole, let cut = found.first(where: { $0.code == .truncated }) else { return }
    throw RetrogradeError(
      .inputOutput, about: name,
      "\(cut.message); the server did not send the file's length, so the download may be incomplete",
      remedy: "try again, or download the file with another program and use the downloaded file as the input")
  }
}

extension Spool {
  /// Returns at most the first `count` bytes.
  fileprivate func bytes(_ count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: min(count, try size))
    try bytes.withUnsafeMutableBytes { try read($0, at: 0) }
    return bytes
  }
}
