import GStreamer
import MediaTime
import Synchronization

/// Streams that a demuxer announces after others have begun.
/// This occurs in concatenated files and in broadcasts that change their program. Pipelines are
/// made only for the first streams of a file.
final class LateStreams: Sendable {
  private struct State {
    var names: Set<String> = []
    /// Demuxers that have announced all pads. For a short file, this is before the first packet is
    /// taken.
    var complete: Set<String> = []
    var count = 0
    /// Stream time of the packets that the demuxer has output so far, which may not be taken yet.
    var position = ClockTime.zero
    var start: ClockTime?
  }
  private let state = Mutex(State())

  /// - Parameters:
  ///   - elements: names of the demuxers, and of other elements that read the file.
  ///   - known: pads linked in the pipeline, as `element.pad`.
  ///   - samples: counter of the samples that the pipeline has output.
  init(_ pipeline: Pipeline, _ elements: Set<String>, known: Set<String>, after samples: Counter) {
    for name in elements {
      // The pipeline holds the closures, and the closures hold this object.
      pipeline.element(name)?.onNoMorePads { [self] in state.withLock { _ = $0.complete.insert(name) } }
      pipeline.element(name)?.onPadAdded { [self] pad in
        let full = "\(name).\(pad.name)"
        let isLate = state.withLock { state in
          let isNew = state.names.insert(full).inserted
          // A linked pad is late if its demuxer waits for the pad's first packet. Other pads
          // already have a warning.
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
          "left out: \(what) at about \(start), where the streams change; split the file there to reverse each part",
          count: state.count, span: TimeSpan(start: start, end: start))
      ]
    }
  }
}
