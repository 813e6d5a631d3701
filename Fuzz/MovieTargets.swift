import Containers
import MediaTime

enum MovieTargets {
  /// Writes an ``MP4Header`` into a finished file.
  static func write(_ bytes: [UInt8]) {
    let path = ScratchFile.path(bytes)
    let chapter = ChapterMark(start: .zero, title: String(repeating: "ü", count: 200))
    var header = MP4Header(chapters: (bytes.first ?? 0) & 1 == 0 ? [] : [chapter])
    header.videos = [.init(orientation: "rotate-90", duration: ClockTime(seconds: 1e9), isEnabled: false), .init()]
    header.audio = [
      .init(priming: 1024, presentedSamples: 1 << 40, rate: 44100, isEnabled: false),
      .init(priming: 0, presentedSamples: 0, rate: 0, isEnabled: nil),
    ]
    header.subtitles = [true, nil]
    _ = try? header.apply(to: path)
  }

  /// Reads decoding and presentation times from the tables of an MP4 file.
  static func times(_ bytes: [UInt8]) {
    let path = ScratchFile.path(bytes)
    let spans = [ClockTime(seconds: -1)..<ClockTime(seconds: 0.05), ClockTime(seconds: 0.1)..<ClockTime(seconds: 0.15)]
    if let excerpt = MP4Excerpt(path, keeping: spans, least: 1) {
      var changed = bytes
      changed.withUnsafeMutableBytes { excerpt.apply(to: $0, at: 0) }
    }
    guard let times = MP4SampleTimes(path, video: 0) else { return }
    precondition(
      times.timescale > 0 && times.samples.allSatisfy { $0.decoded >= 0 && $0.duration >= 0 && $0.bytes >= 0 })
  }
}
