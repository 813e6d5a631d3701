import GStreamer
import Images
import MediaTime
import RetrogradeEngine

/// WebP writer. Without a size limit, frames are encoded as they arrive. With a limit, each attempt
/// reads the frames from the spool.
final class WebPAnimationFile: AnimationFile {
  private let path: String
  private let target: String
  private let settings: AnimationSettings
  private let quality: Double?
  private let frames: KeptFrames?
  private var animation: WebPAnimation?
  private var end = ClockTime.zero

  init(_ path: String, for target: String, _ settings: AnimationSettings) throws {
    self.path = path
    self.target = target
    self.settings = settings
    quality = [.source: 75, .high: 92][settings.quality]
    frames = try settings.limit == nil ? nil : KeptFrames(directory: settings.spoolDirectory)
  }

  func add(_ sample: Sample, shown: TimeSpan) throws {
    let frame = try sample.caps.map { try sample.buffer.inPlainLayout($0) } ?? sample.buffer
    try frame.withBytes { pixels in
      if let frames { return try frames.add(pixels, sample.caps, shown: shown) }
      let (width, height) = sample.size
      let animation =
        try self.animation
        ?? WebPAnimation(
          width: width, height: height, quality: quality, plays: settings.plays, isStill: settings.isStill)
      self.animation = animation
      try animation.add(pixels, as: layout(sample.caps), at: shown.start.milliseconds)
      end = shown.end
    }
  }

  private func layout(_ caps: Caps?) -> WebPAnimation.Layout { caps?.string("format") == "I420" ? .i420 : .rgba }

  func finish(_ report: @escaping @Sendable (_ done: Int, _ total: Int) -> Void, _ isStopped: () -> Bool) throws
    -> FinishedAnimation
  {
    guard let frames else {
      try write(animation)
      return FinishedAnimation()
    }
    let first = AnimationLevel(quality: quality ?? 100)
    return try frames.search(settings, .webp, from: first, target, report, isStopped) { level, report in
      let made = try WebPAnimation(
        width: level.scaled(frames.width), height: level.scaled(frames.height), quality: level.quality,
        plays: settings.plays, isStill: settings.isStill)
      try frames.read(level, isStopped) { pixels, span, number in
        if number % 8 == 0 { report(number) }
        try made.add(pixels, as: layout(frames.caps), at: span.start.milliseconds)
        end = span.end
      }
      return isStopped() ? 0 : try write(made)
    }
  }

  /// - Returns: size of the file in bytes.
  @discardableResult
  private func write(_ animation: WebPAnimation?) throws -> Int {
    let file = try ByteFile(path, for: target)
    var count = 0
    try animation?.finish(at: end.milliseconds) {
      try file.write($0)
      count += $0.count
    }
    return count
  }
}
