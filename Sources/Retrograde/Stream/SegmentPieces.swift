import Containers
import MediaTime
import RetrogradeEngine
import Synchronization

/// Makes fragments of the packets of a stretch of video as they come, each of which begins with a given
/// frame: players of the stretch need not wait for its end.
final class SegmentPieces: Sendable {
  private struct State {
    /// Which of the output's frames were given to the encoder, in the order in which they are shown; of those that are out, only the last.
    var places: [Int] = []
    /// The packets that are not out yet.
    var packets: [SegmentEncoder.Packet] = []
    /// When the packet before was shown, in the time of the encoder.
    var latest: ClockTime?
    var count = 0
  }

  private let cuts: SegmentCuts
  private let frames: Range<Int>
  /// The frames that fragments begin with, but for the first.
  private let bounds: [Int]
  private let name: String
  private let take: @Sendable ([UInt8]) -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - frames: of the output, which the stretch is made of.
  ///   - name: the source's, for messages.
  ///   - take: gets one fragment after the other.
  init(
    _ cuts: SegmentCuts, _ frames: Range<Int>, bounds: [Int], name: String, take: @escaping @Sendable ([UInt8]) -> Void
  ) {
    (self.cuts, self.frames, self.name, self.take) = (cuts, frames, name, take)
    self.bounds = bounds.filter { frames.lowerBound < $0 && $0 < frames.upperBound }
  }

  /// How many packets came.
  var count: Int { state.withLock { $0.count } }

  /// Notes that a frame is about to be given to the encoder.
  /// - Returns: whether it is later than the one before.
  func note(_ place: Int) -> Bool {
    state.withLock { state in
      guard place > state.places.last ?? -1 else { return false }
      state.places.append(place)
      return true
    }
  }

  /// Takes a packet of the encoder.
  func add(_ packet: SegmentEncoder.Packet) throws {
    let ready = try state.withLock { state in
      guard packet.time > state.latest ?? ClockTime(nanoseconds: .min), state.packets.count < state.places.count else {
        throw RetrogradeError(
          .internalFailure, about: name,
          "can't be made into segments: their encoder does not output one packet for each frame, in order")
      }
      state.latest = packet.time
      state.count += 1
      state.packets.append(packet)
      return fragments(&state)
    }
    ready.forEach(take)
  }

  /// Gives out the remaining packets.
  func finish() {
    if let last = state.withLock({ fragment(&$0, $0.packets.count) }) { take(last) }
  }

  /// Whole fragments: all of their packets came, and the frame after them is known, which says how long the
  /// last of them is shown.
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

  /// - Parameter count: of packets, from the first that is not out on.
  private func fragment(_ state: inout State, _ count: Int) -> [UInt8]? {
    guard count > 0, let first = state.places.first else { return nil }
    // If frames are missing, the one before stays on show.
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
    // Numbers ascend along the track.
    return MP4Fragment(number: (isStart ? frames.lowerBound : first) + 1, start: starts[0], samples: samples).bytes(
      isStart: isStart)
  }
}
