import MediaTime

/// Consecutive frames that are decoded forwards, stored, and output in reverse.
public struct Window: Hashable, Sendable, Codable {
  /// Frames of the window, in display order, counted from 0.
  public var frames: Range<Int>
  /// Keyframe (in display order) at which decoding starts. The window's frames depend on this
  /// keyframe.
  public var keyframe: Int
  /// Number of the window's first frames that are in the spool. The other frames are in memory.
  public var spooled: Int

  /// Number of frames in memory.
  public var held: Int { frames.count - spooled }
  /// Number of frames to decode for this window, from the keyframe on.
  public var decoded: Int { frames.upperBound - keyframe }
}

/// Plan for reading a video backwards within a memory budget. The windows are read last first.
public struct Plan: Hashable, Sendable, Codable {
  /// How the video is read.
  public enum Method: String, Hashable, Sendable, Codable {
    /// Seek to one window after another.
    case windows
    /// Decode once, forwards, into the spool: for sources where seeking is impossible or inexact.
    case forward
  }

  public var method: Method
  /// Windows in reading order: last first.
  public var windows: [Window]
  /// Largest number of bytes of decoded media in memory at once.
  public var budget: Int
  /// Size of a decoded frame, in bytes.
  public var frameBytes: Int

  /// Largest number of bytes that the plan keeps in memory at once. Memory contains two windows,
  /// because one window is decoded while the previous window is encoded.
  public var peakBytes: Int {
    let held = windows.map(\.held)
    let pairs = zip(held, held.dropFirst()).map(+)
    return (pairs.max() ?? held.first ?? 0) * frameBytes
  }

  /// Largest number of bytes in the spool at once.
  public var peakSpoolBytes: Int {
    let spooled = windows.map(\.spooled)
    let pairs = zip(spooled, spooled.dropFirst()).map(+)
    return (pairs.max() ?? spooled.first ?? 0) * frameBytes
  }

  /// Number of frames that are output.
  public var frameCount: Int { windows.reduce(0) { $0 + $1.frames.count } }

  /// Number of decoded frames per output frame; at least 1.
  public var decodingWork: Double {
    frameCount == 0 ? 1 : Double(windows.reduce(0) { $0 + $1.decoded }) / Double(frameCount)
  }
}

extension Plan {
  /// Returns the plan with its first window split in two. The new first window begins at `frame`,
  /// or later if the frames from `frame` on do not fit in memory. The new first window needs no
  /// spool. The second window contains the earlier frames, which are decoded twice. If a split is
  /// impossible, the plan is returned unchanged.
  func split(before frame: Int) -> Plan {
    guard let first = windows.first else { return self }
    let room = budget / max(frameBytes, 1)
    // Leave room for at least one frame of the second window, which is in memory at the same time.
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
