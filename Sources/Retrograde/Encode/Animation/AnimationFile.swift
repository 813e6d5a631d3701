import GStreamer
import Images
import MediaTime
import RetrogradeEngine

/// The kinds of moving images which players repeat by themselves. GStreamer 1.22 has no muxers for them: its `webpenc`
/// writes single frames, `avmux_webp` and `avmux_apng` take no encoder's packets, and `avenc_gif` has no palette of its own
/// making.
enum AnimationFormat: Sendable {
  case gif, webp, apng

  /// The most frames per second that are shown as such: browsers take GIF's delays below 2 hundredths of a second for 10.
  var fastest: FrameRate? { self == .gif ? FrameRate(50, 1) : nil }

  /// What comes before the appsink that the file is written from, in `gst-launch-1.0` syntax.
  /// - Parameter isHalved: the frames have halved colour, and need not have another.
  func preparation(hasAlpha: Bool, isHalved: Bool) -> [String] {
    switch self {
    case .gif: ["video/x-raw,format=RGBA"]
    case .webp: [isHalved ? "video/x-raw,format=I420,colorimetry=bt601" : "video/x-raw,format=RGBA"]
    case .apng: ["video/x-raw,format=\(hasAlpha ? "RGBA" : "RGB")", "pngenc compression-level=9"]
    }
  }

  /// Begins a file; to be used on one thread.
  /// - Parameter target: what messages call it.
  func begin(
    _ path: String, for target: String, _ quality: EncodingOptions.Quality, spoolDirectory: String
  ) throws -> any AnimationFile {
    switch self {
    case .gif: try GIFAnimation(path, spoolDirectory: spoolDirectory)
    case .webp: WebPAnimationFile(path, for: target, quality)
    case .apng: try APNGAnimation(path, for: target)
    }
  }
}

/// A file that is written frame by frame.
protocol AnimationFile: AnyObject {
  /// - Parameter shown: when the frame is shown, from the start of the file.
  func add(_ sample: Sample, shown: TimeSpan) throws
  /// Writes what is left, unless it is to stop on the way.
  /// - Parameter report: told how many frames are done of how many.
  func finish(_ report: (_ done: Int, _ total: Int) -> Void, _ isStopped: () -> Bool) throws
}

/// Writes an animation from what an appsink gives.
struct AnimationWriter: Sendable {
  let sink: AppSink
  let format: AnimationFormat
  let path: String
  /// The output's own name, for messages.
  let target: String
  let quality: EncodingOptions.Quality
  let spoolDirectory: String

  /// Until the stream ends, or the pipeline stops.
  /// - Throws: ``RetrogradeError``.
  func run(
    _ report: @escaping @Sendable (_ done: Int, _ total: Int) -> Void, _ isStopped: @escaping @Sendable () -> Bool
  ) throws {
    do {
      try write(report, isStopped)
    } catch let error as ImageError {
      throw error.isWriting
        ? RetrogradeError(.inputOutput, about: target, "can't be written: \(error.message)")
        : RetrogradeError(.cannotCreateOutput, about: target, "can't be made: \(error.message)")
    }
  }

  private func write(_ report: (_ done: Int, _ total: Int) -> Void, _ isStopped: () -> Bool) throws {
    let file = try format.begin(path, for: target, quality, spoolDirectory: spoolDirectory)
    var start: ClockTime?
    while let sample = sink.pull(timeout: ClockTime(nanoseconds: .max)) {
      guard let pts = sample.buffer.pts else { continue }
      let begin = start ?? pts
      start = begin
      try file.add(
        sample, shown: TimeSpan(start: pts - begin, end: pts - begin + (sample.buffer.duration ?? .zero)))
    }
    if start != nil && !isStopped() { try file.finish(report, isStopped) }
  }
}

extension Sample {
  /// The size of the frames.
  fileprivate var size: (width: Int, height: Int) { (caps?.int("width") ?? 0, caps?.int("height") ?? 0) }
}

/// Two passes: the first counts the colours and keeps the frames in the spool, the second gives them the palette.
private final class GIFAnimation: AnimationFile {
  private let path: String
  private let spool: Spool
  private let colors: Palette.Builder
  private var size = (width: 0, height: 0)
  private var frames: [(offset: Int, shown: TimeSpan)] = []
  /// Whether anything can be seen through: then no frame can lie over the one before.
  private var isTransparent = false

