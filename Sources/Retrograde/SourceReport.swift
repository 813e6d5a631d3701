import GStreamer
import RetrogradeEngine

/// What is in a source, and how it would be read backwards.
public struct SourceReport: Sendable, Codable {
  public struct Stream: Sendable, Codable {
    public var kind: StreamKind
    /// For people, such as `H.264 (High Profile)`.
    public var codec: String
    /// The stretch of the presentation that it takes, in seconds.
    public var start: Double
    public var end: Double
    /// Frames of video, or sample frames of sound.
    public var count: Int
    /// Raw caps: size, pixel format, rate, channels.
    public var format: String
  }

  public var input: String
  /// In seconds.
  public var duration: Double
  public var streams: [Stream]
  /// When the keyframes are shown, in seconds.
  public var keyframes: [Double]
  public var plan: Plan?
  /// The most bytes of decoded media that will be held, and the most that will be in the spool.
  public var memoryBytes: Int
  public var spoolBytes: Int
  /// The descriptions of the pipelines that decode, in `gst-launch-1.0` syntax.
  public var decoding: String?
  public var warnings: [String]

  init(_ job: ReverseJob) throws {
    let playable = try job.open(job.options)
    let index = playable.index
    input = job.input
    duration = (index.presentationEnd - index.presentationStart).seconds
    streams = []
    keyframes = []
    warnings = index.warnings
    var spool = index.audio.reduce(0) { $0 + $1.frames.count * $1.bytesPerFrame }
    memoryBytes = 0
    if let source = playable.video {
      let video = source.video
      plan = source.plan
      decoding = source.description
      warnings += source.warnings
      memoryBytes = source.plan.peakBytes
      spool += source.plan.peakSpoolBytes
      if let starts = video.starts { keyframes = video.keyframes.map { starts[$0].seconds } }
      streams.append(
        Stream(
          kind: .video, codec: video.caps.codecName, start: source.timeline.starts.first?.seconds ?? 0,
          end: source.timeline.end.seconds, count: source.timeline.count, format: source.caps.description))
    }
    spoolBytes = spool
    streams += index.audio.map { track in
      Stream(
        kind: .audio, codec: track.codec.codecName, start: track.span.start.seconds, end: track.span.end.seconds,
        count: track.frames.count, format: track.caps.description)
    }
  }
}
