import GStreamer
import MediaTime
import Retrograde
import RetrogradeEngine

/// Range of a stream's output that a client downloads.
struct DownloadRange: Hashable, Sendable {
  /// Start and end in the output's time; nil for the output's own start or end.
  var from: ClockTime?
  var to: ClockTime?

  init(from: ClockTime? = nil, to: ClockTime? = nil) { (self.from, self.to) = (from, to) }

  /// - Parameter query: parameters of a request; `from` and `to` are times in seconds.
  /// - Returns: nil if `from` or `to` is not a time, or if `from` is not before `to`.
  init?(_ query: [String: String]) {
    for (name, key) in [("from", \DownloadRange.from), ("to", \DownloadRange.to)]
      as [(String, WritableKeyPath<DownloadRange, ClockTime?>)]
    {
      guard let text = query[name], !text.isEmpty else { continue }
      guard text.utf8.count <= 20, let seconds = Double(text), seconds >= 0, seconds < 1e9 else { return nil }
      self[keyPath: key] = ClockTime(seconds: seconds)
    }
    if let from, let to, from >= to { return nil }
  }

  /// Returns playback options that output only this range: `start` and `end` trim the source to the
  /// part that the range shows. With a score, the options are returned unchanged.
  func playback(_ stream: OpenStream) -> PlaybackOptions {
    var playback = stream.playback
    guard playback.score == nil, from != nil || to != nil else { return playback }
    let duration = stream.mirror.duration
    // Move both times to frame boundaries, because a time in the middle of a frame must not split
    // the frame.
    let frames = stream.mirror.frameTimes
    let (from, to) = (
      frames.nearest(min(from ?? .zero, duration), or: duration),
      frames.nearest(min(to ?? duration, duration), or: duration)
    )
    guard from < to else { return playback }
    // Start of the source range that the output plays.
    let first = playback.start?.time ?? .zero
    // The frame at the turn is shown once, in the middle of the output. When that frame ends, the
    // whole source has been played.
    let turn = frames.first { $0 > duration / 2 } ?? (frames.isEmpty ? duration / 2 : duration)
    let places = [from, to].map { time in
      switch playback.loop {
      case .forward: time
      case .reverse: duration - time
      case .pingPong: time <= turn ? time : duration - time
      case .reverseForward: time <= turn ? turn - time : time - (duration - turn)
      }
    }
    var span = (start: min(places[0], places[1]), end: max(places[0], places[1]))
    if from < turn, to > turn {
      switch playback.loop {
      case .pingPong: span.end = turn
      case .reverseForward: span.start = .zero
      case .forward, .reverse: break
      }
    }
    playback.start = .time(first + span.start)
    playback.end = .time(first + span.end)
    return playback
  }

  /// Returns a shell command that creates the same file as the download.
  func command(_ stream: OpenStream) -> String {
    let playback = playback(stream)
    var words = ["retrograde", "reverse", Shell.quoted(stream.file.path), Shell.quoted(fileName(stream))]
    if let score = playback.score {
      words += ["--score", Shell.quoted("\(score)")]
    } else if playback.loop != .reverse {
      words += ["--loop", playback.loop.rawValue]
    }
    if let start = playback.start { words += ["--start", Shell.quoted("\(start)")] }
    if let end = playback.end { words += ["--end", Shell.quoted("\(end)")] }
    if let joint = playback.joint { words += ["--joint", "\(joint.seconds)"] }
    if playback.dissolve > .zero { words += ["--dissolve", "\(playback.dissolve.seconds)"] }
    if let method = playback.interpolation { words += ["--interpolate", method.rawValue] }
    if playback.keepsPitch { words.append("--keep-pitch") }
    return words.joined(separator: " ")
  }

  /// Returns the name of the download: the source's name with the order of play.
  func fileName(_ stream: OpenStream) -> String {
    let name = stream.file.name
    let stem = name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
    let order = stream.playback.score == nil ? stream.playback.loop.rawValue : "score"
    let hasVideo = stream.mirror.renditions.contains(where: \.isVideo)
    return "\(stem.prefix(80)) (\(order)).\(hasVideo ? "mp4" : "m4a")"
  }
}

extension [ClockTime] {
  /// Returns the time nearest to `time` among 0, the times in this array, and `end`. Returns `time`
  /// itself if the array is empty, or `time` is not before `end`.
  /// - Parameter end: end of the last frame.
  fileprivate func nearest(_ time: ClockTime, or end: ClockTime) -> ClockTime {
    guard !isEmpty, time < end else { return time }
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] <= time { low = middle + 1 } else { high = middle }
    }
    let before = low > 0 ? self[low - 1] : .zero
    let after = low < count ? self[low] : end
    return time - before <= after - time ? before : after
  }
}
