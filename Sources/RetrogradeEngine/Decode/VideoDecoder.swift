import CSystemSupport
import GStreamer
import MediaTime
import Quirks
import Synchronization

/// The pipeline that decodes frames: whole files forwards, or window by window.
final class VideoDecoder: Sendable {
  /// In `gst-launch-1.0` syntax; the sample are taken from its appsink.
  let description: String
  /// The caps of the frames: raw video in system memory, or those of packets that nothing decodes.
  let caps: Caps
  /// True if the first frame's upper field comes first; nil unless the video is interlaced.
  let isTopFieldFirst: Bool?
  /// Warnings about data beside the frames' pixels that is not carried.
  private let leftOut: [Warning]
  /// Bytes of a frame in memory, padding included.
  let frameBytes: Int

  /// The caps of the first frame, as the decoder gave them.
  private let decodedCaps: Caps
  let changes: FormatChanges
  private let output: DecoderOutput
  private let source: String
  /// Whether nothing decodes the frames.
  private let isRaw: Bool
  /// Outputs packets, not frames.
  let arePackets: Bool
  /// The first sample, pulled to learn the caps; given out again by ``next()``.
  private let first: Mutex<Sample?>
  /// True once a window only came right from the keyframe before its own.
  private let startsEarlier = Mutex(false)

  /// Starts decoding at the beginning of the video.
  /// - Parameter store: gives the packets, in place of a demuxer.
  init(
    _ recipe: DecodingRecipe, _ changes: FormatChanges, for use: DecoderOutput.Use = .windows,
    from store: PacketStore? = nil, _ cancellation: Cancellation, stall: ClockTime = ClockTime(seconds: 30)
  ) throws {
    let recipe = store == nil ? recipe : recipe.ofStore ?? recipe
    self.changes = changes
    description = recipe.description
    source = recipe.source
    output = try DecoderOutput(recipe, use, from: store, stall: stall)
    isRaw = recipe.packetCaps?.mediaType == "video/x-raw"
    arePackets = recipe.largestPacket != nil
    let sample = try output.pull(cancellation)
    guard let sample, let caps = sample.caps else {
      let codec = recipe.packetCaps.map { " from its \($0.codecName) stream" } ?? ""
      throw RetrogradeError(.damagedInput, about: source, "no frame can be decoded\(codec)")
    }
    decodedCaps = caps
    self.caps = recipe.packetCaps.map { recipe.largestPacket == nil ? caps.completed(from: $0) : $0 } ?? caps
    frameBytes = max(recipe.largestPacket ?? sample.buffer.size, 1)
    isTopFieldFirst = sample.isTopFieldFirst
    leftOut =
      arePackets
      ? []
      : (sample.buffer.hasTimeCode
        ? [Warning(.detailLeftOut, "left out: the timecode, which can't run backwards in a file")] : [])
    if !arePackets { changes.noteDetails(of: sample) }
    do {
      first = Mutex(isRaw ? try sample.laidOut() : sample)
    } catch let error as GStreamerError {
      throw RetrogradeError.reading(source, error)
    }
  }

  /// True if its packets come from a ``PacketStore``.
  var readsStore: Bool { output.feed != nil }

  /// Warnings for data of frames and packets that no mirror keeps.
  func leftOut(of video: VideoIndex) -> [Warning] {
    guard !arePackets, !video.dynamicMetadata.isEmpty else { return leftOut }
    let names = video.dynamicMetadata.joined(separator: " and ")
    return leftOut + [
      Warning(.detailLeftOut, "left out: the metadata of \(names) in the video, which no decoder outputs")
    ]
  }

  /// The next frame in display order; nil at the end of the stream.
  func next(_ cancellation: Cancellation) throws -> Sample? {
    if let sample = first.withLock({ $0.take() }) { return sample }
    guard let sample = try output.pull(cancellation) else { return nil }
    // The index says that they are all alike.
    if arePackets, !isRaw { return sample }
    changes.noteDetails(of: sample)
    do {
      return try changes.fit(isRaw ? try sample.laidOut() : sample, to: decodedCaps)
    } catch let error as GStreamerError {
      throw RetrogradeError.reading(source, error)
    }
  }

