import Containers
import GStreamer
import Images
import MediaTime
import RetrogradeEngine

/// GIF writer with two passes. The first pass counts the colours and stores the frames in the spool
/// (a temporary file); the second pass applies the palette. If the file is too large, more passes
/// follow at lower quality.
final class GIFAnimation: AnimationFile {
  private let path: String
  private let target: String
  private let settings: AnimationSettings
  private let frames: KeptFrames
  /// Colours of all frames at full quality.
  private let colors: Palette.Builder
  /// True if any pixel is transparent; if so, each frame replaces the whole previous frame.
  private var isTransparent = false

  private var first: AnimationLevel {
    AnimationLevel(colors: settings.colors ?? 256, dither: settings.dither ?? AnimationLevel().dither)
  }

  init(_ path: String, for target: String, _ settings: AnimationSettings) throws {
    self.path = path
    self.target = target
    self.settings = settings
    frames = try KeptFrames(directory: settings.spoolDirectory)
    colors = try Palette.Builder(colors: settings.colors ?? 256)
  }

  func add(_ sample: Sample, shown: TimeSpan) throws {
    let size = sample.size
    try sample.buffer.withBytes { pixels in
      try colors.add(pixels, width: size.width, height: size.height)
      isTransparent = isTransparent || stride(from: 3, to: pixels.count, by: 4).contains { pixels[$0] < 128 }
      try frames.add(pixels, sample.caps, shown: shown)
    }
  }

  func finish(_ report: @escaping @Sendable (_ done: Int, _ total: Int) -> Void, _ isStopped: () -> Bool) throws
    -> FinishedAnimation
  {
    var isFirst = true
    return try frames.search(settings, .gif, from: first, target, report, isStopped) { level, report in
      try write(level, isFirst ? colors : colors(of: level, isStopped), report, isStopped)
      isFirst = false
      return RandomAccessFile(path)?.size ?? 0
    }
  }

  /// Counts the colours of the frames that `level` keeps.
  private func colors(of level: AnimationLevel, _ isStopped: () -> Bool) throws -> Palette.Builder {
    let builder = try Palette.Builder(colors: level.colors)
    try frames.read(level, isStopped) { pixels, _, _ in
      try builder.add(pixels, width: level.scaled(frames.width), height: level.scaled(frames.height))
    }
    return builder
  }

  private func write(
    _ level: AnimationLevel, _ colors: Palette.Builder, _ report: (Int) -> Void, _ isStopped: () -> Bool
  ) throws {
    if isStopped() { return }
    let palette = try Palette(colors)
    let (width, height) = (level.scaled(frames.width), level.scaled(frames.height))
    let file = try GIFFile(path, width: width, height: height, palette: palette, plays: settings.plays)
    var shown: [UInt8] = []
    try frames.read(level, isStopped) { pixels, span, number in
      if number % 8 == 0 { report(number) }
      var values = try shown.withUnsafeBytes { shown in
        try palette.map(
          pixels, over: shown.isEmpty || isTransparent ? nil : shown, width: width, height: height,
          dither: level.dither)
      }
      if level.tolerance > 0, !shown.isEmpty, !isTransparent {
        keep(&values, where: pixels, isNear: shown, level.tolerance, palette.transparent)
      }
      // Round start and end times, not durations, so that rounding errors do not add up over many
      // frames.
      try file.add(values, centiseconds: max(span.end.hundredths - span.start.hundredths, 2), isWhole: isTransparent)
      if shown.isEmpty { shown = [UInt8](repeating: 255, count: width * height * 4) }
      for (place, value) in values.enumerated() where value != palette.transparent {
        let color = palette.colors[Int(value)]
        (shown[place * 4], shown[place * 4 + 1], shown[place * 4 + 2]) = (color.red, color.green, color.blue)
      }
    }
    try file.close()
  }

  /// Makes pixels transparent if each colour component differs by at most `tolerance` from the
  /// pixel on screen. Players then keep the pixel on screen.
  private func keep(
    _ values: inout [UInt8], where pixels: UnsafeRawBufferPointer, isNear shown: [UInt8], _ tolerance: Int,
    _ transparent: UInt8
  ) {
    for place in values.indices {
      let start = place * 4
      let isNear = (start..<start + 3).allSatisfy { abs(Int(pixels[$0]) - Int(shown[$0])) <= tolerance }
      if isNear { values[place] = transparent }
    }
  }
}
