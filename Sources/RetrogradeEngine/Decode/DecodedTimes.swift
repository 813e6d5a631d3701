import GStreamer
import MediaTime
import Synchronization

/// Display times of a video's frames according to its decoder.
///
/// These times are needed if packets have no times, or if packet times differ from frame times.
/// Examples are MPEG-2 with times for only some pictures, raw video, and packets without a frame.
///
/// The whole video is decoded once, forwards, and no frame is kept. Each packet carries a number,
/// and the frame decoded from the packet carries the packet's number.
struct DecodedTimes {
  /// Index with the decoder's times. Packets without a frame are marked as hidden.
  let video: VideoIndex
  /// Warnings about changed times, and about frames that the decoder lost.
  let warnings: [Warning]

  /// - Parameter store: all packets of `video`.
  /// - Returns: nil if these times can't be used to decode windows. The decoder may fail, not
  ///   report the packet of each frame, lose a keyframe, or conceal damage. Concealed pixels may
  ///   depend on all frames decoded earlier, so a decode that starts later may output other pixels.
  /// - Throws: ``RetrogradeError`` if the source can't be read.
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
    let isMPEG = video.caps.mediaType == "video/mpeg" && video.caps.int("mpegversion") != 4
    let rate = isMPEG && !video.isUntimed ? video.caps.fraction("framerate") : nil
    let (starts, moved) =
      rate.flatMap { FrameRate($0.numerator, $0.denominator) }.flatMap { DecodedTimes.restored(stated, times, $0) }
      .map { ($0, 0) }
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
    // If a keyframe has no frame, the decoder predicts the following frames from earlier frames. A
    // decode that starts at this keyframe would output other pixels, so give up.
    guard !zip(packets, video.packets).contains(where: { $0.isKeyframe && $0.isHidden && !$1.isHidden }) else {
      return nil
    }
    var told = video.replacing(packets, isFromStart: video.isFromStart)
    told.isTimedByDecoder = true
    self.video = told
    warnings = (moved > 0 ? [.moved(moved)] : []) + video.missing(starts, before: nil)
    Log.decode.info("\(recipe.source): its decoder was asked when its \(starts.count) frames are shown")
  }

  /// Returns corrected frame times for MPEG-1 and MPEG-2, whose packets may lack times.
  ///
  /// Decoders guess the missing times, and a guess may be later than the next known time. Each
  /// frame lasts one frame period of the video's rate, or one and a half (`repeat_first_field`,
  /// ISO/IEC 13818-2, 6.3.10).
  /// - Parameters:
  ///   - stated: time of each frame's packet, in display order; nil if the packet has no time.
  ///   - decoded: time of each frame according to the decoder.
  /// - Returns: nil if the decoder's times need no correction, or can't be corrected at this rate.
  private static func restored(
    _ stated: [ClockTime?], _ decoded: [ClockTime], _ rate: FrameRate
  ) -> [ClockTime]? {
    let agrees = FrameCollector.isAscending(decoded) && zip(stated, decoded).allSatisfy { $0 == nil || $0 == $1 }
    return agrees ? nil : between(stated, rate) ?? even(decoded, rate)
  }

  private static let rounding = ClockTime.milliseconds(2)

  private static func length(of frames: Int, _ rate: FrameRate) -> ClockTime {
    ClockTime(sampleIndex: frames * rate.denominator, rate: rate.numerator)
  }

  /// Returns frame times that include all known times; the other frames are evenly spaced between
  /// the known times. Returns nil if the known times do not fit the rate.
  private static func between(_ stated: [ClockTime?], _ rate: FrameRate) -> [ClockTime]? {
    let known = stated.indices.compactMap { frame in stated[frame].map { (frame: frame, time: $0) } }
    let pairs = zip(known, known.dropFirst())
    guard known.count > 1,
      pairs.allSatisfy({ one, other in
        let (length, least) = (other.time - one.time, DecodedTimes.length(of: other.frame - one.frame, rate))
        return length > least - rounding && length < least + least + rounding
      })
    else { return nil }
    var next = 1
    let all = stated.indices.map { frame in
      while next < known.count - 1, known[next].frame < frame { next += 1 }
      let (from, to) = (known[next - 1], known[next])
      // Before the first known time and after the last, frames follow the frame rate.
      guard (from.frame...to.frame).contains(frame) else {
        return frame < from.frame
          ? from.time - length(of: from.frame - frame, rate) : to.time + length(of: frame - to.frame, rate)
      }
      let share = (to.time - from.time).nanoseconds / Int64(to.frame - from.frame)
      return from.time + ClockTime(nanoseconds: share * Int64(frame - from.frame))
    }
    return FrameCollector.isAscending(all) ? all : nil
  }

  /// Returns evenly spaced times if the decoder's only error is that some frames have the time of
  /// the previous frame; nil otherwise.
  private static func even(_ decoded: [ClockTime], _ rate: FrameRate) -> [ClockTime]? {
    let step = length(of: 1, rate)
    let isEven = zip(decoded, decoded.dropFirst()).allSatisfy { one, other in
      one == other || abs((other - one - step).nanoseconds) < rounding.nanoseconds
    }
    guard isEven, let first = decoded.first else { return nil }
    return decoded.indices.map { first + length(of: $0, rate) }
  }
}

extension SourceIndex {
  /// Gets the frame times of the first video from its decoder if the packets have no times.
  mutating func askDecoderForTimes(_ settings: PlaybackSettings) throws {
    guard let video, video.starts == nil, let recipe,
      let store = try PacketStore.read(
        video, recipe, settings.purpose == .description ? nil : settings.resources.spoolDirectory,
        settings.cancellation),
      let told = try DecodedTimes(video, store, recipe, settings.cancellation)
    else { return }
    self.video = told.video
    warnings += told.warnings
  }
}

extension DecodingRecipe {
  /// Returns a recipe that reads the whole source, and calls `change` before the pipeline starts.
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
