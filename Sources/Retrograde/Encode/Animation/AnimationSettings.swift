import RetrogradeEngine

/// Look of an animation, and its largest size.
struct AnimationSettings: Sendable {
  var quality = EncodingOptions.Quality.source
  /// Number of colours of a GIF, 2 to 256; nil: 256.
  var colors: Int?
  /// Strength of a GIF's dithering, 0 to 1; nil: as much as looks best.
  var dither: Double?
  /// How many bytes the file may have; nil: as many as it takes.
  var limit: ByteCount?
  /// How often players show it; 0: without end.
  var plays: Int
  var spoolDirectory: String

  init(_ options: EncodingOptions, plays: Int = 0, spoolDirectory: String) {
    quality = options.quality
    colors = options.colors
    dither = options.dither
    limit = options.maxSize
    self.plays = plays
    self.spoolDirectory = spoolDirectory
  }
}

/// Quality of an animation, which is reduced to make it smaller.
struct AnimationLevel: Sendable {
  /// Number of colours of a GIF.
  var colors = 256
  /// Strength of a GIF's dithering, 0 to 1. More makes noise, which takes bytes and likeness; less makes
  /// bands.
  var dither = 0.35
  /// Largest difference, in a GIF, of a part of a pixel's colour, of 0 to 255, from the frame on show at
  /// which it stays as it is.
  var tolerance = 0
  /// Quality of a WebP, 0 to 100.
  var quality = 75.0
  /// How much of the width and the height is left.
  var scale = 1.0
  /// Keep every n-th frame.
  var step = 1

  /// Levels from the least loss to the greatest, each with a smaller file than the one before: colours,
  /// likeness, size, frames.
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

  /// Losses against `first`, in words: empty where there are none.
  /// - Parameter width: of the frames as they were to be, in pixels.
  func concessions(against first: AnimationLevel, _ format: AnimationFormat, width: Int) -> [String] {
    var lost: [String] = []
    if format == .gif {
      if colors < first.colors { lost.append("\(colors) colours in place of \(first.colors)") }
      if tolerance > first.tolerance { lost.append("small changes from frame to frame") }
    } else if quality < first.quality {
      lost.append("quality \(Int(quality)) in place of \(Int(first.quality))")
    }
    if scale < first.scale { lost.append("\(scaled(width)) pixels of width in place of \(width)") }
    if step > first.step { lost.append("all but every \(step == 2 ? "second" : "fourth") frame") }
    return lost
  }

  /// A width or a height that is left.
  func scaled(_ length: Int) -> Int { max(Int((Double(length) * scale).rounded()), 1) }
}

/// Search for the least loss by which a file is small enough.
struct SizeSearch {
  let limit: Int
  let levels: [AnimationLevel]

  /// How many levels are tried at the most.
  var mostTries: Int { 3 + Int.bitWidth - levels.count.leadingZeroBitCount }

  /// Level that was found.
  struct Found {
    var level: AnimationLevel
    var size: Int
    var tries: Int
  }

  /// Tries levels until the first of those that are small enough is found: ``mostTries`` at the most.
  /// - Parameter size: makes a file and says how many bytes it has; nil where it was stopped.
  /// - Returns: nil where it was stopped. What is found was made last.
  func run(_ size: (AnimationLevel) throws -> Int?) throws -> Found? {
    guard let first = levels.first, let own = try size(first) else { return nil }
    var tries = 1
    if own <= limit { return Found(level: first, size: own, tries: tries) }
    // Too large up to here, and small enough from there on.
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
