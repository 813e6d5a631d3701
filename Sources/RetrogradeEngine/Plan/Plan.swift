import MediaTime

/// A stretch of video that is decoded forwards, held, and given out backwards.
public struct Window: Hashable, Sendable, Codable {
  /// Its frames, in display order, counted from 0.
  public var frames: Range<Int>
  /// Keyframe (in display order) at which decoding starts: the frames depend on it.
  public var keyframe: Int
  /// How many of its frames, the first ones, wait in the spool; the others are held in memory.
  public var spooled: Int

  /// Frames held in memory at once.
  public var held: Int { frames.count - spooled }
  /// Frames that the decoder must work through to give these.
  public var decoded: Int { frames.upperBound - keyframe }
}

/// Plan of reading a video backwards: the windows, last first, for a given memory budget. A plain value.
public struct Plan: Hashable, Sendable, Codable {
  /// How the video is read.
  public enum Method: String, Hashable, Sendable, Codable {
    /// Seek to each window in turn.
    case windows
    /// Decode once, forwards, into the spool: for sources where seeking is impossible or inexact.
    case forward
  }

  public var method: Method
  /// Windows in the order in which they are read: last first.
  public var windows: [Window]
  /// The most bytes of decoded media to hold.
  public var budget: Int
  /// The size of one decoded frame in bytes.
  public var frameBytes: Int

  /// Two windows are alive at once: one is decoded while the one before it is encoded.
  public var peakBytes: Int {
    let held = windows.map(\.held)
    let pairs = zip(held, held.dropFirst()).map(+)
    return (pairs.max() ?? held.first ?? 0) * frameBytes
  }

  /// The most bytes in the spool at once.
  public var peakSpoolBytes: Int {
    let spooled = windows.map(\.spooled)
    let pairs = zip(spooled, spooled.dropFirst()).map(+)
    return (pairs.max() ?? spooled.first ?? 0) * frameBytes
  }

  /// Frames given out.
  public var frameCount: Int { windows.reduce(0) { $0 + $1.frames.count } }

  /// Frames that the decoder works through, as a multiple of the frames given out; 1 is the least.
  public var decodingWork: Double {
    frameCount == 0 ? 1 : Double(windows.reduce(0) { $0 + $1.decoded }) / Double(frameCount)
  }
}

extension Plan {
  /// The same with its first window in two, of which the one that is read first begins with `frame`, or later where memory has no room for that:
  /// it needs no spool, and the rest is decoded once more up to there.
  func split(before frame: Int) -> Plan {
    guard let first = windows.first else { return self }
    let room = budget / max(frameBytes, 1)
    // One frame of the rest at least is held beside it.
    let frame = max(frame, first.frames.upperBound - room + 1)
    guard first.frames.lowerBound < frame, frame < first.frames.upperBound else { return self }
    let rest = first.frames.lowerBound..<frame
    let held = min(first.held, room - (first.frames.upperBound - frame), rest.count)
    var plan = self
    plan.windows[0].frames = frame..<first.frames.upperBound
    plan.windows[0].spooled = 0
    plan.windows.insert(Window(frames: rest, keyframe: first.keyframe, spooled: rest.count - held), at: 1)
    return plan
  }

  /// Summary of the plan, for debugging.
  package var words: String {
    "\(windows.count) windows of up to \(windows.map(\.frames.count).max() ?? 0) frames, \(frameCount) frames in all of "
      + "\(frameBytes) bytes each; up to \(peakBytes) of \(budget) bytes in memory, \(peakSpoolBytes) in the spool; "
      + "decoding work \(decodingWork)"
  }
}
