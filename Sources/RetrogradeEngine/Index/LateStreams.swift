import GStreamer
import MediaTime
import Synchronization

/// Streams that a demuxer finds after others have begun: in a file that was put together from several, one
/// after the other, or a broadcast that changes its programme. The pipelines are made for the first streams
/// of a file.
final class LateStreams: Sendable {
  private struct State {
    var names: Set<String> = []
    /// Demuxers that have announced all their pads: for a short file, before the first packet was taken.
    var complete: Set<String> = []
    var count = 0
    /// Position of the streams before, in stream time, as they came out of the demuxer: not as far as they
    /// were taken.
    var position = ClockTime.zero
    var start: ClockTime?
  }
  private let state = Mutex(State())

  /// - Parameters:
  ///   - elements: the demuxers, and other elements that read the file.
  ///   - known: the pads that the pipeline links, as `element.pad`.
  ///   - samples: counts the samples that have come out of the pipeline.
  init(_ pipeline: Pipeline, _ elements: Set<String>, known: Set<String>, after samples: Counter) {
    for name in elements {
      // The pipeline holds the closures, and those this.
      pipeline.element(name)?.onNoMorePads { [self] in state.withLock { _ = $0.complete.insert(name) } }
      pipeline.element(name)?.onPadAdded { [self] pad in
        let full = "\(name).\(pad.name)"
        let isLate = state.withLock { state in
          let isNew = state.names.insert(full).inserted
          // One that is linked comes late where its demuxer waits for its first packet; others are left out with a word already.
          let isLate = samples.value > 0 || state.complete.contains(name)
          guard isLate, !isNew || !known.contains(full) else { return false }
          state.count += 1
          state.start = state.start ?? state.position
          return true
        }
        guard !isLate else { return }
        pad.watchBuffers { [self] buffer, pad in
          guard let time = buffer.pts else { return }
          let position = pad.segment.streamTime(of: time)
          state.withLock { $0.position = max($0.position, position) }
        }
      }
    }
  }

  var warnings: [Warning] {
    state.withLock { state in
      guard let start = state.start else { return [] }
      let what = state.count == 1 ? "a stream that begins" : "\(state.count) streams that begin"
      return [
        Warning(
          .streamLeftOut,
          "left out: \(what) at about \(start), where the file changes; cut it there to reverse the parts one by one",
          count: state.count, span: TimeSpan(start: start, end: start))
      ]
    }
  }
}
