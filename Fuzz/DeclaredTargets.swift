import Containers
@testable import RetrogradeEngine

enum DeclaredTargets {
  /// What a container of any kind says of its own length, and what else is read from the file beside GStreamer.
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