  /// Goes to `time`, in stream time; ``next(_:)`` then gives the frames from there on.
  /// - Parameters:
  ///   - isKeyframe: a keyframe is shown then, and no frame that is wanted is shown before it; perhaps some come that are.
  ///   - packet: the first that is decoded, in decoding order: a keyframe, or the first of all.
  ///   - wanted: the packets that are to come.
  /// - Throws: ``Mismatch`` if the source can't be sought in, `RetrogradeError` if it could not be read.
  func start(
    at time: ClockTime, isKeyframe: Bool = false, fromPacket packet: Int, _ wanted: WindowPackets.Wanted
  ) throws {
    first.withLock { $0 = nil }
    output.feed?.begin(atPacket: packet)
    output.packets?.expect(wanted)
    Log.window.debug("\(source): seeks to \(time)")
    guard try output.seek(to: time, orKeyframeBefore: isKeyframe) else {
      Log.window.warning("\(source): can't be sought in")
      throw Mismatch()
    }
  }

  /// Whether the packets that lead to the next frame begin with those that
  /// ``start(at:isKeyframe:fromPacket:_:)`` was told of. That frame is still to be taken.
  func bringsWhatIsWanted(_ cancellation: Cancellation) throws -> Bool {
    let sample = try next(cancellation)
    first.withLock { $0 = sample }
    return sample == nil || output.packets?.haveBegun ?? true
  }

  /// Makes the demuxer find its way to `time`, which may take long the first time.
  func approach(_ time: ClockTime) {
    first.withLock { $0 = nil }
    // No more of that keyframe's group is decoded than the appsink holds.
    output.packets?.expect(nil)
    _ = try? output.seek(to: time, orKeyframeBefore: true)
  }

  /// Stops, and releases its frames. Nothing comes after.
  func close() {
    first.withLock { $0 = nil }
    output.close()
    system_release_memory()
  }

  /// A window did not come out as the index says.
  struct Mismatch: Error {}

  /// Decodes one window. Its first frames go to the spool once `budget` is reached, and not while there is room: fewer than the plan
  /// has it, or more, where the window before left less room for that reason.
  /// - Parameters:
  ///   - video: the index.
  ///   - budget: the most bytes to be held, of those that `gauge` measures.
  /// - Throws: ``Mismatch`` if the frames that come are not exactly those that the index promises.
  func decode(
    _ window: Window, of video: VideoIndex, spool: Spool?, budget: Int, gauge: MemoryGauge,
    _ cancellation: Cancellation
  ) throws -> DecodedWindow {
    let hasEarlier = window.keyframe > 0
    var way = Way(
      // If audio has to be decoded from further back, matroskademux goes as far back for an accurate seek,
      // and from there to a keyframe (`audio_lead_in_ts` in `gst_matroska_demux_handle_seek_event`): the
      // group of pictures before the window would be decoded too.
      isKeyframe: output.readsMatroska && window.keyframe == window.frames.lowerBound && window.keyframe > 0,
      isEnding: output.packets?.areWholePictures ?? false)
    if hasEarlier, startsEarlier.withLock({ $0 }) { way.startEarlier() }
    while true {
      do {
        let decoded = try decode(
          window, video, way, spool, budget: budget, gauge: gauge, cancellation)
        if way.isEarlier { startsEarlier.withLock { $0 = true } }
        return decoded
      } catch let mismatch as Mismatch {
        if losesReferences || output.packets?.differ ?? false, hasEarlier, !way.isEarlier {
          way.startEarlier()
        } else if way.isEnding, output.packets?.hasEnded ?? false {
          way.isEnding = false
        } else if way.isKeyframe {
          // Matroska's cues may lead past the keyframe.
          way.isKeyframe = false
        } else {
          throw mismatch
        }
        spool?.truncate(to: 0)
      }
    }
  }

  /// How the frames of a window, and few others, are decoded.
  private struct Way {
    /// True for a seek to the keyframe that the window begins with, and not to a time.
    var isKeyframe: Bool
    /// The packets end where those of the window do, and not with the source.
    var isEnding: Bool
    /// Decoding starts at the keyframe before the window's own: the demuxer loses bytes of the first
    /// packet, or the decoder a frame (`Quirk.avdecGapFrames`).
    var isEarlier = false

    mutating func startEarlier() {
      isKeyframe = false
      isEarlier = true
    }
  }

  /// True for a decoder that may lose frames after a seek to a keyframe (`Quirk.avdecGapFrames`).
  private var losesReferences: Bool {
    let isLibav = description.contains("avdec_h264") || description.contains("avdec_h265")
    return isLibav && Quirk.avdecGapFrames.applies
  }

