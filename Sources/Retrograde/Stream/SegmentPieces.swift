import Containers
import MediaTime
import RetrogradeEngine
import Synchronization

/// Makes the fragments of a segment while its packets arrive from the encoder, so that players need
/// not wait for the complete segment. The first fragment begins with the first frame, the others
/// with the frames in ``bounds``.
final class SegmentPieces: Sendable {
  private struct State {
    /// Indexes of the output frames that were pushed into the encoder, but are not in an emitted
    /// fragment yet, in display order.
    var places: [Int] = []
    /// Packets that are not in an emitted fragment yet.
    var packets: [SegmentEncoder.Packet] = []
    /// Presentation time of the latest packet, from the start of the encoded range.
    var latest: ClockTime?
    var count = 0
  }

  private let cuts: SegmentCuts
  private let frames: Range<Int>
  /// Indexes of the first frames of all fragments except the first fragment.
  private let bounds: [Int]
  private let name: String
  private let take: @Sendable ([UInt8]) -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - frames: indexes of the output frames to encode.
  ///   - name: name of the source in messages.
  ///   - take: gets the fragments in order.
  init(
    _ cuts: SegmentCuts, _ frames: Range<Int>, bounds: [Int], name: String, take: @escaping @Sendable ([UInt8]) -> Void
  ) {
    (self.cuts, self.frames, self.name, self.take) = (cuts, frames, name, take)
    self.bounds = bounds.filter { frames.lowerBound < $0 && $0 < frames.upperBound }
  }

  /// Number of received packets.
  var count: Int { state.withLock { $0.count } }

  /// Announces a frame that is about to be pushed into the encoder.
  /// - Returns: false if a frame with this or a higher index was already announced; the caller must
  ///   then not push the frame. Otherwise true.
  func note(_ place: Int) -> Bool {
    state.withLock { state in
      guard place > state.places.last ?? -1 else { return false }
      state.places.append(place)
      return true
    }
  }

  /// Adds a packet from the encoder.
  func add(_ packet: SegmentEncoder.Packet) throws {
    let ready = try state.withLock { state in
      guard packet.time > state.latest ?? ClockTime(nanoseconds: .min), state.packets.count < state.places.count else {
        throw RetrogradeError(
          .internalFailure, about: name,
          "can't be made into segments: the encoder does not produce one packet for each frame, in order")
      }
      state.latest = packet.time
      state.count += 1
      state.packets.append(packet)
      return fragments(&state)
    }
    ready.forEach(take)
  }

  /// Emits the remaining packets as the last fragment.
  func finish() {
    if let last = state.withLock({ fragment(&$0, $0.packets.count) }) { take(last) }
  }

  /// Returns the complete fragments. A fragment is complete when two things have happened: all its
  /// packets have arrived, and ``note(_:)`` has announced the first frame of the next fragment. The
  /// start of that frame determines the duration of the fragment's last packet.
  private func fragments(_ state: inout State) -> [[UInt8]] {
    var ready: [[UInt8]] = []
    while let first = state.places.first, let bound = bounds.first(where: { $0 > first }),
      let count = state.places.firstIndex(where: { $0 >= bound }), count <= state.packets.count,
      let bytes = fragment(&state, count)
    {
      ready.append(bytes)
    }
    return ready
  }

  /// - Parameter count: number of packets in the fragment. The fragment begins with the first
  ///   packet that is not emitted yet.
  private func fragment(_ state: inout State, _ count: Int) -> [UInt8]? {
    guard count > 0, let first = state.places.first else { return nil }
    // The first frame starts with the segment, even if earlier frames are missing. If later frames
    // are missing, the frame before them stays on screen.
    let isStart = state.count == state.packets.count
    let starts = state.places.prefix(count).enumerated().map { place, frame in
      cuts.times[isStart && place == 0 ? frames.lowerBound : frame]
    }
    let end = cuts.times[state.places.count > count ? state.places[count] : frames.upperBound]
    let ends = starts.dropFirst() + [end]
    let samples = zip(state.packets, zip(starts, ends)).map { packet, span in
      MP4Fragment.Sample(bytes: packet.bytes, duration: span.1 - span.0, isKeyframe: packet.isKeyframe)
    }
    state.packets.removeFirst(count)
    state.places.removeFirst(count)
    // Sequence numbers must ascend along the track.
    return MP4Fragment(number: (isStart ? frames.lowerBound : first) + 1, start: starts[0], samples: samples).bytes(
      isStart: isStart)
  }
}
