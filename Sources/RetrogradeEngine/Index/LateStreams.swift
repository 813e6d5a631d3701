import GStreamer
import MediaTime
import Synchronization

/// Streams that a demuxer finds after others have begun: where a file was put together from several, one after the other, or a
/// broadcast changes its programme. The pipelines are made for what a file begins with.
final class LateStreams: Sendable {
  private struct State {
    var names: Set<String> = []
    /// The demuxers that said that they have all pads: of a short file, before anybody took its first packet.
    var complete: Set<String> = []
    var count = 0
    /// How far the streams before came out of the demuxer, in stream time: not how far anybody has taken them.
    var position = ClockTime.zero
    var start: ClockTime?
  }
  private let state = Mutex(State())

  /// - Parameters:
  ///   - elements: the demuxers, and what else reads the file.
  ///   - known: the pads that the pipeline links, as `element.pad`.
  ///   - samples: counts what has come out of the pipeline.
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
          "left out: \(what) at about \(start), where the file changes; cut it there to have the parts mirrored one by one",
          count: state.count, span: TimeSpan(start: start, end: start))
      ]
    }
  }
}
