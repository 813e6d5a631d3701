import Containers
@testable import RetrogradeEngine

enum DeclaredTargets {
  /// Reads a file of any format without GStreamer: its declared length, its corrections, and
  /// whether the file is a playlist.
  static func read(_ bytes: [UInt8]) {
    let path = ScratchFile.path(bytes)
    let facts = ContainerFacts(path)
    facts.correction.map { correction in
      var copy = bytes
      copy.withUnsafeMutableBytes { correction.apply(to: $0, at: 0) }
    }
    try? Playlist.refuse(facts.beginning, name: "")
  }
}
