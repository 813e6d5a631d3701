import GStreamer
import MediaTime
import RetrogradeEngine
import Synchronization

/// Counts the packets of one stream at the muxer or, without a muxer, at the element that writes
/// the file.
struct MuxedCount: Sendable {
  /// Pushed data that reached the muxer.
  struct MuxedData: Sendable {
    /// Number of frames, sample frames or cues.
    var count: Int
    /// Span from the earliest start to the latest end; nil if no data arrived.
    var span: TimeSpan?
    var warning: Warning?
    /// Caps at the muxer; nil if no data arrived.
    var caps: Caps?
    /// Caps at the encoder's input; nil without an encoder, or if no data arrived.
    var raw: Caps?
    /// Average number of packets per second; nil for fewer than three packets.
    var packetRate: Double?
  }

  /// Data that was pushed into the stream's appsrc.
  struct PushedData: Sendable {
    /// Number of frames, sample frames or cues.
    var count: Int
    /// Span from the first start to the last end, by the pushed timestamps; nil if unknown.
    var span: TimeSpan?
  }

  private let packets = PacketCount()
  /// Counter at the encoder's input; nil if this pipeline does not encode the stream.
  private let raw: PacketCount?
  private let rateChangers: [Element]
  /// True if the user's pipeline has elements that change the number of frames or samples.
  private let isMeantToDiffer: Bool

  /// Elements of GStreamer's plugins that change the number of frames or samples.
  private static let changing: Set = [
    "videorate", "audiorate", "scaletempo", "pitch", "speed", "valve", "imagefreeze", "removesilence", "deinterlace",
    "avdeinterlace", "interlace", "ivtc",
  ]

  /// - Parameters:
  ///   - source: the stream's appsrc, with everything downstream linked.
  ///   - isOfUser: true if the user wrote the pipeline. Changed counts may then be intended.
  init(after source: Element, isOfUser: Bool) {
    let downstream = source.downstream
    rateChangers = downstream.filter { $0.factoryName == "videorate" }
    isMeantToDiffer = isOfUser && downstream.contains { $0.factoryName.map(MuxedCount.changing.contains) ?? false }
    let encoder = source.entered { $0.isOfClass("Encoder") }
    raw = encoder.map { _ in PacketCount() }
    if let raw { encoder?.watchBuffers(raw.add) }
    let classes = ["Muxer", "Payloader", "Sink"]
    classes.lazy.compactMap { name in source.entered { $0.isOfClass(name) } }.first?.watchBuffers(packets.add)
  }

  /// Number of packets so far.
  var packetCount: Int { packets.total.packets }

  /// Counts the frames of `given` that reached the muxer.
  func frames(of given: PushedData) -> MuxedData { described(countedFrames(of: given)) }

  /// Counts the sample frames of `given`, at `rate`, that reached the muxer.
  func samples(of given: PushedData, rate: Int) -> MuxedData { described(countedSamples(of: given, rate: rate)) }

  /// Returns the count with the caps and the rate of the packets.
  private func described(_ reached: MuxedData) -> MuxedData {
    var reached = reached
    let passed = packets.total
    (reached.caps, reached.raw, reached.packetRate) = (passed.caps, raw?.total.caps, passed.rate)
    return reached
  }

  private func countedFrames(of given: PushedData) -> MuxedData {
    let passed = packets.total
    var reached = MuxedData(count: passed.packets, span: passed.span)
    // Take the end of the last frame from the encoder's input: without a frame rate, parsers
    // downstream invent durations.
    if let span = passed.span, let last = passed.lastStart, let raw = raw?.total, raw.lastStart == last,
      let own = raw.span
    {
      reached.span = TimeSpan(start: span.start, end: own.end)
    }
    if reached.count != given.count, !isMeantToDiffer {
      reached.warning = warning(given.count, reached.count)
      reached.warning?.span = given.missing(from: reached.span)
    }
    return reached
  }

  private func warning(_ given: Int, _ reached: Int) -> Warning {
    for element in rateChangers {
      let rate = element.staticPad("src")?.caps?.fraction("framerate")
      let name = "the encoding profile's frame rate" + (rate.map { " of \($0.numerator)/\($0.denominator) fps" } ?? "")
      let (dropped, repeated) = (element.integer("drop") ?? 0, element.integer("duplicate") ?? 0)
      if dropped > 0 {
        let more = repeated > 0 ? "; \(repeated) other frame\(repeated == 1 ? " is" : "s are") repeated" : ""
        return Warning(
          .notWritten, "left out: \(dropped) of \(given) frames, because of \(name)\(more)", count: dropped)
      }
      if repeated > 0 {
        return Warning(
          .converted, "changed: \(repeated) frame\(repeated == 1 ? " is" : "s are") repeated, because of \(name)",
          count: repeated)
      }
    }
    return MuxedCount.missing(given - reached, of: given, "frames", nil)
  }

