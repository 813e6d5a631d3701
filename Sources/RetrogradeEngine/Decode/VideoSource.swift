import CSystemSupport
package import GStreamer
package import MediaTime
import Synchronization

/// The video of a source, and the way to read it. If seeks are exact, windows are decoded. If seeks
/// are inexact, all frames are decoded once, forwards, and then read from a store.
package final class VideoSource: Sendable {
  package let video: VideoIndex
  let recipe: DecodingRecipe?
  private let resources: Resources
  let gauge: MemoryGauge
  /// True if the output is the source's packets, not decoded frames.
  package var arePackets: Bool { recipe?.largestPacket != nil }
  /// Caps of the output, which is decoded frames or packets.
  package let caps: Caps
  /// For interlaced video, true if a frame's top field comes first; nil if unknown.
  package let isTopFieldFirst: Bool?
  /// Description of the decoding pipeline, in `gst-launch-1.0` syntax.
  package let description: String
  /// Display time of each frame in the source.
  package let timeline: VideoTimeline
  /// Frames to output, and their display times.
  package let shown: Selection
  /// Plan for reading the whole video, or the requested range, backwards.
  package let plan: Plan
  private let found: [Warning]
  /// Recorder of format changes, shared by all decoders of the video.
  let changes: FormatChanges
  /// Store of all frames; nil if windows can be decoded from the source or from its stored packets,
  /// and for a video that is joined from several videos.
  package let store: DecodedWindow?
  /// Stored packets from which windows are decoded; nil if windows are decoded from the source.
  private let packets: Mutex<PacketStore?>
  /// Videos that this video is joined from, in order; empty for a single video.
  let parts: [VideoPart]
  private let planner: Planner
  private let idle: Mutex<VideoDecoder?>
  private let ready: Mutex<(window: Window, frames: DecodedWindow)?>

  /// Returns the memory in bytes to reserve for frames outside windows. The caller reserves at most
  /// a third of the budget. The memory is enough for six frames: two in the appsink after the
  /// decoder, two in the appsrc before the encoder, and two in additional threads of the decoder.
  /// It also covers the 20 MiB by which this program exceeds `gst-launch-1.0` (90 MiB instead of 70
  /// MiB for a second of 160x120, with GStreamer 1.22).
  private static func decoderOverhead(_ frameBytes: Int) -> Int { 6 * frameBytes + (20 << 20) }

  /// Memory budget for packets, in bytes. Packets need no decoding, so larger windows would only
  /// delay the consumer and use more memory.
  private static let packetBudget = 32 << 20

  /// Length of the end of the video that is decoded first, so that a waiting user sees the first
  /// frame sooner. Used only if the last group of pictures does not fit in memory.
  private static let watchedLength = ClockTime(seconds: 1.5)

  /// Reads the last window of the part to play, to find out whether seeks are exact enough to read
  /// the source in windows.
  /// - Parameters:
  ///   - range: range of the source to play, in stream time; nil for the whole source.
  ///   - part: part of the range to read; nil for the whole range.
  package convenience init(
    _ video: VideoIndex, _ recipe: DecodingRecipe, range: TimeSpan?, part: TimeSpan? = nil, rate: FrameRateLimit,
    resources: Resources, gauge: MemoryGauge, cancellation: Cancellation
  ) throws {
    try self.init(
      video, recipe, opened: nil, range: range, part: part, rate: rate, resources: resources, gauge: gauge,
      cancellation: cancellation)
  }

  /// - Parameters:
  ///   - opened: decoder that was made with `recipe`; nil to make a new one.
  ///   - purpose: purpose of decoding the frames.
  init(
    _ video: VideoIndex, _ recipe: DecodingRecipe, opened: VideoDecoder?, range: TimeSpan?,
    part: TimeSpan? = nil, rate: FrameRateLimit, purpose: PlaybackSettings.Purpose = .output, resources: Resources,
    gauge: MemoryGauge, cancellation: Cancellation
  ) throws {
    self.recipe = recipe
    self.resources = resources
    parts = []
    let gauge = MemoryGauge(within: gauge)
    self.gauge = gauge
    let spoolDirectory = purpose == .description ? nil : resources.spoolDirectory
    let indexed = video
    var video = video
    let mayBeReordered = video.isUntimed && video.caps.mediaType == "video/mpeg"
    var packets =
      opened == nil && video.starts != nil && (recipe.estimatesSeekPositions || mayBeReordered)
      ? try PacketStore.read(video, recipe, spoolDirectory, cancellation) : nil
    // Only the decoder knows the display order of reordered frames without times. If the packets
    // can't be stored, assume that frames are reordered.
    let isReordered = mayBeReordered && packets?.isReordered ?? true
    if !recipe.estimatesSeekPositions, !isReordered { packets = nil }
    if recipe.largestPacket == nil { try Planner.refuseHugeFrames(of: recipe.packetCaps, resources) }
    var decoder = try opened ?? VideoDecoder(recipe, FormatChanges(), from: packets, cancellation)
    changes = decoder.changes
    isTopFieldFirst = decoder.isTopFieldFirst
    description = decoder.description
    let decodedCaps = decoder.caps
    var planner = try Planner(resources, frameBytes: decoder.frameBytes)
    planner.isWatched = purpose == .watching
    if decoder.arePackets {
      planner.budget = min(planner.budget, max(VideoSource.packetBudget, planner.smallestBudget))
    } else {
      let reserved = min(VideoSource.decoderOverhead(decoder.frameBytes), planner.budget / 3)
      planner.budget = max(planner.budget - reserved, planner.smallestBudget)
    }
    self.planner = planner
    var timed: DecodedTimes?
    while !recipe.stampsWrongTimes {
      if let starts = video.starts, !isReordered || timed != nil {
        let whole = VideoTimeline(starts: starts, end: video.end(afterLast: starts))
        let frames = (part ?? range).map { whole.clipped(to: $0).frames } ?? 0..<starts.count
        let plan = planner.plan(frames: frames, keyframes: video.keyframes).map {
          purpose == .watching ? VideoSource.beginningSoon($0, starts) : $0
        }
        guard let plan, let window = plan.windows.first else { break }
        do {
          let spool = try VideoSource.spool(for: window, plan, spoolDirectory)
          let decoded = try decoder.decode(
            window, of: video, spool: spool, budget: plan.budget, gauge: gauge, cancellation)
          Log.window.info(
            "\(recipe.source): is read in windows\(packets == nil ? "" : ", from its packets"): \(plan.words)")
          self.video = video
          caps = video.rhythm.withPlausibleRate(video.namingRate(in: decodedCaps))
          timeline = whole
          shown = Selection(whole, range: range, limit: rate)
          self.plan = plan
          found = decoder.leftOut(of: video) + (timed?.warnings ?? [])
          store = nil
          self.packets = Mutex(packets)
          idle = Mutex(decoder)
          ready = Mutex((window, decoded))
          return
        } catch is VideoDecoder.Mismatch {
          changes.forget()
          decoder.close()
        }
      }
      let isStored = packets != nil
      guard timed == nil,
        let read = try packets ?? PacketStore.read(video, recipe, spoolDirectory, cancellation)
      else { break }
      packets = read
      if isStored || video.starts == nil {
        guard let told = try DecodedTimes(video, read, recipe, cancellation) else { break }
        (timed, video, packets) = (told, told.video, read.timed(by: told.video))
      }
      decoder.close()
      decoder = try VideoDecoder(recipe, changes, from: packets, cancellation)
    }
    Log.decode.warning(
      "\(recipe.source): fallback: all of it is decoded once, forwards, since "
        + (indexed.starts == nil
          ? "its packets don't say when they are shown" : "no window of it comes as the index says"))
    decoder.close()
    self.video = indexed
    caps = indexed.rhythm.withPlausibleRate(indexed.namingRate(in: decodedCaps))
    let read = try VideoSource.readForward(
      indexed, recipe, changes, before: nil, planner, spoolDirectory, gauge: gauge, cancellation)
    timeline = VideoTimeline(starts: read.starts, end: indexed.end(afterLast: read.starts))
    shown = Selection(timeline, range: range, limit: rate)
    let frames = range.map(timeline.clipped)?.frames ?? 0..<timeline.count
    guard let plan = planner.forwardPlan(frames: frames) else {
      throw RetrogradeError(.usage, "\(setting: .memory) is too small for two frames of the video")
    }
    Log.window.info("\(recipe.source): is read from the spool: \(plan.words)")
    self.plan = plan
    found = decoder.leftOut(of: indexed) + read.warnings
    store = read.window
    self.packets = Mutex(nil)
    idle = Mutex(nil)
    ready = Mutex(nil)
  }

  /// - Parameters:
  ///   - video: index that was made from the frames.
  ///   - store: all frames.
  ///   - changes: format changes recorded so far.
  init(
    _ video: VideoIndex, store: DecodedWindow, _ changes: FormatChanges, description: String, planner: Planner,
    rate: FrameRateLimit, resources: Resources,
    gauge: MemoryGauge
  ) throws {
    self.video = video
    self.resources = resources
    self.gauge = gauge
    self.planner = planner
    self.description = description
    self.store = store
    packets = Mutex(nil)
    self.changes = changes
    parts = []
    recipe = nil
    isTopFieldFirst = nil
    caps = video.caps
    let starts = video.starts ?? []
    timeline = VideoTimeline(starts: starts, end: video.end(afterLast: starts))
    shown = Selection(timeline, range: nil, limit: rate)
    guard let plan = planner.forwardPlan(frames: 0..<starts.count) else {
      throw RetrogradeError(.usage, "\(setting: .memory) is too small for two frames of the video")
    }
    self.plan = plan
    found = []
    idle = Mutex(nil)
    ready = Mutex(nil)
  }

  /// Joins several videos, one after the other.
  /// - Parameters:
  ///   - parts: one or more videos, whose frames all have the format of the first video's frames.
  ///   - range: range to play, in stream time; nil for all parts.
  ///   - resources: resources for all parts together.
  init(
    joining parts: [VideoPart], range: TimeSpan?, rate: FrameRateLimit, resources: Resources, gauge: MemoryGauge
  ) throws {
    let first = parts[0].video
    self.parts = parts
    self.resources = resources
    self.gauge = gauge
    planner = first.planner
    video = VideoIndex(parts)
    recipe = nil
    changes = FormatChanges()
    isTopFieldFirst = first.isTopFieldFirst
    let rates = Set(parts.map { $0.video.caps.fraction("framerate").map { "\($0)" } ?? "" })
    caps = rates.count == 1 ? first.caps : first.caps.setting("framerate", "(fraction)0/1")
    description = first.description
    timeline = VideoTimeline(
      starts: parts.flatMap { part in part.video.timeline.starts.map { $0 + part.offset } },
      end: parts.map { $0.video.timeline.end + $0.offset }.max() ?? .zero)
    shown = Selection(timeline, range: range, limit: rate)
    let frames = range.map(timeline.clipped)?.frames ?? 0..<timeline.count
    plan = VideoSource.plan(frames, parts)
    found = parts.flatMap { $0.inJoinedTime($0.video.warnings) }
    store = nil
    packets = Mutex(nil)
    idle = Mutex(nil)
    ready = Mutex(nil)
  }

  private static func plan(_ frames: Range<Int>, _ parts: [VideoPart]) -> Plan {
    var all = parts[0].video.plan
    all.windows = []
    for part in parts.reversed() {
      let first = part.frames.lowerBound
      let own = part.frames.clamped(to: frames)
      guard !own.isEmpty else { continue }
      let plan = part.video.plan(own.lowerBound - first..<own.upperBound - first)
      if plan.method == .forward { all.method = .forward }
      all.windows += plan.windows.map {
        Window(
          frames: $0.frames.lowerBound + first..<$0.frames.upperBound + first, keyframe: $0.keyframe + first,
          spooled: $0.spooled)
      }
    }
    return all
  }

  /// Closes the decoders, which releases their frames. The next read opens a new decoder.
  package func releaseDecoders() {
    idle.withLock { $0 = nil }
    ready.withLock { $0 = nil }
    // The next decoder's threads allocate new memory. Without this call, the process would also
    // keep the memory of the closed decoder's threads.
    system_release_memory()
  }

  /// Maximum number of bytes in the spool while the video is played.
  package var spoolBytes: Int { plan.peakSpoolBytes + packetBytes }

  /// Size in bytes of the stored packets.
  private var packetBytes: Int {
    parts.reduce(packets.withLock { $0 == nil } ? 0 : video.bytes) { $0 + $1.video.packetBytes }
  }

  /// Warnings so far; frames read later may add some.
  package var warnings: [Warning] { found + changes.warnings }

  /// Returns the plan for reading `frames` backwards.
  func plan(_ frames: Range<Int>) -> Plan {
    guard store == nil, let plan = planner.plan(frames: frames, keyframes: video.keyframes) else {
      return Plan(method: .forward, windows: [], budget: planner.budget, frameBytes: planner.frameBytes)
    }
    // If the end of the last group of pictures is already decoded, plan a separate window for this
    // end.
    guard let known = ready.withLock({ $0?.window.frames }), let first = plan.windows.first?.frames,
      known.upperBound == first.upperBound, first.lowerBound < known.lowerBound
    else { return plan }
    return plan.split(before: known.lowerBound)
  }

  private static func beginningSoon(_ plan: Plan, _ starts: [ClockTime]) -> Plan {
    guard let first = plan.windows.first, first.spooled > 0, let last = first.frames.last else { return plan }
    let from = starts[last] - watchedLength
    return plan.split(before: first.frames.first { starts[$0] > from } ?? last)
  }

  /// Returns an idle decoder, or a new one.
  func takeDecoder(_ cancellation: Cancellation) throws -> VideoDecoder {
    if let decoder = idle.withLock({ $0.take() }) { return decoder }
    guard let recipe else { throw VideoDecoder.Mismatch() }
    return try VideoDecoder(recipe, changes, from: packets.withLock { $0 }, cancellation)
  }

  /// Returns a decoder that reads packets from a store, to replace a decoder whose demuxer loses
  /// packets after a seek.
  /// - Returns: nil if `decoder` already reads from a store, or if the packets can't be stored.
  func decoderOfPackets(insteadOf decoder: VideoDecoder, _ cancellation: Cancellation) throws -> VideoDecoder? {
    guard let recipe, !decoder.readsStore else { return nil }
    decoder.close()
    let known = packets.withLock { $0 }
    guard let store = try known ?? PacketStore.read(video, recipe, resources.spoolDirectory, cancellation) else {
      return nil
    }
    packets.withLock { $0 = store }
    return try VideoDecoder(recipe, changes, from: store, cancellation)
  }

  /// Returns a decoder that outputs `frame` and all later frames. Some earlier frames may come
  /// first.
  func decoder(from frame: Int, _ cancellation: Cancellation) throws -> VideoDecoder {
    guard let recipe else { throw VideoDecoder.Mismatch() }
    let decoder = try takeDecoder(cancellation)
    if try reaches(frame, decoder, cancellation) { return decoder }
    if let other = try decoderOfPackets(insteadOf: decoder, cancellation), try reaches(frame, other, cancellation) {
      return other
    }
    Log.decode.warning("\(recipe.source): fallback: is decoded from its beginning to \(timeline.starts[frame])")
    decoder.close()
    return try VideoDecoder(recipe.ofWhole, changes, cancellation)
  }

  /// Starts a decoder at the last keyframe at or before `frame`.
  /// - Returns: true if the packets from this keyframe on are those of the index.
  private func reaches(_ frame: Int, _ decoder: VideoDecoder, _ cancellation: Cancellation) throws -> Bool {
    let start = timeline.starts[frame]
    let keyframe = video.keyframe(before: frame + 1)
    do {
      try decoder.start(
        at: frame == 0 && video.isFromStart ? min(start, .zero) : start,
        fromPacket: video.packetPlace(ofFrame: keyframe),
        video.packets(
          of: frame..<frame + 1, from: keyframe,
          VideoDecoder.tolerance(of: timeline.starts[frame..<timeline.count])))
    } catch is VideoDecoder.Mismatch {
      throw RetrogradeError(
        .damagedInput, about: recipe?.source,
        "decoding from \(start) failed, so the video can't be played forwards from there")
    }
    return try decoder.reachesExpectedPackets(cancellation)
  }

  /// Stores a decoder for reuse, or closes it.
  /// - Parameter isLast: true if nothing more will be decoded, unless a watching user seeks. If no
  ///   user is watching, the decoder is then closed, and the memory of each remaining frame is
  ///   freed after the frame is encoded. The pool of an open decoder would keep the memory of all
  ///   frames until the end.
  func recycle(_ decoder: VideoDecoder, isLast: Bool = false) {
    if isLast, !planner.isWatched { return decoder.close() }
    idle.withLock { $0 = decoder }
  }

  /// Decodes `window`. If the window was already decoded to find out how to read the source, the
  /// first call returns those frames.
  func decode(_ window: Window, _ decoder: VideoDecoder, _ cancellation: Cancellation) throws -> DecodedWindow {
    if let known = ready.withLock({ $0.take() }), known.window.frames.upperBound == window.frames.upperBound,
      known.window.frames.lowerBound <= window.frames.lowerBound
    {
      // If `window` begins later than the decoded window, only the last decoded frames are needed.
      known.frames.dropFirst(window.frames.lowerBound - known.window.frames.lowerBound)
      return known.frames
    }
    let spool = try VideoSource.spool(for: window, plan, resources.spoolDirectory)
    return try decoder.decode(
      window, of: video, spool: spool, budget: plan.budget, gauge: gauge, cancellation)
  }

  private static func spool(for window: Window, _ plan: Plan, _ directory: String?) throws -> Spool? {
    guard plan.windows.contains(where: { $0.spooled > 0 }) else { return nil }
    return try Spool(directory: directory, reserve: window.spooled * plan.frameBytes)
  }

  /// Decodes the source once, forwards, up to `boundary`.
  func readForward(
    before boundary: ClockTime?, _ cancellation: Cancellation
  ) throws -> (window: DecodedWindow, starts: [ClockTime], warnings: [Warning]) {
    guard let recipe else { throw VideoDecoder.Mismatch() }
    return try VideoSource.readForward(
      video, recipe, changes, before: boundary, planner, resources.spoolDirectory, gauge: gauge, cancellation)
  }

  private static func readForward(
    _ video: VideoIndex, _ recipe: DecodingRecipe, _ changes: FormatChanges, before boundary: ClockTime?,
    _ planner: Planner, _ spoolDirectory: String?, gauge: MemoryGauge, _ cancellation: Cancellation
  ) throws -> (window: DecodedWindow, starts: [ClockTime], warnings: [Warning]) {
    let expected = video.packets.count { !$0.isHidden }
    // Use all remaining memory; frames of another window may still occupy some.
    let held = max(1, (planner.budget - gauge.now) / planner.frameBytes)
    let excess = max(0, expected - held)
    let spool = try Spool(directory: spoolDirectory, reserve: excess * planner.frameBytes)
    let decoder = try VideoDecoder(recipe.ofWhole, changes, cancellation)
    let (collector, damage) = try decoder.decodeForward(
      before: boundary, given: recipe.isTimedByPackets ? video.starts : nil, held: held, spool: spool, gauge: gauge,
      cancellation)
    let (starts, moved) = collector.starts(stored: video.isUntimed ? video.starts : nil)
    var warnings: [Warning] = moved > 0 ? [.moved(moved)] : []
    if let damage { warnings.append(Warning(.damaged, "damaged: \(damage.message)")) }
    // If packets are interlaced fields, two of them form a frame, so no frame is missing.
    let areFields = decoder.isTopFieldFirst != nil && expected == 2 * starts.count
    warnings += areFields ? [] : video.missing(starts, before: boundary)
    return (collector.frames, starts, warnings)
  }
}

