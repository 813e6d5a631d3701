import GStreamer
import MediaTime
import Synchronization

/// Streams that a demuxer announces after other streams have begun.
///
/// Late streams occur in concatenated files and in broadcasts with program changes. Pipelines read
/// only the first streams of a file, so late streams are left out with a warning.
final class LateStreams: Sendable {
  private struct State {
    var names: Set<String> = []
    /// Demuxers that have announced that no more pads follow. Any further pad of such a demuxer is
    /// late, even if no packet has left the pipeline yet, as in a short file.
    var complete: Set<String> = []
    var count = 0
    /// Latest stream time of the packets that the demuxer has output. Some of these packets may
    /// still be in the pipeline.
    var position = ClockTime.zero
    var start: ClockTime?
  }
  private let state = Mutex(State())

  /// - Parameters:
  ///   - elements: names of the demuxers, and of other elements that read the file.
  ///   - known: pads that are linked in the pipeline, as `element.pad`.
  ///   - samples: counter of the samples that have left the pipeline.
  init(_ pipeline: Pipeline, _ elements: Set<String>, known: Set<String>, after samples: Counter) {
    for name in elements {
      // The closures capture `self` strongly, so this object lives as long as the pipeline.
      pipeline.element(name)?.onNoMorePads { [self] in state.withLock { _ = $0.complete.insert(name) } }
      pipeline.element(name)?.onPadAdded { [self] pad in
        let full = "\(name).\(pad.name)"
        let isLate = state.withLock { state in
          let isNew = state.names.insert(full).inserted
          // A pad is late if it appears after the first sample, or after the demuxer announced all
          // pads. Unlinked pads that appear earlier already have a warning.
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
      let what =
        state.count == 1
        ? "a stream that begins at about \(start)" : "\(state.count) streams that begin at about \(start) or later"
      return [
        Warning(
          .streamLeftOut,
          "left out: \(what), because the streams of the file change there; split the file there to reverse each part",
          count: state.count, span: TimeSpan(start: start, end: start))
      ]
    }
  }
}
