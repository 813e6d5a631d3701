import RetrogradeEngine

/// Quality settings and size limit of an animation.
struct AnimationSettings: Sendable {
  var quality = EncodingOptions.Quality.source
  /// Number of colours of a GIF, 2 to 256; nil: 256.
  var colors: Int?
  /// Strength of a GIF's dithering, 0 to 1; nil: the default of ``AnimationLevel``.
  var dither: Double?
  /// Largest size of the file; nil: no limit.
  var limit: ByteCount?
  /// Number of times that players show the animation; 0: endless.
  var plays: Int
  /// True if the source is a still image. A WebP with one frame is then a still image too, without
  /// duration.
  var isStill: Bool
  var spoolDirectory: String

  init(_ options: EncodingOptions, plays: Int = 0, isStill: Bool = false, spoolDirectory: String) {
    quality = options.quality
    colors = options.colors
    dither = options.dither
    limit = options.maxSize
    self.plays = plays
    self.isStill = isStill
    self.spoolDirectory = spoolDirectory
  }
}

/// Quality level of an animation, which is reduced step by step to make the file smaller.
struct AnimationLevel: Sendable {
  /// Number of colours of a GIF.
  var colors = 256
  /// Strength of a GIF's dithering, 0 to 1. With higher values, the image has more noise and
  /// differs more from the source, and the file is larger; lower values cause banding.
  var dither = 0.35
  /// Largest difference at which a GIF repeats a pixel of the previous frame instead of storing the
  /// new one; for each colour component, on the scale 0 to 255.
  var tolerance = 0
  /// Quality of a WebP, 0 to 100.
  var quality = 75.0
  /// Factor for width and height, 0 to 1.
  var scale = 1.0
  /// Interval of the frames to keep: every `step`-th frame is kept.
  var step = 1

  /// Returns levels in ascending order of loss, starting with `first`; each level should make the
  /// file smaller than the previous level does. A GIF first loses colours and small changes between
  /// frames; a WebP first loses quality. After that, both formats lose frame size, then frame rate.
  static func ladder(_ format: AnimationFormat, from first: AnimationLevel) -> [AnimationLevel] {
    var all = [first]
    func add(_ change: (inout AnimationLevel) -> Void) {
      var next = all[all.count - 1]
      change(&next)
      all.append(next)
    }
    if format == .gif {
      for (colors, dither, tolerance) in [(128, 0.35, 0), (64, 0.2, 4), (64, 0, 8), (32, 0, 12)]
      where colors < first.colors {
        add { ($0.colors, $0.dither, $0.tolerance) = (colors, min(dither, first.dither), tolerance) }
      }
    } else {
      for quality in [60.0, 45, 30, 20] where quality < first.quality { add { $0.quality = quality } }
    }
    for _ in 0..<8 { add { $0.scale *= 0.84 } }
    for _ in 0..<2 { add { $0.step *= 2 } }
    return all
  }

  /// Describes in words what this level loses compared with `first`; empty if nothing is lost.
  /// - Parameter width: width of the frames at `first`, in pixels.
  func qualityReductions(against first: AnimationLevel, _ format: AnimationFormat, width: Int) -> [String] {
    var lost: [String] = []
    if format == .gif {
      if colors < first.colors { lost.append("\(colors) colours instead of \(first.colors)") }
      if tolerance > first.tolerance { lost.append("small changes between frames are left out") }
    } else if quality < first.quality {
      lost.append("quality \(Int(quality)) instead of \(Int(first.quality))")
    }
    if scale < first.scale { lost.append("a width of \(scaled(width)) pixels instead of \(width)") }
    if step > first.step { lost.append("only every \(step == 2 ? "second" : "fourth") frame") }
    return lost
  }

  /// Width or height at this scale, at least 1.
  func scaled(_ length: Int) -> Int { max(Int((Double(length) * scale).rounded()), 1) }
}

/// Searches levels in ascending order of loss for the first level whose file fits the limit.
struct SizeSearch {
  let limit: Int
  let levels: [AnimationLevel]

  /// Largest number of levels that are tried.
  var mostTries: Int { 3 + Int.bitWidth - levels.count.leadingZeroBitCount }

  /// Result of the search.
  struct Found {
    var level: AnimationLevel
    var size: Int
    var tries: Int
  }

  /// Tries at most ``mostTries`` levels to find the first level that fits. If no level fits,
  /// returns the last level, and the smallest size of all tries.
  /// - Parameter size: makes a file and returns the file's size in bytes, or nil if the work was
  ///   stopped.
  /// - Returns: nil if the work was stopped. If a level fits, the last file made is the file of
  ///   that level.
  func run(_ size: (AnimationLevel) throws -> Int?) throws -> Found? {
    guard let first = levels.first, let own = try size(first) else { return nil }
    var tries = 1
    if own <= limit { return Found(level: first, size: own, tries: tries) }
    // Binary search: files at levels up to `low` are too large, and files at levels from `high` on
    // fit.
    var (low, high) = (0, levels.count)
    var (last, smallest) = (0, own)
    var found: Int?
    while high - low > 1 {
      let middle = (low + high) / 2
      guard let made = try size(levels[middle]) else { return nil }
      tries += 1
      (last, smallest) = (middle, min(smallest, made))
      if made <= limit { (high, found) = (middle, made) } else { low = middle }
    }
    guard var found else { return Found(level: levels[low], size: smallest, tries: tries) }
    if last != high {
      guard let made = try size(levels[high]) else { return nil }
      (found, tries) = (made, tries + 1)
    }
    return Found(level: levels[high], size: found, tries: tries)
  }
}
