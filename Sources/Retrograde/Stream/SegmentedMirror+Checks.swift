import MediaTime
import RetrogradeEngine

extension SegmentedMirror.Settings {
  /// Allowed heights of a rendition, in pixels.
  private static let possibleHeights = 16...4320

  /// - Throws: ``RetrogradeError`` of code `usage` if these settings are invalid for every source.
  func check(_ path: String) throws {
    func refused(_ why: Message, _ remedy: Message) -> RetrogradeError {
      RetrogradeError(.usage, about: path, "can't be made into segments: \(why)", remedy: remedy)
    }
    if playback.mixesFrames {
      throw refused(
        "\(setting: .dissolve) and \(setting: .interpolation) mix frames with the frames before and after them",
        "leave out \(setting: .dissolve) and \(setting: .interpolation)")
    }
    if let height = heights.first(where: { !Self.possibleHeights.contains($0) }) {
      throw refused(
        "a height of \(height) pixels is not possible",
        "choose \(Self.possibleHeights.lowerBound) to \(Self.possibleHeights.upperBound)")
    }
    guard (ClockTime(seconds: 1)...ClockTime(seconds: 60)).contains(target) else {
      throw refused("a segment length of \(target) is not possible", "choose 1 to 60 seconds")
    }
  }

  /// - Throws: ``RetrogradeError`` of code `usage` if these settings can't be used for this source.
  func check(_ path: String, _ source: PlayableSource) throws {
    guard source.legs.frameRate == nil else {
      throw RetrogradeError(
        .usage, about: path,
        "can't be made into segments: with \(setting: .score), \(setting: .frameRate) needs all earlier frames to know "
          + "which frames to drop",
        remedy: "leave out \(setting: .frameRate)")
    }
    guard source.legs.duration ?? .zero <= Self.longest else {
      throw RetrogradeError(
        .usage, about: path, "can't be made into segments: the output would be longer than \(Self.longest)",
        remedy: "lower \(setting: .count)")
    }
    // Faster playback drops no frames, so the speed does not matter: count all source frames in the
    // played ranges.
    let played = source.legs.all.reduce(0) { $0 + $1.span.duration.seconds }
    guard played * (source.video?.shown.timeline.frameRate ?? 0) <= Double(Self.mostFrames) else {
      throw RetrogradeError(
        .usage, about: path, "can't be made into segments: the output would have more than \(Self.mostFrames) frames",
        remedy: "lower \(setting: .count)")
    }
  }

  /// Largest number of frames of a video: 38 hours at 30 fps. Each frame takes about 70 bytes of
  /// memory.
  private static let mostFrames = 1 << 22
  private static let longest = ClockTime(seconds: 100 * 3600)

  /// Returns the heights of the video renditions, in pixels: even, descending.
  func heights(of video: VideoSource) throws -> [Int] {
    let own = Int(try geometry(of: video).shown.height)
    let wanted = heights.isEmpty ? [Self.usualHeight] : heights
    return Array(Set(wanted.map { max(min($0, own) / 2 * 2, 2) })).sorted(by: >)
  }

  func geometry(of video: VideoSource, _ framing: Framing = Framing()) throws -> FrameGeometry {
    try FrameGeometry(
      video.caps, orientation: video.video.tags?.string("image-orientation"), framing, for: .segments)
  }

  /// Returns the preferred start times of the segments of an output without video.
  func starts(until end: ClockTime) -> [ClockTime] {
    // The first two segments are short, as for video, because playback begins only when a complete
    // segment has arrived.
    let later = stride(
      from: target.nanoseconds * 3 / 4, to: end.nanoseconds, by: Int64.Stride(target.nanoseconds))
    return [.zero, target / 4] + later.map { ClockTime(nanoseconds: $0) }
  }
}
