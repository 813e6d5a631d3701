import CSystemSupport
import GStreamer
import MediaTime
import Quirks
import Synchronization

/// Pipeline that decodes frames: whole files forwards, or window by window.
final class VideoDecoder: Sendable {
  /// The pipeline in `gst-launch-1.0` syntax; samples are taken from its appsink.
  let description: String
  /// Caps of the frames: raw video in system memory, or those of undecoded packets.
  let caps: Caps
  /// True if the first frame's top field comes first; nil unless the video is interlaced.
  let isTopFieldFirst: Bool?
  /// Warnings about data beside the frames' pixels that is dropped.
  private let leftOut: [Warning]
  /// Size of a frame in memory, padding included, in bytes.
  let frameBytes: Int

  /// Caps of the first frame as decoded.
  private let decodedCaps: Caps
  let changes: FormatChanges
  private let output: DecoderOutput
  private let source: String
  /// True for raw video, which needs no decoder.
  private let isRaw: Bool
  /// True if it outputs packets, not frames.
  let arePackets: Bool
  /// First sample, pulled to learn the caps; ``next(_:)`` returns it again.
  private let first: Mutex<Sample?>
  /// True once a window could be decoded only from the keyframe before its own.
  private let startsEarlier = Mutex(false)

  /// Starts decoding at the beginning of the video.
  /// - Parameter store: source of the packets, in place of a demuxer.
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
        ? [Warning(.detailLeftOut, "left out: the timecode, which can't run backwards")] : [])
    if !arePackets { changes.noteDetails(of: sample) }
    do {
      first = Mutex(isRaw ? try sample.withPlainLayout() : sample)
    } catch let error as GStreamerError {
      throw RetrogradeError.reading(source, error)
    }
  }

  /// True if its packets come from a ``PacketStore``.
  var readsStore: Bool { output.feed != nil }

  /// Warnings about data of frames and packets that no mirror keeps.
  func leftOut(of video: VideoIndex) -> [Warning] {
    guard !arePackets, !video.dynamicMetadata.isEmpty else { return leftOut }
    let names = video.dynamicMetadata.joined(separator: " and ")
    return leftOut + [
      Warning(.detailLeftOut, "left out: the \(names) metadata in the video, which no decoder outputs")
    ]
  }

  /// The next frame in display order; nil at the end of the stream.
  func next(_ cancellation: Cancellation) throws -> Sample? {
    if let sample = first.withLock({ $0.take() }) { return sample }
    guard let sample = try output.pull(cancellation) else { return nil }
    // The index says that all packets have the same format.
    if arePackets, !isRaw { return sample }
    changes.noteDetails(of: sample)
    do {
      return try changes.fit(isRaw ? try sample.withPlainLayout() : sample, to: decodedCaps)
    } catch let error as GStreamerError {
      throw RetrogradeError.reading(source, error)
    }
  }

  /// Seeks to `time`, in stream time; ``next(_:)`` then returns the frames from there on.
  /// - Parameters:
  ///   - isKeyframe: true if a keyframe is shown at `time`, and no wanted frame before it. Earlier
  ///     frames may come too.
  ///   - packet: first packet to decode, in decoding order: a keyframe, or the first of all.
  ///   - wanted: expected packets.
  /// - Throws: ``Mismatch`` if the source is not seekable, `RetrogradeError` if it can't be read.
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

  /// True if the packets up to the next frame begin with those that
  /// ``start(at:isKeyframe:fromPacket:_:)`` expects. ``next(_:)`` still returns that frame.
  func reachesExpectedPackets(_ cancellation: Cancellation) throws -> Bool {
    let sample = try next(cancellation)
    first.withLock { $0 = sample }
    return sample == nil || output.packets?.haveBegun ?? true
  }

  /// Makes the demuxer locate `time`, which may take long the first time.
  func approach(_ time: ClockTime) {
    first.withLock { $0 = nil }
    // The appsink limits how much of that keyframe's group is decoded.
    output.packets?.expect(nil)
    _ = try? output.seek(to: time, orKeyframeBefore: true)
  }

  /// Stops decoding, and releases the frames. Nothing can be read afterwards.
  func close() {
    first.withLock { $0 = nil }
    output.close()
    system_release_memory()
  }

  /// A window differs from the index.
  struct Mismatch: Error {}

  /// Decodes one window. Once `budget` is reached, its first frames go to the spool. They may be
  /// fewer than planned, or more if the window before left less room.
  /// - Parameters:
  ///   - video: the index.
  ///   - budget: most bytes to hold, as counted by `gauge`.
  /// - Throws: ``Mismatch`` if the frames are not exactly those of the index.
  func decode(
    _ window: Window, of video: VideoIndex, spool: Spool?, budget: Int, gauge: MemoryGauge,
    _ cancellation: Cancellation
  ) throws -> DecodedWindow {
    let hasEarlier = window.keyframe > 0
    var strategy = SeekStrategy(
      // If audio has to be decoded from further back, matroskademux moves an accurate seek as far
      // back, and then to a keyframe (`audio_lead_in_ts` in
      // `gst_matroska_demux_handle_seek_event`). The group of pictures before the window would be
      // decoded too.
      isKeyframe: output.readsMatroska && window.keyframe == window.frames.lowerBound && window.keyframe > 0,
      isEnding: output.packets?.areWholePictures ?? false)
    if hasEarlier, startsEarlier.withLock({ $0 }) { strategy.startEarlier() }
    while true {
      do {
        let decoded = try decode(
          window, video, strategy, spool, budget: budget, gauge: gauge, cancellation)
        if strategy.isEarlier { startsEarlier.withLock { $0 = true } }
        return decoded
      } catch let mismatch as Mismatch {
        if losesReferences || output.packets?.differ ?? false, hasEarlier, !strategy.isEarlier {
          strategy.startEarlier()
        } else if strategy.isEnding, output.packets?.hasEnded ?? false {
          strategy.isEnding = false
        } else if strategy.isKeyframe {
          // Matroska's cues may lead past the keyframe.
          strategy.isKeyframe = false
        } else {
          throw mismatch
        }
        spool?.truncate(to: 0)
      }
    }
  }

  /// Strategy for decoding a window with few other frames.
  private struct SeekStrategy {
    /// Seeks to the keyframe at the start of the window, not to a time.
    var isKeyframe: Bool
    /// Ends the packets with those of the window, not with the source.
    var isEnding: Bool
    /// Starts decoding at the keyframe before the window's own. Used if the demuxer loses bytes of
    /// the first packet, or the decoder loses a frame (`Quirk.avdecGapFrames`).
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
    _ window: Window, _ video: VideoIndex, _ strategy: SeekStrategy, _ spool: Spool?, budget: Int,
    gauge: MemoryGauge, _ cancellation: Cancellation
  ) throws -> DecodedWindow {
    guard let starts = video.starts, let from = starts[window.frames].first,
      let to = starts[window.frames].last
    else { throw Mismatch() }
    let expected = starts[window.frames]
    let tolerance = VideoDecoder.tolerance(of: expected)
    // The first displayed frames may depend on a keyframe that an edit list hides; a seek to 0
    // decodes that too. A new decoder also seeks: this tests whether the source is seekable. And if
    // matroskademux has reached the end without a seek, it ends early after one.
    let beginning = strategy.isEarlier ? starts[window.keyframe - 1] : from
    let keyframe = strategy.isEarlier ? video.keyframe(before: window.keyframe) : window.keyframe
    var wanted = video.packets(of: window.frames, from: window.keyframe, tolerance)
    if strategy.isEnding { wanted.ending = Array(expected) }
    try start(
      at: video.isFromStart && window.frames.lowerBound == 0 ? min(from, .zero) : beginning,
      isKeyframe: strategy.isKeyframe, fromPacket: video.packetPlace(ofFrame: keyframe), wanted)
    let decoded = DecodedWindow(spool: spool, gauge: gauge)
    var times: [ClockTime] = []
    var spooled = 0
    // The demuxer gets no stop position: several end a frame or two early, and frames displayed
    // before a keyframe may come after it in the file. The index tells which frames are wanted. A
    // window of one frame is complete only when another frame or the end follows: the first frame
    // may be the one before it, clipped. Decoders give frames without durations 40 ms
    // (`gst_video_decoder_clip_and_push_buf`).
    let isSingle = expected.count == 1
    while isSingle || times.count < expected.count || (times.last.map { $0 + tolerance < to } ?? true) {
      guard let sample = try next(cancellation), let time = sample.presentationTime else { break }
      if time + tolerance < from { continue }
      if time > to + tolerance { break }
      // After a lost keyframe all frames come, but damaged.
      if sample.buffer.isCorrupted, !strategy.isEarlier, window.keyframe > 0,
        window.keyframe < window.frames.lowerBound,
        losesReferences
      {
        throw Mismatch()
      }
      if let last = times.last, time <= last + tolerance {
        // The frame that overlaps the window's start comes clipped, with the window's own first
        // time.
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

  /// Largest difference between a frame's time and the index, since containers round times.
  static func tolerance(of times: ArraySlice<ClockTime>) -> ClockTime {
    let gap = zip(times, times.dropFirst()).map { $1.nanoseconds - $0.nanoseconds }.min() ?? 3_000_000
    return ClockTime(nanoseconds: min(1_000_000, gap / 3))
  }

  /// Decodes forwards to the end, or to `limit`. The last `held` frames stay in memory, the others
  /// go to the spool.
  /// - Parameter given: frame starts, if the decoder outputs none.
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
      // A spool failure is not damage of the source: the frames so far are not the whole result.
      guard let sample, try collector.add(sample, before: limit) else { return (collector, nil) }
    }
  }
}
