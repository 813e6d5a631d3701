import CSystemSupport
import Containers
import GStreamer
import MediaTime
import Quirks
import Synchronization

/// Pipeline that decodes frames: whole files forwards, or window by window.
final class VideoDecoder: Sendable {
  /// The pipeline in `gst-launch-1.0` syntax, with an appsink at its end.
  let description: String
  /// Caps of the output: frames in system memory, or undecoded packets.
  let caps: Caps
  /// True if the first frame's top field comes first; nil unless the video is interlaced.
  let isTopFieldFirst: Bool?
  /// Warnings about data, other than pixels, that the output lacks.
  private let leftOut: [Warning]
  /// Size of a frame in memory, padding included, in bytes.
  let frameBytes: Int

  /// Caps of the first frame from the decoder, before conversion.
  private let decodedCaps: Caps
  let changes: FormatChanges
  private let output: DecoderOutput
  private let source: String
  private let crop: PictureCrop?
  /// True for raw video, which needs no decoder.
  private let isRaw: Bool
  /// True if the output is packets, not frames.
  let arePackets: Bool
  /// First sample, pulled in order to learn the caps. ``next(_:)`` returns it later.
  private let first: Mutex<Sample?>
  /// True after a window could be decoded only from the keyframe before the window's own keyframe.
  /// Later windows are then decoded in the same way.
  private let startsEarlier = Mutex(false)

  /// Starts decoding at the beginning of the video.
  /// - Parameter store: store of the packets; nil if a demuxer reads them from the source.
  init(
    _ recipe: DecodingRecipe, _ changes: FormatChanges, for use: DecoderOutput.Use = .windows,
    from store: PacketStore? = nil, _ cancellation: Cancellation, stall: ClockTime = ClockTime(seconds: 30)
  ) throws {
    let recipe = store == nil ? recipe : recipe.ofStore ?? recipe
    self.changes = changes
    description = recipe.description
    source = recipe.source
    crop = recipe.crop
    output = try DecoderOutput(recipe, use, from: store, stall: stall)
    isRaw = recipe.packetCaps?.mediaType == "video/x-raw"
    arePackets = recipe.largestPacket != nil
    let sample = try output.pull(cancellation).map { try VideoDecoder.shown($0, recipe.crop, recipe.source) }
    guard let sample, let caps = sample.caps else {
      let codec = recipe.packetCaps.map { " from its \($0.codecName) stream" } ?? ""
      throw RetrogradeError(.damagedInput, about: source, "no frame can be decoded\(codec)")
    }
    decodedCaps = caps
    self.caps = recipe.packetCaps.map { recipe.largestPacket == nil ? caps.completed(from: $0) : $0 } ?? caps
    frameBytes = max(recipe.largestPacket ?? sample.buffer.size, 1)
    isTopFieldFirst = sample.isTopFieldFirst
    leftOut = !arePackets && sample.buffer.hasTimeCode ? [VideoDecoder.timecode] : []
    if !arePackets { changes.noteDetails(of: sample) }
    do {
      first = Mutex(isRaw ? try sample.withPlainLayout() : sample)
    } catch let error as GStreamerError {
      throw RetrogradeError.reading(source, error)
    }
  }

  /// True if the packets come from a ``PacketStore``.
  var readsStore: Bool { output.feed != nil }

  private static let timecode = Warning(.detailLeftOut, "left out: the timecode, which can't run backwards")

  /// Warnings about frame or packet data that reversed output can't keep.
  func leftOut(of video: VideoIndex) -> [Warning] {
    guard !arePackets else { return self.leftOut }
    // In the middle of a file, the timecode may only be the time since the file's start.
    let isTimed = video.hasTimecode && video.isFromStart
    let leftOut = (self.leftOut + (isTimed ? [VideoDecoder.timecode] : [])).unique
    guard !video.dynamicMetadata.isEmpty else { return leftOut }
    let names = video.dynamicMetadata.joined(separator: " and ")
    return leftOut + [
      Warning(.detailLeftOut, "left out: the \(names) metadata in the video, which no decoder outputs")
    ]
  }

  /// Returns the next frame in display order; nil at the end of the stream.
  func next(_ cancellation: Cancellation) throws -> Sample? {
    if let sample = first.withLock({ $0.take() }) { return sample }
    guard let pulled = try output.pull(cancellation) else { return nil }
    // Packets need no conversion, because according to the index they all have the same format.
    if arePackets, !isRaw { return pulled }
    let sample = try VideoDecoder.shown(pulled, crop, source)
    changes.noteDetails(of: sample)
    do {
      return try changes.fit(isRaw ? try sample.withPlainLayout() : sample, to: decodedCaps)
    } catch let error as GStreamerError {
      throw RetrogradeError.reading(source, error)
    }
  }

  /// Removes the hidden columns that a decoder leaves at the left edge (`Quirk.avdecLeftCrop`).
  private static func shown(_ sample: Sample, _ crop: PictureCrop?, _ source: String) throws -> Sample {
    guard let crop, let caps = sample.caps, caps.mediaType == "video/x-raw", let width = caps.int("width"),
      case let columns = crop.columnsLeft(inWidth: width), columns > 0
    else { return sample }
    do {
      return try sample.withoutFirstColumns(columns)
    } catch let error as GStreamerError {
      throw RetrogradeError.reading(source, error)
    }
  }

