import GStreamer
import Images
import MediaTime
import RetrogradeEngine

/// Animated image formats, which players loop by themselves. GStreamer has no usable elements for
/// these formats: `webpenc` writes single frames (`Quirk.webpencSingleFrames`), `avmux_webp` and
/// `avmux_apng` do not accept the packets of any encoder, and `avenc_gif` creates no palette.
enum AnimationFormat: Sendable {
  case gif, webp, apng

  /// Highest frame rate that players show correctly; nil: no limit. If the delay of a GIF frame is
  /// below 2/100 s, browsers use 10/100 s instead.
  var fastest: FrameRate? { self == .gif ? FrameRate(50, 1) : nil }

  /// Shortest duration of a frame.
  var shortest: ClockTime { fastest?.start(of: 1) ?? .zero }

  /// Longest duration of a frame: 16 bits of hundredths of a second in GIF, 24 bits of milliseconds
  /// in WebP.
  var longest: ClockTime {
    switch self {
    case .gif: ClockTime(nanoseconds: 65_535 * 10_000_000)
    case .webp: ClockTime(nanoseconds: 0xFF_FFFF * 1_000_000)
    case .apng: ClockTime(nanoseconds: Int64(APNGChunks.longest) * 1_000_000)
    }
  }

  /// Largest number of plays. GIF stores the number of repetitions.
  var mostPlays: Int {
    switch self {
    case .gif: 65_536
    case .webp: 65_535
    case .apng: Int(UInt32.max)
    }
  }

  var name: String {
    switch self {
    case .gif: "GIF"
    case .webp: "WebP"
    case .apng: "APNG"
    }
  }

  /// Returns the elements before the appsink, in `gst-launch-1.0` syntax.
  /// - Parameter isHalved: true if the frames have 4:2:0 chroma. A WebP then stores 4:2:0 too.
  func preparation(hasAlpha: Bool, isHalved: Bool) -> [String] {
    switch self {
    case .gif: ["video/x-raw,format=RGBA"]
    case .webp: [isHalved ? "video/x-raw,format=I420,colorimetry=bt601" : "video/x-raw,format=RGBA"]
    case .apng: ["video/x-raw,format=\(hasAlpha ? "RGBA" : "RGB")", "pngenc compression-level=9"]
    }
  }

  /// Starts a file. Only one thread may use the returned object.
  /// - Parameter target: the output's name, for messages.
  func begin(
    _ path: String, for target: String, _ settings: AnimationSettings
  ) throws -> any AnimationFile {
    switch self {
    case .gif: try GIFAnimation(path, for: target, settings)
    case .webp: try WebPAnimationFile(path, for: target, settings)
    case .apng: try APNGAnimation(path, for: target, settings)
    }
  }
}

/// An animation file that is written frame by frame.
protocol AnimationFile: AnyObject {
  /// - Parameter shown: time span of the frame, from the start of the file.
  func add(_ sample: Sample, shown: TimeSpan) throws
  /// Writes the remaining data, unless `isStopped` returns true.
  /// - Parameter report: called with the number of finished frames and the number of all frames.
  func finish(_ report: @escaping @Sendable (_ done: Int, _ total: Int) -> Void, _ isStopped: () -> Bool) throws
    -> FinishedAnimation
}

/// Result of writing an animation.
struct FinishedAnimation: Sendable {
  /// Warnings about quality that was reduced to meet the size limit.
  var qualityReductions: [Warning] = []
  /// Level to which quality was reduced; nil if quality was not reduced.
  var level: AnimationLevel?
  /// Warnings about times that the format can't store.
  var warnings: [Warning] = []
}

/// Writes an animation from the frames of an appsink.
struct AnimationWriter: Sendable {
  let sink: AppSink
  let format: AnimationFormat
  let path: String
  /// Final name of the output, for messages.
  let target: String
  let settings: AnimationSettings

  /// Writes frames until the stream ends, or the pipeline stops.
  /// - Throws: ``RetrogradeError``.
  func run(
    _ report: @escaping @Sendable (_ done: Int, _ total: Int) -> Void, _ isStopped: @escaping @Sendable () -> Bool
  ) throws -> FinishedAnimation {
    do {
      return try write(report, isStopped)
    } catch let error as ImageError {
      throw error.isWriting
        ? RetrogradeError(.inputOutput, about: target, "can't be written: \(error.message)")
        : RetrogradeError(.cannotCreateOutput, about: target, "can't be created: \(error.message)")
    }
  }

  private func write(_ report: @escaping @Sendable (_ done: Int, _ total: Int) -> Void, _ isStopped: () -> Bool) throws
    -> FinishedAnimation
  {
    let file = try format.begin(path, for: target, settings)
    var start: ClockTime?
    var clock = AnimationClock(format)
    while let sample = sink.pull(timeout: ClockTime(nanoseconds: .max)) {
      guard let pts = sample.buffer.pts else { continue }
      let begin = start ?? pts
      start = begin
      let shown = TimeSpan(start: pts - begin, end: pts - begin + (sample.buffer.duration ?? .zero))
      try file.add(sample, shown: clock.place(shown))
    }
    guard start != nil, !isStopped() else { return FinishedAnimation() }
    var finished = try file.finish(report, isStopped)
    finished.warnings = clock.warnings
    return finished
  }
}

extension Sample {
  /// Size of the frames in pixels.
  var size: (width: Int, height: Int) { (caps?.int("width") ?? 0, caps?.int("height") ?? 0) }
}

extension ClockTime {
  var hundredths: Int { Int((nanoseconds + 5_000_000) / 10_000_000) }
  var milliseconds: Int { Int((nanoseconds + 500_000) / 1_000_000) }
}

private final class APNGAnimation: AnimationFile {
  private let file: ByteFile
  private var chunks: APNGChunks
  private var count = 0

  init(_ path: String, for target: String, _ settings: AnimationSettings) throws {
    file = try ByteFile(path, for: target)
    chunks = APNGChunks(plays: settings.plays)
  }

  func add(_ sample: Sample, shown: TimeSpan) throws {
    let bytes = try sample.buffer.withBytes {
      try chunks.frame($0, milliseconds: shown.end.milliseconds - shown.start.milliseconds)
    }
    try bytes.withUnsafeBytes { try file.write($0) }
    count += 1
  }

  func finish(_ report: @escaping @Sendable (_ done: Int, _ total: Int) -> Void, _ isStopped: () -> Bool) throws
    -> FinishedAnimation
  {
    try APNGChunks.end.withUnsafeBytes { try file.write($0) }
    try chunks.count(count).withUnsafeBytes { try file.write($0, at: APNGChunks.countOffset) }
    return FinishedAnimation()
  }
}
