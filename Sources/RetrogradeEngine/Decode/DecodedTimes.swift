import GStreamer
import MediaTime
import Synchronization

/// When the frames of a video are shown by its decoder's account, for packets that do not say it, or have other times
/// than their frames: MPEG-2 of which only some pictures have a time, raw video, packets without a frame.
///
/// All of it is decoded once, forwards, and no frame is kept. Each frame is known by the packet that it comes from.
struct DecodedTimes {
  /// The index, with these times; packets without a frame are hidden.
  let video: VideoIndex
  /// They count the times that were changed, and the frames that the decoder lost.
  let warnings: [Warning]

  /// - Parameter store: all packets of `video`.
  /// - Returns: nil where the decoder does not tell which packet each frame is of, loses a keyframe, or conceals damage:
  ///   what it makes of that may depend on all that it decoded before.
  /// - Throws: ``RetrogradeError`` where the source can't be read.
  init?(_ video: VideoIndex, _ store: PacketStore, _ recipe: DecodingRecipe, _ cancellation: Cancellation) throws {
    let count = Mutex(0)
    let numbered = recipe.preparing { pipeline in
      pipeline.elements(ofClass: "Decoder").first?.staticPad("sink")?.onBuffer { buffer in
        let copy = buffer.shallowCopy()
        copy.number = count.withLock { count in
          defer { count += 1 }
          return count
        }
        return copy
      }
    }
    let output = try DecoderOutput(numbered, .plain, stall: ClockTime(seconds: 30))
    defer { output.close() }
    var times: [ClockTime] = []
    var places: [Int] = []
    do {
      while let sample = try output.pull(cancellation) {
        guard !sample.buffer.isCorrupted, let place = sample.buffer.number else { return nil }
        guard let time = FrameCollector.time(of: sample, after: times, given: nil) else { continue }
        times.append(time)
        places.append(place)
      }
    } catch let error as RetrogradeError where error.code == .damagedInput { return nil }
    let stated = places.map { place in
      let number = place - store.place(ofPacket: 0)
      return video.packets.indices.contains(number) ? video.packets[number].time : nil
    }
    let (starts, moved) =
      (video.isUntimed ? nil : DecodedTimes.between(stated, times)).map { ($0, 0) }
      ?? FrameCollector.starts(times, stored: video.isUntimed ? video.starts : nil)
    let shown = Dictionary(zip(places, starts)) { first, _ in first }
    guard count.withLock({ $0 }) == store.count, shown.count == starts.count, !starts.isEmpty else { return nil }
    let packets = video.packets.enumerated().map { number, packet in
      var packet = packet
      packet.time = shown[store.place(ofPacket: number)]
      packet.isHidden = packet.time == nil
      return packet
    }
    guard packets.count(where: { !$0.isHidden }) == starts.count else { return nil }
    // The frames after a keyframe that is lost are made of what was decoded before.
    guard !zip(packets, video.packets).contains(where: { $0.isKeyframe && $0.isHidden && !$1.isHidden }) else {
      return nil
    }
    var told = video.replacing(packets, isFromStart: video.isFromStart)
    told.isTimedByDecoder = true
    self.video = told
    warnings = (moved > 0 ? [.moved(moved)] : []) + video.missing(starts, before: nil)
    Log.decode.info("\(recipe.source): its decoder was asked when its \(starts.count) frames are shown")
  }

  /// When frames are shown, by what some of their packets say: the others follow evenly in between.
  ///
  /// Decoders of MPEG-2 guess the times of pictures without one, and put some of those after the next that has one.
  /// - Parameters:
  ///   - stated: of each frame, in display order; nil where its packet says nothing.
  ///   - decoded: the same by the decoder's account.
  /// - Returns: nil if the decoder's account agrees with what is stated, or that is not in order.
  private static func between(_ stated: [ClockTime?], _ decoded: [ClockTime]) -> [ClockTime]? {
    let known = stated.indices.filter { stated[$0] != nil }
    let times = known.compactMap { stated[$0] }
    guard known.count > 1, known.count < stated.count, FrameCollector.isAscending(times),
      !FrameCollector.isAscending(decoded) || known.contains(where: { decoded[$0] != stated[$0] })
    else { return nil }
    var next = 1
    let all = stated.indices.map { frame in
      while next < known.count - 1, known[next] < frame { next += 1 }
      let (from, to) = (known[next - 1], known[next])
      let step = times[next] - times[next - 1]
      let way = step.nanoseconds.multipliedReportingOverflow(by: Int64(frame - from))
      return way.overflow
        ? decoded[frame] : times[next - 1] + ClockTime(nanoseconds: way.partialValue / Int64(to - from))
    }
    return FrameCollector.isAscending(all) ? all : nil
  }
}

extension DecodingRecipe {
  /// To read all of the source, with a pipeline that `change` prepares too.
  fileprivate func preparing(_ change: @escaping @Sendable (Pipeline) -> Void) -> DecodingRecipe {
    var recipe = ofWhole
    let own = recipe.prepare
    recipe.prepare = { pipeline in
      own(pipeline)
      change(pipeline)
    }
    return recipe
  }
}
