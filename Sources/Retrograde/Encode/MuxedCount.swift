import GStreamer
import MediaTime
import RetrogradeEngine
import Synchronization

/// Counts the packets of one stream at the muxer, or, in formats without one, at the element that writes the
/// file.
struct MuxedCount: Sendable {
  /// Data that reached the muxer, of the data given.
  struct Reached: Sendable {
    /// Frames, sample frames or cues.
    var count: Int
    /// From the earliest start to the latest end; nil where nothing came.
    var span: TimeSpan?
    var warning: Warning?
    /// Caps of the data at the muxer, and at the encoder, where there is one; nil where nothing came.
    var caps: Caps?
    var raw: Caps?
    /// Packets a second, on average; nil of fewer than two.
    var packetRate: Double?
  }

  /// Data that was pushed into the stream's appsrc.
  struct Given: Sendable {
    /// Frames, sample frames or cues.
    var count: Int
    /// From the first start to the last end, by the timestamps that were given; nil where that is not known.
    var span: TimeSpan?
  }

  private let packets = PacketCount()
  /// Count at the encoder's input, for an encoded stream.
  private let raw: PacketCount?
  private let rateChangers: [Element]
  /// Whether elements that the user wrote down are there to change how much there is.
  private let isMeantToDiffer: Bool

  /// Elements of GStreamer's own plugins that change how many frames or samples there are.
  private static let changing: Set = [
    "videorate", "audiorate", "scaletempo", "pitch", "speed", "valve", "imagefreeze", "removesilence", "deinterlace",
    "avdeinterlace", "interlace", "ivtc",
  ]

  /// - Parameters:
  ///   - source: the stream's appsrc, with all that is after it linked.
  ///   - isOfUser: whether the user wrote the pipeline down: then its changes are wanted.
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

  /// How many have come so far.
  var packetCount: Int { packets.total.packets }

  /// Count of `given` frames that reached the muxer.
  func frames(of given: Given) -> Reached { described(countedFrames(of: given)) }

  /// Count of `given` sample frames at `rate` that reached the muxer.
  func samples(of given: Given, rate: Int) -> Reached { described(countedSamples(of: given, rate: rate)) }

  /// The count with the caps and the rate of the packets.
  private func described(_ reached: Reached) -> Reached {
    var reached = reached
    let passed = packets.total
    (reached.caps, reached.raw, reached.packetRate) = (passed.caps, raw?.total.caps, passed.rate)
    return reached
  }

  private func countedFrames(of given: Given) -> Reached {
    let passed = packets.total
    var reached = Reached(count: passed.packets, span: passed.span)
    // Parsers make up durations of their own where there is no frame rate: the last frame is shown as long as its encoder was told.
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
      let name = "the encoding profile's frame rate" + (rate.map { " of \($0.numerator)/\($0.denominator)" } ?? "")
      let (dropped, repeated) = (element.integer("drop") ?? 0, element.integer("duplicate") ?? 0)
      if dropped > 0 {
        let more = repeated > 0 ? ", and \(repeated) are repeated" : ""
        return Warning(.notWritten, "left out: \(dropped) of \(given) frames, by \(name)\(more)", count: dropped)
      }
      if repeated > 0 {
        return Warning(.converted, "changed: \(name) repeats frames: \(repeated)", count: repeated)
      }
    }
    return MuxedCount.missing(given - reached, of: given, "frames", nil)
  }

  /// Encoders fill their last packet up, and put some samples before the first, so that the samples they were
  /// given count: exactly where the rate stays, and else to the millisecond that a resampler may take. The
  /// packets must last as long.
  private func countedSamples(of pushed: Given, rate: Int) -> Reached {
    let given = pushed.count
    let packets = packets.total
    if self.raw == nil, let caps = packets.caps, !caps.mediaType.hasSuffix("/x-raw") {
      return encoded(given, packets, rate: rate)
    }
    let raw = raw?.total ?? packets
    guard let bytes = raw.caps?.bytesPerSampleFrame, let ownRate = raw.caps?.int("rate"), bytes > 0, ownRate > 0 else {
      return Reached(
        count: 0, span: packets.span,
        warning: given > 0 ? MuxedCount.missing(given, of: given, "samples", pushed.span) : nil)
    }
    let own = raw.bytes / bytes
    var reached = ownRate == rate ? own : Int((Double(own) * Double(rate) / Double(ownRate)).rounded())
    if ownRate != rate, abs(reached - given) <= rate / 1000 { reached = given }
    if self.raw != nil {
      let lasting = packets.span?.duration.sampleIndex(rate: rate) ?? 0
      // Times are rounded, and the first packet of some encoders begins before 0, where it is cut off.
      let tolerance = (packets.longest.sampleIndex(rate: rate))
      if lasting + tolerance < reached { reached = lasting }
    }
    return Reached(
      count: reached, span: packets.span,
      warning: reached < given && !isMeantToDiffer
        ? MuxedCount.missing(given - reached, of: given, "samples", pushed.missing(from: packets.span)) : nil)
  }

  /// Count of sample frames that were encoded elsewhere: the packets must last as long.
  private func encoded(_ given: Int, _ packets: PacketCount.Total, rate: Int) -> Reached {
    let lasting = (packets.span?.duration ?? .zero) + packets.longest
    let missing = max(given - lasting.sampleIndex(rate: rate), 0)
    return Reached(
      count: given - missing, span: packets.span,
      warning: missing > 0 ? MuxedCount.missing(missing, of: given, "samples", packets.span) : nil)
  }

  /// Count of `given` cues that reached the muxer.
  func cues(of given: Given) -> Reached {
    let passed = packets.total
    return Reached(
      count: passed.allPackets, span: passed.span,
      warning: passed.allPackets < given.count
        ? MuxedCount.missing(
          given.count - passed.allPackets, of: given.count, "subtitles", given.missing(from: passed.span)) : nil)
  }

  private static func missing(_ count: Int, of given: Int, _ what: String, _ span: TimeSpan?) -> Warning {
    count > 0
      ? Warning(
        .notWritten, "not written: \(count) of \(given) \(what) did not reach the file", count: count, span: span)
      : Warning(.converted, "changed: the file has \(-count) \(what) more than the mirror", count: -count, span: span)
  }
}

extension MuxedCount.Given {
  /// Timestamps are rounded on their way, and the last packet of a stream may be filled up.
  private static let tolerance = ClockTime(nanoseconds: 2_000_000)

  /// Part of the given data that did not come to `reached`: before it, after it, or somewhere in all of it.
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
    /// Packets that are shown or heard, each at a time of its own.
    var packets = 0
    /// All packets, also those that begin when the one before does, as two subtitles may.
    var allPackets = 0
    var bytes = 0
    /// In stream time.
    var span: TimeSpan?
    /// Start of the packet that starts last.
    var lastStart: ClockTime?
    /// How long the longest packet is.
    var longest = ClockTime.zero
    /// Caps of the first packet.
    var caps: Caps?
    fileprivate var last: ClockTime?
    /// PTS of the second packet.
    fileprivate var secondStart: ClockTime?

    /// Packets a second, on average: without the first one, which may be shown longer than others.
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
      // Codecs' headers come without a time, or with that of the first frame; VP8's hidden frames are only decoded.
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
