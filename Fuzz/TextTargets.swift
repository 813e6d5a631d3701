@testable import Retrograde
@testable import RetrogradeEngine
import GStreamer
import MediaTime

enum TextTargets {
  /// Parses a pipeline file, and sets all of its parameters.
  static func pipeline(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let file = try? PipelineFile(text, name: "fuzz") else { return }
    let values = file.parameters.map { ($0.name, String(text.suffix(12))) }
    guard let resolved = try? file.resolved(Dictionary(values, uniquingKeysWith: { $1 })) else { return }
    _ = resolved.encoding(without: ["video", "audio0"])
    _ = resolved.failure(
      GStreamerError(kind: .other, element: nil, message: "no element \"\(text.prefix(3))\"", debug: nil), in: .decoding
    )
  }

  /// Converts a subtitle cue to text, and to the form for each container.
  static func subtitles(_ bytes: [UInt8]) {
    guard isStarted else { return }
    for caps in captions {
      let track = SubtitleTrack(caps: caps, tags: nil, cues: [Cue(span: second, bytes: bytes)])
      _ = track.texts
      _ = track.renumbered(track.cues)
      for container in containers { _ = track.form(for: container) }
    }
  }

  /// Parses the values of command-line options.
  static func values(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    if let position = SourcePosition(parsing: text) {
      precondition(SourcePosition(parsing: position.description) != nil)
    }
    if let rate = FrameRate(parsing: text) {
      precondition(FrameRate(parsing: rate.description) == rate)
      _ = rate.start(of: 1_000_000)
    }
    if let count = ByteCount(parsing: text) { _ = count.description }
    if let selection = StreamSelection(parsing: text) { _ = selection.contains(.audio, 1) }
    _ = ImageSequence.isPattern(text)
    _ = GStreamer.unquoted(text)
  }

  private static let isStarted = (try? GStreamer.initialize()) != nil
  private static let captions = ["text/x-raw,format=pango-markup", "application/x-ass"].compactMap { Caps($0) }
  private static let containers = ["mp4", "mkv"].compactMap { try? Container.of("." + $0) }
  private static let second = TimeSpan(start: .zero, end: ClockTime(seconds: 1))
}
