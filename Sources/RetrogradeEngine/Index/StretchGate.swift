import Containers
import GStreamer
import MediaTime
import Synchronization

/// Ends the streams of an indexing pass where the stretch ends that is indexed, each when all of it has come that is shown or
/// heard before that.
final class StretchGate: Sendable {
  /// State of one stream since the pass began.
  private struct Stream {
    var kind: StreamKind
    /// Time of the first packet.
    var first: ClockTime?
    /// How many packets came that begin at or after the end.
    var past = 0
    var isClosed = false

    /// True if no packet after one of `time` belongs to the part before `end`.
    func isComplete(at time: ClockTime, _ end: ClockTime) -> Bool {
      switch kind {
      // No codec has more than 16 frames come after ones that are shown later (H.264, A.3.1; H.265, A.4.2); each may be two fields.
      case .video: past >= 40 || time >= end + StretchGate.reordering
      // Decoders hold back a packet, and the next one overlaps it.
      case .audio: time >= end + ClockTime(nanoseconds: 500_000_000)
      default: time >= end
      }
    }
  }

  private struct State {
    var end: ClockTime?
    /// Length from the first packet of all to the end, if the end is not known yet.
    var length: ClockTime?
    var streams: [Stream] = []

    /// Streams that are over when a packet of stream `number` comes that is decoded or shown at `time`.
    mutating func pass(_ number: Int, _ time: ClockTime) -> [Int] {
      streams[number].first = streams[number].first ?? time
      if end == nil { end = length.map { time + $0 } }
      guard let end else { return [] }
      if time >= end { streams[number].past += 1 }
      var over: [Int] = []
      if !streams[number].isClosed, streams[number].isComplete(at: time, end) { over.append(number) }
      for closed in over { streams[closed].isClosed = true }
      // Subtitles may not come for an hour, and of a stream that lags so far behind nothing comes before the end.
      let isOver = streams.allSatisfy { $0.isClosed || ![.video, .audio].contains($0.kind) }
      guard isOver || time >= end + StretchGate.reordering + ClockTime(seconds: 2) else { return over }
      for other in streams.indices where !streams[other].isClosed {
        streams[other].isClosed = true
        over.append(other)
      }
      return over
    }
  }

  /// Bound of the time by which a frame is shown earlier than it comes.
  private static let reordering = ClockTime(seconds: 10)

  private let state = Mutex(State())
  private let pads = Mutex<[Pad]>([])

  /// Watches the stream that comes out of `sink`: where its demuxer will give it out, before anything changes
  /// its segment. To be called before the pipeline starts.
  /// - Returns: false where no demuxer leads to it.
  func watch(_ sink: Element, _ kind: StreamKind) -> Bool {
    // Demuxers are linked when they know the streams of the file.
    guard let first = sink.upstream.last, first.isOpenEnded, let pad = first.firstSinkPad else { return false }
    let number = state.withLock { state in
      state.streams.append(Stream(kind: kind))
      return state.streams.count - 1
    }
    pads.withLock { $0.append(pad) }
    pad.endStream { [weak self] packet, segment in
      guard let self, let time = packet.pts ?? packet.dts else { return .goesOn }
      return pass(number, segment.streamTime(of: time))
    }
    return true
  }

  /// Begins a pass that ends at `end`, in stream time; nil: with the source.
  func open(until end: ClockTime?) { open(until: end, for: nil) }

  /// Begins a pass that ends so long after the first packet.
  func open(for length: ClockTime) { open(until: nil, for: length) }

  private func open(until end: ClockTime?, for length: ClockTime?) {
    state.withLock { state in
      (state.end, state.length) = (end, length)
      for number in state.streams.indices { state.streams[number] = Stream(kind: state.streams[number].kind) }
    }
  }

  /// When the first packet of each stream begins; nil where none came.
  var firstTimes: [ClockTime?] { state.withLock { $0.streams.map(\.first) } }
  /// Which streams ended here, and not with the source.
  var closed: [Bool] { state.withLock { $0.streams.map(\.isClosed) } }

  /// - Returns: the effect on stream `number` of its packet of `time`.
  private func pass(_ number: Int, _ time: ClockTime) -> StreamProgress {
    let (over, isEnd) = state.withLock { state in
      let over = state.pass(number, time)
      return (over, state.streams.allSatisfy(\.isClosed))
    }
    // One demuxer gives out all streams, on the thread that is here.
    let pads = pads.withLock { $0 }
    for other in over where other != number { pads[other].endStream() }
    guard over.contains(number) else { return .goesOn }
    return isEnd ? .allHaveEnded : .ends
  }
}