  init(_ path: String, spoolDirectory: String) throws {
    self.path = path
    spool = try Spool(directory: spoolDirectory)
    colors = try Palette.Builder()
  }

  func add(_ sample: Sample, shown: TimeSpan) throws {
    size = sample.size
    try sample.buffer.withBytes { pixels in
      try colors.add(pixels, width: size.width, height: size.height)
      isTransparent = isTransparent || stride(from: 3, to: pixels.count, by: 4).contains { pixels[$0] < 128 }
      frames.append((try spool.append(pixels), shown))
    }
  }

  func finish(_ report: (_ done: Int, _ total: Int) -> Void, _ isStopped: () -> Bool) throws {
    let palette = try Palette(colors)
    let file = try GIFFile(path, width: size.width, height: size.height, palette: palette)
    var pixels = [UInt8](repeating: 0, count: size.width * size.height * 4)
    var shown: [UInt8] = []
    for (number, (offset, span)) in frames.enumerated() where !isStopped() {
      if number % 8 == 0 { report(number, frames.count) }
      try pixels.withUnsafeMutableBytes { try spool.read($0, at: offset) }
      let values = try pixels.withUnsafeBytes { pixels in
        try shown.withUnsafeBytes { shown in
          try palette.map(
            pixels, over: shown.isEmpty || isTransparent ? nil : shown, width: size.width, height: size.height)
        }
      }
      // Rounded from the start, so that the error does not add up.
      try file.add(values, centiseconds: max(span.end.hundredths - span.start.hundredths, 2), isWhole: isTransparent)
      if shown.isEmpty { shown = [UInt8](repeating: 255, count: pixels.count) }
      for (place, value) in values.enumerated() where value != palette.transparent {
        let color = palette.colors[Int(value)]
        (shown[place * 4], shown[place * 4 + 1], shown[place * 4 + 2]) = (color.red, color.green, color.blue)
      }
    }
    try file.close()
  }
}

extension ClockTime {
  fileprivate var hundredths: Int { Int((nanoseconds + 5_000_000) / 10_000_000) }
  fileprivate var milliseconds: Int { Int((nanoseconds + 500_000) / 1_000_000) }
}

private final class WebPAnimationFile: AnimationFile {
  private let path: String
  private let target: String
  private let quality: Double?
  private var animation: WebPAnimation?
  private var end = ClockTime.zero

  init(_ path: String, for target: String, _ quality: EncodingOptions.Quality) {
    self.path = path
    self.target = target
    self.quality = [.source: 75, .high: 92][quality]
  }

  func add(_ sample: Sample, shown: TimeSpan) throws {
    let size = sample.size
    let animation = try self.animation ?? WebPAnimation(width: size.width, height: size.height, quality: quality)
    self.animation = animation
    let isHalved = sample.caps?.string("format") == "I420"
    let frame = try isHalved ? sample.caps.map { try sample.buffer.inPlainLayout($0) } ?? sample.buffer : sample.buffer
    try frame.withBytes { try animation.add($0, as: isHalved ? .i420 : .rgba, at: shown.start.milliseconds) }
    end = shown.end
  }

  func finish(_ report: (_ done: Int, _ total: Int) -> Void, _ isStopped: () -> Bool) throws {
    let file = try ByteFile(path, for: target)
    try animation?.finish(at: end.milliseconds) { try file.write($0) }
  }
}

private final class APNGAnimation: AnimationFile {
  private let file: ByteFile
  private var chunks = APNGChunks()
  private var count = 0

  init(_ path: String, for target: String) throws { file = try ByteFile(path, for: target) }

  func add(_ sample: Sample, shown: TimeSpan) throws {
    let bytes = try sample.buffer.withBytes {
      try chunks.frame($0, milliseconds: shown.end.milliseconds - shown.start.milliseconds)
    }
    try bytes.withUnsafeBytes { try file.write($0) }
    count += 1
  }

  func finish(_ report: (_ done: Int, _ total: Int) -> Void, _ isStopped: () -> Bool) throws {
    try APNGChunks.end.withUnsafeBytes { try file.write($0) }
    try APNGChunks.count(count).withUnsafeBytes { try file.write($0, at: APNGChunks.countOffset) }
  }
}
