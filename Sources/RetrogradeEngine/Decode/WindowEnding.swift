import GStreamer
import MediaTime
import Synchronization

/// Ends the packets that go into a decoder where those of a window end: decoders whose threads each take a frame are that many
/// packets ahead of what they give out, and what they decode of the next group of pictures is decoded once more. With groups of 30 frames
/// that was one frame in six.
final class WindowEnding: Sendable {
  /// What is to come of a window.
  private struct Rest {
    /// When each of its frames is shown, in stream time.
    let starts: [ClockTime]
    let tolerance: ClockTime
    var hasCome: [Bool]
    var missing: Int
    /// That of the packets that came; those of one before count for nothing.
    var segment: Segment?
    var hasEnded = false

    init(_ starts: [ClockTime], _ tolerance: ClockTime) {
      self.starts = starts
      self.tolerance = tolerance
      hasCome = Array(repeating: false, count: starts.count)
      missing = starts.count
    }

    /// Whether nothing from a packet on that is shown at `time` is needed.
    mutating func ends(at time: ClockTime, in segment: Segment) -> Bool {
      if self.segment != segment {
        self = Rest(starts, tolerance)
        self.segment = segment
      }
      let place = starts.endOfPrefix { $0 + tolerance < time }
      if place < starts.count, starts[place] <= time + tolerance {
        if !hasCome[place] { missing -= 1 }
        hasCome[place] = true
      }
      hasEnded = hasEnded || missing == 0 && place == starts.count
      return hasEnded
    }
  }

  private let pad: Pad
  private let rest = Mutex<Rest?>(nil)

  /// - Parameter pad: where packets come into the decoder. To be called before the pipeline starts.
  init(_ pad: Pad) {
    self.pad = pad
    pad.endStream { [weak self] packet, segment in
      guard let time = packet.pts, let self else { return .goesOn }
      let isEnd = rest.withLock { $0?.ends(at: segment.streamTime(of: time), in: segment) ?? false }
      return isEnd ? .allHaveEnded : .goesOn
    }
  }

  /// Whether each packet is all of a picture, so that none that is shown later is needed for it.
  var isExact: Bool {
    guard let caps = pad.caps else { return false }
    return switch caps.mediaType {
    case "video/x-h264", "video/x-h265": caps.string("alignment") == "au"
    case "video/x-vp8", "video/x-vp9": true
    default: false
    }
  }

  /// Whether it ended what came since the last seek.
  var hasEnded: Bool { rest.withLock { $0?.hasEnded ?? false } }

  /// What comes from the next seek on ends with frames that are shown at `starts`; nil: with the source.
  func set(_ starts: [ClockTime]?, _ tolerance: ClockTime = .zero) {
    rest.withLock { $0 = starts.map { Rest($0, tolerance) } }
  }
}
