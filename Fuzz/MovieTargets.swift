@testable import Retrograde
@testable import RetrogradeEngine
import MediaTime

enum MovieTargets {
  static func read(_ bytes: [UInt8]) {
    let path = ScratchFile.path(bytes)
    _ = MovieTrack.all(path)
    _ = MovieChapters.read(path)
    _ = MovieEnds(path)
  }

  /// What is put into a file that a muxer has finished.
  static func write(_ bytes: [UInt8]) {
    let path = ScratchFile.path(bytes)
    let chapter = Chapter(
      span: TimeSpan(start: .zero, end: ClockTime(seconds: 1)), title: String(repeating: "ü", count: 200))
    var header = MovieHeader(chapters: (bytes.first ?? 0) & 1 == 0 ? [] : [chapter])
    header.pictures = [.init(orientation: "rotate-90", duration: ClockTime(seconds: 1e9), isEnabled: false), .init()]
    header.sounds = [
      .init(priming: 1024, heard: 1 << 40, rate: 44100, isEnabled: false), .init(priming: 0, heard: 0, rate: 0),
    ]
    header.texts = [true, nil]
    try? header.apply(to: path, for: path)
  }
}