  /// Counts sample frames at the encoder's input, since encoders pad the last packet and add
  /// priming. The count is exact if the sample rate stays the same; a resampler may change the
  /// count by up to a millisecond. If the packets are shorter in total than these sample frames,
  /// the duration of the packets counts instead.
  private func countedSamples(of pushed: PushedData, rate: Int) -> MuxedData {
    let given = pushed.count
    let packets = packets.total
    if self.raw == nil, let caps = packets.caps, !caps.mediaType.hasSuffix("/x-raw") {
      return encoded(given, packets, rate: rate)
    }
    let raw = raw?.total ?? packets
    guard let bytes = raw.caps?.bytesPerSampleFrame, let ownRate = raw.caps?.int("rate"), bytes > 0, ownRate > 0 else {
      return MuxedData(
        count: 0, span: packets.span,
        warning: given > 0 ? MuxedCount.missing(given, of: given, "samples", pushed.span) : nil)
    }
    let own = raw.bytes / bytes
    var reached = ownRate == rate ? own : Int((Double(own) * Double(rate) / Double(ownRate)).rounded())
    if ownRate != rate, abs(reached - given) <= rate / 1000 { reached = given }
    if self.raw != nil {
      let lasting = packets.span?.duration.sampleIndex(rate: rate) ?? 0
      // Allow one packet less, because timestamps are rounded. Some encoders also output a first
      // packet that begins before 0, and that is clipped to start at 0.
      let tolerance = (packets.longest.sampleIndex(rate: rate))
      if lasting + tolerance < reached { reached = lasting }
    }
    return MuxedData(
      count: reached, span: packets.span,
      warning: reached < given && !isMeantToDiffer
        ? MuxedCount.missing(given - reached, of: given, "samples", pushed.missing(from: packets.span)) : nil)
  }

  /// Counts the sample frames in packets that another pipeline encoded. The count is computed from
  /// the duration of the packets.
  private func encoded(_ given: Int, _ packets: PacketCount.Total, rate: Int) -> MuxedData {
    let lasting = (packets.span?.duration ?? .zero) + packets.longest
    let missing = max(given - lasting.sampleIndex(rate: rate), 0)
    return MuxedData(
      count: given - missing, span: packets.span,
      warning: missing > 0 ? MuxedCount.missing(missing, of: given, "samples", packets.span) : nil)
  }

  /// Counts the cues of `given` that reached the muxer.
  func cues(of given: PushedData) -> MuxedData {
    let passed = packets.total
    return MuxedData(
      count: passed.allPackets, span: passed.span,
      warning: passed.allPackets < given.count
        ? MuxedCount.missing(
          given.count - passed.allPackets, of: given.count, "subtitles", given.missing(from: passed.span)) : nil)
  }

  private static func missing(_ count: Int, of given: Int, _ what: String, _ span: TimeSpan?) -> Warning {
    count > 0
      ? Warning(
        .notWritten, "not written: \(count) of \(given) \(what) did not reach the file", count: count, span: span)
      : Warning(
        .converted, "changed: the output has \(-count) \(count == -1 ? String(what.dropLast()) : what) too many",
        count: -count, span: span)
  }
}

extension MuxedCount.PushedData {
  /// Tolerance for timestamps that the pipeline rounds, and for padding of a stream's last packet.
  private static let tolerance = ClockTime(nanoseconds: 2_000_000)

  /// Returns the range in which pushed data is missing: the range before `reached`, the range after
  /// `reached`, or the whole span if neither is certain.
  func missing(from reached: TimeSpan?) -> TimeSpan? {
    guard let span, let reached else { return span }
    let isLate = reached.start > span.start + Self.tolerance
    let isEarly = reached.end + Self.tolerance < span.end
    if isEarly, !isLate { return TimeSpan(start: max(reached.end, span.start), end: span.end) }
    if isLate, !isEarly { return TimeSpan(start: span.start, end: min(reached.start, span.end)) }
    return span
  }
}

/// Adds up the packets that pass a pad.
private final class PacketCount: Sendable {
  struct Total {
    /// Number of packets that are shown or played; packets that begin together count once.
    var packets = 0
    /// Number of packets that are shown or played; packets that begin together, like two subtitles,
    /// count separately.
    var allPackets = 0
    var bytes = 0
    /// Span of the packets, in stream time.
    var span: TimeSpan?
    /// Latest start of a packet.
    var lastStart: ClockTime?
    /// Duration of the longest packet.
    var longest = ClockTime.zero
    /// Caps of the first packet.
    var caps: Caps?
    fileprivate var last: ClockTime?
    /// PTS of the second packet.
    fileprivate var secondStart: ClockTime?

    /// Average number of packets per second, without the first packet, which may last longer than
    /// others. nil for fewer than three packets.
    var rate: Double? {
      guard packets > 2, let secondStart, let lastStart, lastStart > secondStart else { return nil }
      return Double(packets - 2) / (lastStart - secondStart).seconds
    }
  }
  private let state = Mutex(Total())

  var total: Total { state.withLock { $0 } }

  @Sendable func add(_ buffer: Buffer, _ pad: Pad) {
    let segment = pad.segment
    state.withLock { total in
      if total.caps == nil { total.caps = pad.caps }
      total.bytes += buffer.size
      // Skip codec headers, which have no time or the time of the first frame, and hidden frames of
      // VP8, which are never shown.
      guard let pts = buffer.pts, !buffer.isDecodedOnly else { return }
      let time = segment.streamTime(of: pts)
      total.allPackets += 1
      if time != total.last { total.packets += 1 }
      total.last = time
      let duration = buffer.duration ?? .zero
      total.longest = max(total.longest, duration)
      total.lastStart = max(total.lastStart ?? time, time)
      if let start = total.span?.start, time != start {
        let later = max(start, time)
        total.secondStart = time < start ? later : min(total.secondStart ?? later, later)
      }
      let known = total.span ?? TimeSpan(start: time, end: time)
      total.span = TimeSpan(start: min(known.start, time), end: max(known.end, time + duration))
    }
  }
}
