import GStreamer
import MediaTime
import Synchronization

/// Detects packets that a parser skips because they precede the first codec header of a transport
/// or program stream.
final class SkippedStart: Sendable {
  private struct State {
    /// Decoding times of the packets that entered the parser before its first output, in stream
    /// time.
    var waiting: [ClockTime] = []
    var begun: ClockTime?
  }
  private let state = Mutex(State())

  /// - Returns: nil unless the path leads through `tsdemux` or `mpegpsdemux` to a parser.
  init?(_ path: StreamPath, in pipeline: Pipeline) {
    guard path.steps.contains(where: { ["tsdemux", "mpegpsdemux"].contains($0.factory) }), let last = path.steps.last,
      let parser = pipeline.element("e\(last.element)"), parser.isOfClass("Parser")
    else { return nil }
    parser.staticPad("sink")?.watchBuffers { [self] buffer, pad in
      guard let time = buffer.dts ?? buffer.pts else { return }
      let segment = pad.segment
      state.withLock { if $0.begun == nil { $0.waiting.append(segment.streamTime(of: time)) } }
    }
    parser.staticPad("src")?.watchBuffers { [self] buffer, pad in
      guard let time = buffer.dts ?? buffer.pts else { return }
      let segment = pad.segment
      state.withLock { $0.begun = $0.begun ?? segment.streamTime(of: time) }
    }
  }

  var warning: Warning? {
    state.withLock { state in
      guard let begun = state.begun, let first = state.waiting.first else { return nil }
      // A parser may delay a packet until the next packet arrives, but does not change the packet's
      // time. So compare times: not all waiting packets were skipped.
      let skipped = state.waiting.count { $0 < begun - ClockTime(nanoseconds: 1_000_000) }
      guard skipped > 0 else { return nil }
      return Warning(
        .damaged,
        "damaged: \(counted(skipped, "video packet")) before the first keyframe can't be decoded, from "
          + "\(first) to \(begun), since the recording begins within a group of pictures",
        count: skipped, span: TimeSpan(start: first, end: begun))
    }
  }
}