  private func decode(
    _ window: Window, _ video: VideoIndex, _ way: Way, _ spool: Spool?, budget: Int,
    gauge: MemoryGauge, _ cancellation: Cancellation
  ) throws -> DecodedWindow {
    guard let starts = video.starts, let from = starts[window.frames].first,
      let to = starts[window.frames].last
    else { throw Mismatch() }
    let expected = starts[window.frames]
    let tolerance = VideoDecoder.tolerance(of: expected)
    // The first frames in display may depend on a keyframe that an edit list hides; from 0 on, that is decoded too. A decoder that
    // has just begun is sought in too: that tells whether the source can be, and matroskademux that came to the end without a seek ends
    // early after one.
    let beginning = way.isEarlier ? starts[window.keyframe - 1] : from
    let keyframe = way.isEarlier ? video.keyframe(before: window.keyframe) : window.keyframe
    var wanted = video.packets(of: window.frames, from: window.keyframe, tolerance)
    if way.isEnding { wanted.ending = Array(expected) }
    try start(
      at: video.isFromStart && window.frames.lowerBound == 0 ? min(from, .zero) : beginning,
      isKeyframe: way.isKeyframe, fromPacket: video.packetPlace(ofFrame: keyframe), wanted)
    let decoded = DecodedWindow(spool: spool, gauge: gauge)
    var times: [ClockTime] = []
    var spooled = 0
    // No stop is asked of the demuxer: several end a frame or two early, and the frames before a keyframe in display may
    // come after it in the file. What is wanted is known from the index.
    // A window of one frame is complete only when another frame or the end follows: the first frame may be the one
    // before it, clipped. Decoders give frames without durations 40 ms (`gst_video_decoder_clip_and_push_buf`).
    let isSingle = expected.count == 1
    while isSingle || times.count < expected.count || (times.last.map { $0 + tolerance < to } ?? true) {
      guard let sample = try next(cancellation), let time = sample.presentationTime else { break }
      if time + tolerance < from { continue }
      if time > to + tolerance { break }
      // All frames after a lost keyframe come, but damaged.
      if sample.buffer.isCorrupted, !way.isEarlier, window.keyframe > 0, window.keyframe < window.frames.lowerBound,
        losesReferences
      {
        throw Mismatch()
      }
      if let last = times.last, time <= last + tolerance {
        // The frame that overlaps the window's start comes clipped to it, with the window's own first time.
        try decoded.replaceLast(with: sample.buffer)
        times[times.count - 1] = time
        continue
      }
      if spool != nil, spooled < times.count, gauge.now + sample.buffer.size > budget {
        try decoded.moveToSpool(spooled)
        spooled += 1
      }
      decoded.push(sample.buffer)
      times.append(time)
    }
    let isExact =
      times.count == expected.count
      && zip(times, expected).allSatisfy { abs($0.nanoseconds - $1.nanoseconds) <= tolerance.nanoseconds }
    guard isExact else {
      Log.window.warning(
        "\(source): the window of frames \(window.frames) is not what the index says: \(times.count) of \(expected.count) frames "
          + "came, from \(times.first ?? from) to \(times.last ?? from), and not from \(from) to \(to)")
      throw Mismatch()
    }
    guard output.packets?.areComplete ?? true else {
      Log.window.warning(
        "\(source): the packets of the window of frames \(window.frames) are not those of the index")
      throw Mismatch()
    }
    Log.window.debug(
      "\(source): decoded the window of frames \(window.frames), \(spooled) of them into the spool")
    return decoded
  }

  /// How far a frame's time may be off the index: containers round.
  static func tolerance(of times: ArraySlice<ClockTime>) -> ClockTime {
    let gap = zip(times, times.dropFirst()).map { $1.nanoseconds - $0.nanoseconds }.min() ?? 3_000_000
    return ClockTime(nanoseconds: min(1_000_000, gap / 3))
  }

  /// Decodes everything from here to the end, or to `limit`, forwards; the last `held` frames stay in memory, the others
  /// go to the spool.
  /// - Parameter given: when each frame starts, where the decoder does not say.
  func decodeForward(
    before limit: ClockTime?, given: [ClockTime]?, held: Int, spool: Spool, gauge: MemoryGauge,
    _ cancellation: Cancellation
  ) throws -> (frames: FrameCollector, damage: RetrogradeError?) {
    var collector = FrameCollector(held: held, spool: spool, gauge: gauge, given: given)
    while true {
      let sample: Sample?
      do {
        sample = try next(cancellation)
      } catch let error as RetrogradeError where error.code != .inputOutput && !collector.times.isEmpty {
        return (collector, error)
      }
      // A spool that fails is no damage of the source: the frames so far are not the mirror.
      guard let sample, try collector.add(sample, before: limit) else { return (collector, nil) }
    }
  }
}
