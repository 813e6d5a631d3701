import Containers
import GStreamer
import MediaTime
import Synchronization

/// Ends the streams of an indexing pass after the indexed part: each stream ends when the part
/// needs none of the stream's later packets.
final class RangeGate: Sendable {
  /// State of one stream in the current pass.
  private struct Stream {
    var kind: StreamKind
    /// Time of the first packet, in stream time; nil until a packet arrives.
    var first: ClockTime?
    /// Number of packets that start at or after the end of the part.
    var past = 0
    var isClosed = false

    /// True if the part that ends at `end` needs no packet after the packet at `time`.
    func isComplete(at time: ClockTime, _ end: ClockTime) -> Bool {
      switch kind {
      // Codecs reorder at most 16 frames (H.264, A.3.1; H.265, A.4.2), or 32 fields, so after 40
      // packets no earlier frame can follow.
      case .video: past >= 40 || time >= end + RangeGate.reordering
      // The end of the part needs later packets, too: decoders delay their output by one packet,
      // and the next packet overlaps the last one.
      case .audio: time >= end + ClockTime(nanoseconds: 500_000_000)
      default: time >= end
      }
    }
  }

  private struct State {
    var end: ClockTime?
    /// Length from the first packet of any stream to the end of the part; nil if the end is set as
    /// a time.
    var length: ClockTime?
    var streams: [Stream] = []

    /// Counts a packet of stream `number`, and returns the numbers of the streams that end with
    /// this packet. `time` is the PTS of the packet, or the DTS if there is no PTS, in stream time.
    mutating func pass(_ number: Int, _ time: ClockTime) -> [Int] {
      streams[number].first = streams[number].first ?? time
      if end == nil { end = length.map { time + $0 } }
      guard let end else { return [] }
      if time >= end { streams[number].past += 1 }
      var over: [Int] = []
      if !streams[number].isClosed, streams[number].isComplete(at: time, end) { over.append(number) }
      for closed in over { streams[closed].isClosed = true }
      // Once audio and video have ended, end the other streams, too, because the next subtitle may
      // be an hour later. Also end all streams once one stream is far past the end of the part,
      // because no other stream lags that far behind.
      let isOver = streams.allSatisfy { $0.isClosed || ![.video, .audio].contains($0.kind) }
      guard isOver || time >= end + RangeGate.reordering + ClockTime(seconds: 2) else { return over }
      for other in streams.indices where !streams[other].isClosed {
        streams[other].isClosed = true
        over.append(other)
      }
      return over
    }
  }

  /// Upper bound for reordering: the timestamp of a packet is at most this much lower than the
  /// timestamp of any earlier packet in the stream.
  private static let reordering = ClockTime(seconds: 10)

  private let state = Mutex(State())
  private let pads = Mutex<[Pad]>([])

  /// Watches the stream that ends in `sink`. The watched pad is at the demuxer's output, before the
  /// GStreamer segment of the stream is changed. Call this before the pipeline starts.
  /// - Returns: false if no demuxer leads to `sink`.
  func watch(_ sink: Element, _ kind: StreamKind) -> Bool {
    // A demuxer is linked only after it finds the streams of the file. Until then, the first
    // element after the demuxer has an unlinked sink pad.
    guard let first = sink.upstream.last, first.isOpenEnded, let pad = first.firstSinkPad else { return false }
    let number = state.withLock { state in
      state.streams.append(Stream(kind: kind))
      return state.streams.count - 1
    }
    pads.withLock { $0.append(pad) }
    pad.endStream { [weak self] packet, segment in
      guard let self, let time = packet.pts ?? packet.dts else { return .continues }
      return pass(number, segment.streamTime(of: time))
    }
    return true
  }

  /// Begins a pass that ends at `end`, in stream time; nil for the end of the source.
  func open(until end: ClockTime?) { open(until: end, for: nil) }

  /// Begins a pass that ends `length` after the first packet.
  func open(for length: ClockTime) { open(until: nil, for: length) }

  private func open(until end: ClockTime?, for length: ClockTime?) {
    state.withLock { state in
      (state.end, state.length) = (end, length)
      for number in state.streams.indices { state.streams[number] = Stream(kind: state.streams[number].kind) }
    }
  }

  /// Time of the first packet of each stream, in stream time; nil if the stream had no packet.
  var firstTimes: [ClockTime?] { state.withLock { $0.streams.map(\.first) } }
  /// True for each stream that the gate ended; false for each stream that the source ended.
  var closed: [Bool] { state.withLock { $0.streams.map(\.isClosed) } }

  /// Returns the effect of the packet at `time` on stream `number`, and ends other streams if
  /// needed.
  private func pass(_ number: Int, _ time: ClockTime) -> StreamProgress {
    let (over, isEnd) = state.withLock { state in
      let over = state.pass(number, time)
      return (over, state.streams.allSatisfy(\.isClosed))
    }
    // One demuxer outputs all streams on the current thread, so other streams can be ended here.
    let pads = pads.withLock { $0 }
    for other in over where other != number { pads[other].endStream() }
    guard over.contains(number) else { return .continues }
    return isEnd ? .allHaveEnded : .ends
  }
}