  /// Seeks to `time`, in stream time. Afterwards, ``next(_:)`` returns the frames from `time` on.
  /// - Parameters:
  ///   - isKeyframe: true if a keyframe is shown at `time`, and no earlier frame is wanted. Earlier
  ///     frames may nevertheless be output.
  ///   - packet: number of the first packet to decode, in decoding order: a keyframe, or the first
  ///     packet of the stream.
  ///   - wanted: packets that should enter the decoder.
  /// - Throws: ``Mismatch`` if the source is not seekable, or `RetrogradeError` if the source can't
  ///   be read.
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

  /// Decodes up to the next frame, which ``next(_:)`` then returns.
  /// - Returns: true if the decoder got the first packet expected by
  ///   ``start(at:isKeyframe:fromPacket:_:)``, and no packet that differs from the index; also true
  ///   at the end of the stream.
  func reachesExpectedPackets(_ cancellation: Cancellation) throws -> Bool {
    let sample = try next(cancellation)
    first.withLock { $0 = sample }
    return sample == nil || output.packets?.haveBegun ?? true
  }

  /// Makes the demuxer locate `time`, which may take a long time on the first call.
  func approach(_ time: ClockTime) {
    first.withLock { $0 = nil }
    // No end is needed: the decoder stops soon after the keyframe, when the appsink is full.
    output.packets?.expect(nil)
    _ = try? output.seek(to: time, orKeyframeBefore: true)
  }

  /// Stops decoding, and releases the frames. Nothing can be read afterwards.
  func close() {
    first.withLock { $0 = nil }
    output.close()
    system_release_memory()
  }

  /// Error thrown if the source is not seekable, or if frames or packets of a window differ from
  /// the index.
  struct Mismatch: Error {}

  /// Decodes one window. When `budget` is reached, the first frames of the window go to the spool.
  /// If the previous window left less room, more frames than planned go to the spool.
  /// - Parameters:
  ///   - video: index of the video.
  ///   - budget: maximum number of bytes in memory, as counted by `gauge`.
  /// - Throws: ``Mismatch`` if the frames or packets differ from the index.
  func decode(
    _ window: Window, of video: VideoIndex, spool: Spool?, budget: Int, gauge: MemoryGauge,
    _ cancellation: Cancellation
  ) throws -> DecodedWindow {
    let hasEarlier = window.keyframe > 0
    var strategy = SeekStrategy(
      // Seek to a keyframe, because an accurate seek may decode the group of pictures before the
      // window too. If an audio stream has a lead-in, matroskademux moves an accurate seek back by
      // the lead-in, and then to a keyframe (`audio_lead_in_ts` in
      // `gst_matroska_demux_handle_seek_event`).
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
          // Matroska's cues may lead to a later keyframe, so try an accurate seek.
          strategy.isKeyframe = false
        } else {
          throw mismatch
        }
        spool?.truncate(to: 0)
      }
    }
  }

  /// Strategy for a seek that decodes a window with as few other frames as possible.
  private struct SeekStrategy {
    /// True to seek to the keyframe at the start of the window, instead of an accurate seek.
    var isKeyframe: Bool
    /// True to end the stream after the window's packets, instead of at the end of the source.
    var isEnding: Bool
    /// True to start decoding at the keyframe before the window's own keyframe. Needed if the
    /// demuxer loses bytes of the first packet, or the decoder loses a frame
    /// (`Quirk.avdecGapFrames`).
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
    // Always seek. The first displayed frames may depend on a keyframe that an edit list hides, and
    // a seek to 0 also decodes that keyframe. In a new decoder, the seek tests whether the source
    // is seekable. Also, if matroskademux reaches the end before any seek, it ends too early after
    // its first seek.
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
    // Seek without a stop position. If there is a stop position, several demuxers end a frame or
    // two early. Also, frames displayed before a keyframe may follow the keyframe in the file. The
    // index shows which frames are wanted. The first output may be the frame before the window,
    // clipped, because decoders assume 40 ms for frames without durations
    // (`gst_video_decoder_clip_and_push_buf`). So for a window of one frame, wait for another frame
    // or the end.
    let isSingle = expected.count == 1
    while isSingle || times.count < expected.count || (times.last.map { $0 + tolerance < to } ?? true) {
      guard let sample = try next(cancellation), let time = sample.presentationTime else { break }
      if time + tolerance < from { continue }
      if time > to + tolerance { break }
      // If the keyframe was lost, the decoder outputs all frames, but marks them as damaged. Give
      // up, and retry from the keyframe before.
      if sample.buffer.isCorrupted, !strategy.isEarlier, window.keyframe > 0,
        window.keyframe < window.frames.lowerBound,
        losesReferences
      {
        throw Mismatch()
      }
      if let last = times.last, time <= last + tolerance {
        // The last output frame is the frame before the window, so replace it. That frame overlaps
        // the start of the window, so the decoder clipped it to the start of the window's first
        // frame.
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

  /// Returns the largest allowed difference between a frame's time and its time in the index. The
  /// times may differ because containers round them.
  static func tolerance(of times: ArraySlice<ClockTime>) -> ClockTime {
    let gap = zip(times, times.dropFirst()).map { $1.nanoseconds - $0.nanoseconds }.min() ?? 3_000_000
    return ClockTime(nanoseconds: min(1_000_000, gap / 3))
  }

  /// Decodes forwards to the end, or to `limit`. The last `held` frames stay in memory; earlier
  /// frames go to the spool.
  /// - Parameter given: frame starts to use if the decoder outputs no times; nil if it outputs
  ///   times.
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
      // `add` is outside the `do`, so that errors of the spool are thrown. They are not damage of
      // the source, and the frames so far would be incomplete.
      guard let sample, try collector.add(sample, before: limit) else { return (collector, nil) }
    }
  }
}
