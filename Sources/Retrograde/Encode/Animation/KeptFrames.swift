import GStreamer
import MediaTime
import RetrogradeEngine

/// Frames of an animation, stored in the spool because each attempt to write the file reads the
/// frames again.
final class KeptFrames {
  private let spool: Spool
  private var frames: [(offset: Int, count: Int, shown: TimeSpan)] = []
  private(set) var caps: Caps?

  init(directory: String) throws { spool = try Spool(directory: directory) }

  /// - Parameter caps: caps of all frames.
  func add(_ pixels: UnsafeRawBufferPointer, _ caps: Caps?, shown: TimeSpan) throws {
    self.caps = caps
    frames.append((try spool.append(pixels), pixels.count, shown))
  }

  var count: Int { frames.count }
  var width: Int { caps?.int("width") ?? 0 }
  var height: Int { caps?.int("height") ?? 0 }

  /// Calls `body` for each frame that `level` keeps, with the frame's scaled pixels, time span and
  /// number.
  func read(
    _ level: AnimationLevel, _ isStopped: () -> Bool, _ body: (UnsafeRawBufferPointer, TimeSpan, Int) throws -> Void
  ) throws {
    guard let caps else { return }
    let scaler =
      level.scale == 1
      ? nil
      : try FrameConverter(
        caps, orientation: nil,
        to: "video/x-raw,format=\(caps.string("format") ?? "RGBA"),width=\(level.scaled(width)),"
          + "height=\(level.scaled(height))", Cancellation())
    for number in stride(from: 0, to: frames.count, by: level.step) where !isStopped() {
      let frame = frames[number]
      let end = frames[min(number + level.step, frames.count) - 1].shown.end
      let buffer = try Buffer(size: frame.count) { try spool.read($0, at: frame.offset) }
      let form =
        scaler == nil
        ? nil : caps.setting("width", "\(level.scaled(width))").setting("height", "\(level.scaled(height))")
      let scaled = try scaler?.convert(buffer, caps) ?? buffer
      let plain = try form.map { try scaled.inPlainLayout($0) } ?? scaled
      try plain.withBytes { try body($0, TimeSpan(start: frame.shown.start, end: end), number) }
    }
  }
}

extension KeptFrames {
  /// Calls `make` with several levels, to find the first level whose file fits the size limit.
  /// Without a limit, calls `make` once, with the level `first`.
  /// - Parameters:
  ///   - report: called with the number of frames processed in all attempts so far, and the largest
  ///     number to expect.
  ///   - make: makes the file, reports the number of finished frames, and returns the size in
  ///     bytes.
  /// - Throws: ``RetrogradeError`` of code `cannotCreateOutput` if the file can't be made small
  ///   enough.
  func search(
    _ settings: AnimationSettings, _ format: AnimationFormat, from first: AnimationLevel, _ target: String,
    _ report: @escaping @Sendable (_ done: Int, _ total: Int) -> Void, _ isStopped: () -> Bool,
    _ make: (AnimationLevel, (Int) -> Void) throws -> Int
  ) throws -> FinishedAnimation {
    guard let limit = settings.limit else {
      _ = try make(first) { report($0, count) }
      return FinishedAnimation()
    }
    let search = SizeSearch(limit: limit.bytes, levels: AnimationLevel.ladder(format, from: first))
    var tries = 0
    guard
      let found = try search.run({ level in
        let size = try make(level) { report(tries * count + $0, search.mostTries * count) }
        tries += 1
        Log.encode.info("\(target): \(size) bytes with \(level)")
        return isStopped() ? nil : size
      })
    else { return FinishedAnimation() }
    guard found.size <= limit.bytes else {
      throw RetrogradeError(
        .cannotCreateOutput, about: target,
        "does not fit in \(limit.decimal): the smallest possible result has \(ByteCount(found.size).decimal)",
        remedy:
          "make it shorter with \(setting: .end), or reduce it with \(setting: .width) or \(setting: .frameRate)")
    }
    return FinishedAnimation(
      qualityReductions: Warning.qualityReductions(
        found.level.qualityReductions(against: first, format, width: width), under: limit),
      level: found.level)
  }
}
