import FoundationEssentials
import MediaTime
import Retrograde
import RetrogradeEngine
import Paths

/// Data for the player page. Times are in seconds.
struct StreamInfo: Encodable {
  struct Rendition: Encodable {
    var name: String
    var kind: String
    var codecs: String
    var label: String
    var language: String?
    /// Codec name, if this rendition has the codec of the source's video; nil for the H.264
    /// renditions and for audio.
    var sourceCodec: String?
    var width: Int?
    var height: Int?
    var frameRate: Double?
    var bandwidth: Int
    /// Start times of the segments, and the end of the last one.
    var times: [Double]
  }

  struct Track: Encodable {
    var label: String
    var language: String?
  }

  struct Mark: Encodable {
    var start: Double
    var end: Double
    var title: String
  }

  var title: String
  var score: String
  var loop: String?
  var version: String
  var duration: Double
  var frames: Int
  /// Duration of a fragment. A player can start playback at any fragment of a segment.
  var piece: Double
  var renditions: [Rendition]
  var subtitles: [Track]
  var chapters: [Mark]
  var warnings: [String]
  var command: String

  init(_ stream: OpenStream) {
    let mirror = stream.mirror
    title = stream.file.name.readablePath
    score = stream.name.text
    loop = stream.playback.score == nil ? stream.playback.loop.rawValue : nil
    version = stream.version
    duration = mirror.duration.seconds
    frames = mirror.frameStarts.count
    piece = SegmentedMirror.pieceLength.seconds
    let videos = mirror.renditions.count(where: \.isVideo)
    renditions = mirror.renditions.enumerated().map { Rendition($1, audio: $0 - videos) }
    subtitles = mirror.subtitles.enumerated().map { number, track in
      Track(label: track.title ?? track.language ?? "Subtitles \(number + 1)", language: track.language)
    }
    chapters = StreamInfo.marks(mirror.chapters)
    warnings = mirror.warnings.map { "\($0)" }
    command = DownloadRange().command(stream)
  }

  static func marks(_ chapters: [Chapter]) -> [Mark] {
    chapters.map { Mark(start: $0.span.start.seconds, end: $0.span.end.seconds, title: $0.title) }
  }

  var json: [UInt8] { StreamInfo.encoded(self) }

  static func encoded(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Encoding fails only for infinite numbers and NaN; `value` contains none.
    return (try? encoder.encode(value)).map { Array($0) } ?? Array("null".utf8)
  }
}

extension StreamInfo.Rendition {
  init(_ rendition: SegmentedMirror.Rendition, audio number: Int) {
    (name, codecs, language) = (rendition.name, rendition.codecs, rendition.language)
    bandwidth = rendition.averageBandwidth
    times = rendition.segments.map(\.start.seconds) + [rendition.segments.last?.end.seconds ?? 0]
    switch rendition.kind {
    case .video(let width, let height, let rate):
      sourceCodec = rendition.sourceCodec
      (kind, label) = ("video", "\(height)p" + (sourceCodec.map { " (\($0))" } ?? ""))
      (self.width, self.height, frameRate) = (width, height, rate.isFinite ? rate : 0)
    case .audio:
      (kind, label) = ("audio", rendition.title ?? rendition.language ?? "Audio \(number + 1)")
    }
  }
}
