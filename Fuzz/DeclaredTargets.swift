@testable import Retrograde
@testable import RetrogradeEngine

enum DeclaredTargets {
  /// What a container of any kind says of its own length, and what else is read from the file beside GStreamer.
  static func read(_ bytes: [UInt8]) {
    let path = ScratchFile.path(bytes)
    _ = Declared(path)
    _ = try? TransportClock(path, Cancellation())
    _ = ID3Chapters.count(path)
    try? Playlist.refuse(path, name: "")
  }
}