extension Warning {
  /// Returns a warning about frame times that were corrected. Each of these times was not later
  /// than the time of the previous frame.
  static func moved(_ count: Int) -> Warning {
    let what = count == 1 ? "1 frame had a time that was" : "\(count) frames had times that were"
    return Warning(.timesRepaired, "corrected: \(what) not later than the time of the previous frame", count: count)
  }
}

extension VideoIndex {
  /// Returns the caps of decoded frames. If `decoded` has no frame rate, the caps of H.264 get the
  /// rate of the index (`Quirk.h264parseTimeBase`).
  fileprivate func namingRate(in decoded: Caps) -> Caps {
    guard caps.mediaType == "video/x-h264", decoded.fraction("framerate")?.numerator == 0,
      let rate = caps.fraction("framerate")
    else { return decoded }
    return decoded.setting("framerate", "(fraction)\(rate.numerator)/\(rate.denominator)")
  }

  /// Returns warnings about indexed frames that the decoder did not output.
  func missing(_ decoded: [ClockTime], before boundary: ClockTime?) -> [Warning] {
    guard let starts else { return [] }
    let promised = starts.filter { $0 < boundary ?? ClockTime(nanoseconds: .max) }
    let near = Set(decoded.map { $0.nanoseconds / 2_000_000 })
    let lost = promised.filter { time in
      let slot = time.nanoseconds / 2_000_000
      return !near.contains(slot) && !near.contains(slot - 1) && !near.contains(slot + 1)
    }
    guard promised.count > decoded.count, let first = lost.first, let last = lost.last else { return [] }
    return [.undecodable(promised.count - decoded.count, of: starts.count, from: first, to: last)]
  }

  /// Returns the end of a video whose last frame starts at the last of `starts`.
  func end(afterLast starts: [ClockTime]) -> ClockTime {
    guard let last = starts.last else { return .zero }
    let own = last + lastDuration
    return segmentEnd.map { $0 > last ? min($0, own) : own } ?? own
  }
}
