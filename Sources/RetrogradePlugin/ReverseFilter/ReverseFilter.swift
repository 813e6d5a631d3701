import CGStreamer
import GStreamer
import RetrogradeEngine
import Synchronization

/// What videoreverse and audioreverse share: a filter that gives out at the end, last first, what came in since the
/// segment began.
///
/// Everything that streams happens under the sink pad's stream lock, as GStreamer's design document part-MT-refcounting
/// has it; ``Shared`` is what other threads touch too.
final class ReverseFilter: @unchecked Sendable {
  /// What one kind of media has of its own.
  struct Kind: Sendable {
    /// The caps of what is given out backwards.
    var mirroredCaps: @Sendable (Caps) -> Caps
    /// How long a buffer is by what it holds, where its caps tell.
    var duration: @Sendable (Buffer, Caps) -> ClockTime?
    /// The buffer as it is given out backwards.
    var mirrored: @Sendable (_ buffer: Buffer, _ caps: Caps, ClockTime?, ClockTime?) throws -> Buffer
    /// Whether buffers that follow each other may become one.
    var isMergeable: @Sendable (Caps) -> Bool
    /// Whether the last item is left out at the turn of a ping-pong.
    var dropsLast: Bool
  }

  struct Settings: Sendable {
    var memoryBudget = UInt64(512 << 20)
    var spoolDirectory: String?
    var isPingPong = false
    var turnDuration = ClockTime.zero
  }

  private struct Shared {
    var settings = Settings()
    /// Of what goes out, in stream time.
    var position: ClockTime?
    /// A seek that was sent upstream, and where in the mirror it goes.
    var seek: (number: UInt32, time: ClockTime)?
  }

  let element: UnsafeMutablePointer<GstElement>
  private let kind: Kind
  private let shared = Mutex(Shared())
  private let log: DebugLog
  private let sink: UnsafeMutablePointer<GstPad>
  private let source: UnsafeMutablePointer<GstPad>

  // Under the stream lock.
  private var held: HeldMedia?
  private var caps: Caps?
  private var sentCaps: Caps?
  private var segment = GstSegment()
  private var segmentNumber: UInt32 = 0
  private var isSegmentSent = false
  private var isFirst = true
  /// Events that belong after the segment, which is sent with the first buffer.
  private var waiting: [UnsafeMutablePointer<GstEvent>] = []

  var settings: Settings {
    get { shared.withLock { $0.settings } }
    set { shared.withLock { $0.settings = newValue } }
  }

  /// - Parameter element: whose class has the pad templates `sink` and `src`.
  init(_ element: UnsafeMutablePointer<GstElement>, _ kind: Kind, _ log: DebugLog) {
    self.element = element
    self.kind = kind
    self.log = log
    func pad(_ name: String) -> UnsafeMutablePointer<GstPad> {
      gst_pad_new_from_template(gst_element_get_pad_template(element, name), name)
    }
    sink = pad("sink")
    source = pad("src")
    gst_segment_init(&segment, GST_FORMAT_UNDEFINED)
    connect()
  }

  /// The pads call this object, which lives as long as their element does.
  private func connect() {
    let me = Unmanaged.passUnretained(self).toOpaque()
    for pad in [sink, source] {
      gst_pad_set_element_private(pad, me)
      // GST_PAD_SET_PROXY_CAPS
      pad.asObject.pointee.flags |= GST_PAD_FLAG_PROXY_CAPS.rawValue
    }
    gst_pad_set_chain_function_full(
      sink, { pad, _, buffer in ReverseFilter.of(pad)?.chain(buffer) ?? GST_FLOW_ERROR }, nil, nil)
    gst_pad_set_event_function_full(
      sink, { pad, _, event in ReverseFilter.of(pad)?.sinkEvent(event) ?? 0 }, nil, nil)
    gst_pad_set_query_function_full(
      sink, { pad, _, query in ReverseFilter.of(pad)?.sinkQuery(query) ?? 0 }, nil, nil)
    gst_pad_set_event_function_full(
      source, { pad, _, event in ReverseFilter.of(pad)?.sourceEvent(event) ?? 0 }, nil, nil)
    gst_pad_set_query_function_full(
      source, { pad, _, query in ReverseFilter.of(pad)?.sourceQuery(query) ?? 0 }, nil, nil)
    gst_element_add_pad(element, sink)
    gst_element_add_pad(element, source)
  }

  private static func of(_ pad: UnsafeMutablePointer<GstPad>?) -> ReverseFilter? {
    pad.flatMap { gst_pad_get_element_private($0) }.map {
      Unmanaged<ReverseFilter>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// After READY nothing of the last run is left.
  func changeState(_ transition: GstStateChange) -> GstStateChangeReturn {
    let result = ElementType.parentChangeState(element, transition)
    if transition == GST_STATE_CHANGE_PAUSED_TO_READY { reset() }
    return result
  }

  private func reset() {
    held = nil
    dropWaiting()
    caps = nil
    sentCaps = nil
    isSegmentSent = false
    isFirst = true
    gst_segment_init(&segment, GST_FORMAT_UNDEFINED)
    shared.withLock {
      $0.position = nil
      $0.seek = nil
    }
  }
}

// MARK: - What comes in

extension ReverseFilter {
  private func chain(_ raw: UnsafeMutablePointer<GstBuffer>?) -> GstFlowReturn {
    guard let raw else { return GST_FLOW_ERROR }
    let buffer = Buffer(adopting: raw)
    guard let caps else { return GST_FLOW_NOT_NEGOTIATED }
    do {
      let start = segment.format == GST_FORMAT_TIME ? buffer.pts : nil
      let end = start.flatMap { start in
        (buffer.duration ?? kind.duration(buffer, caps)).map { start + $0 }
      }
      if let stop = ClockTime(raw: UInt(segment.stop)), let start, start >= stop { return GST_FLOW_EOS }
      let held = try ready()
      // A frame is shown until the next one starts.
      if let start, let last = held.items.last, let before = last.start, before <= start, kind.dropsLast {
        held.endLast(at: start)
      }
      let isPingPong = settings.isPingPong
      // Buffers of a pool with a fixed number of them (a camera's) would run out if they were held.
      let own = buffer.isOfBoundedPool ? buffer.deepCopy() : buffer
      if !kind.isMergeable(caps) || !held.extendLast(with: own, start: start, end: end) {
        try held.add(own, start: start, end: end)
      }
      guard isPingPong else { return GST_FLOW_OK }
      startOutput(caps)
      return push(buffer.shallowCopy())
    } catch {
      fail(error)
      return GST_FLOW_ERROR
    }
  }

  private func ready() throws -> HeldMedia {
    if let held { return held }
    let settings = settings
    let held = try HeldMedia(
      budget: Int(clamping: settings.memoryBudget),
      spoolDirectory: settings.spoolDirectory ?? ReverseOptions.temporaryDirectory)
    if let caps { held.setCaps(caps) }
    self.held = held
    return held
  }

  private func fail(_ error: any Error) {
    let text = (error as? RetrogradeError)?.message ?? "\(error)"
    postError(
      element, gst_resource_error_quark(), Int32(GST_RESOURCE_ERROR_WRITE.rawValue), text, debug: "\(error)")
  }

  private func sinkEvent(_ raw: UnsafeMutablePointer<GstEvent>?) -> gboolean {
    guard let event = raw else { return 0 }
    switch event.pointee.type {
    case GST_EVENT_FLUSH_STOP:
      held = nil
      dropWaiting()
      isSegmentSent = false
      isFirst = true
      gst_segment_init(&segment, GST_FORMAT_UNDEFINED)
      return gst_pad_push_event(source, event)
    case GST_EVENT_STREAM_START:
      drain()
      sentCaps = nil
      return gst_pad_push_event(source, event)
    case GST_EVENT_CAPS:
      defer { release(event) }
      var new: UnsafeMutablePointer<GstCaps>?
      gst_event_parse_caps(event, &new)
      guard let new else { return 0 }
      let caps = Caps(retaining: new)
      self.caps = caps
      held?.setCaps(caps)
      return 1
    case GST_EVENT_SEGMENT:
      drain()
      defer { release(event) }
      gst_event_copy_segment(event, &segment)
      segmentNumber = gst_event_get_seqnum(event)
      isSegmentSent = false
      return 1
    case GST_EVENT_GAP:
      defer { release(event) }
      return gap(event)
    case GST_EVENT_EOS, GST_EVENT_SEGMENT_DONE:
      drain()
      if !isSegmentSent, segment.format != GST_FORMAT_UNDEFINED {
        if let caps { startOutput(kind.mirroredCaps(caps)) } else { sendSegment(end: nil) }
      }
      return gst_pad_push_event(source, event)
    case _
    where !isSegmentSent
      && gst_event_type_get_flags(event.pointee.type).rawValue & GST_EVENT_TYPE_SERIALIZED.rawValue != 0:
      waiting.append(event)
      return 1
    default:
      return gst_pad_event_default(sink, element.asObject, event)
    }
  }

  private func gap(_ event: UnsafeMutablePointer<GstEvent>) -> gboolean {
    var start: GstClockTime = 0
    var duration: GstClockTime = 0
    gst_event_parse_gap(event, &start, &duration)
    guard let begin = ClockTime(raw: UInt(start)), let held = try? ready() else { return 1 }
    let end = begin + (ClockTime(raw: UInt(duration)) ?? .zero)
    if kind.dropsLast, let last = held.items.last, last.end == nil { held.endLast(at: begin) }
    held.addGap(start: begin, end: end)
    guard settings.isPingPong, isSegmentSent else { return 1 }
    return gst_pad_push_event(source, gst_event_new_gap(start, duration))
  }

  private func sinkQuery(_ query: UnsafeMutablePointer<GstQuery>?) -> gboolean {
    guard let query else { return 0 }
    if query.pointee.type == GST_QUERY_ALLOCATION {
      // Downstream's pool is not for buffers that are held here; any layout of planes will do.
      gst_query_add_allocation_meta(query, gst_video_meta_api_get_type(), nil)
      return 1
    }
    return gst_pad_query_default(sink, element.asObject, query)
  }
}

// MARK: - What goes out

extension ReverseFilter {
  /// Sends what must precede the first buffer, and caps wherever they change.
  private func startOutput(_ caps: Caps, end: ClockTime? = nil) {
    if sentCaps.map({ !$0.isEqual(caps) }) ?? true {
      sentCaps = caps
      let event = gst_event_new_caps(caps.raw)
      guard gst_pad_push_event(source, event) != 0 || gst_pad_is_linked(source) == 0 else {
        log.write(GST_LEVEL_WARNING, element, "downstream does not take \(caps.description)")
        return
      }
    }
    if !isSegmentSent { sendSegment(end: end) }
  }

  /// - Parameter end: where what is given out backwards ends, in the segment's time.
  private func sendSegment(end: ClockTime?) {
    var out = segment
    let seek = shared.withLock { shared in
      defer { if shared.seek?.number == segmentNumber { shared.seek = nil } }
      return shared.seek?.number == segmentNumber ? shared.seek : nil
    }
    if segment.format == GST_FORMAT_TIME {
      if let seek { out.time = guint64(seek.time.raw) }
      if settings.isPingPong { out.stop = guint64(noTime) }
      // A live source goes on while it is recorded: what comes out afterwards is due from then on.
      if !settings.isPingPong, let end, isLive { out.base += guint64((end - start).raw) }
    }
    if let event = gst_event_new_segment(&out) {
      gst_event_set_seqnum(event, segmentNumber)
      gst_pad_push_event(source, event)
    }
    isSegmentSent = true
    let events = waiting
    waiting = []
    for event in events { gst_pad_push_event(source, event) }
  }

  private func dropWaiting() {
    waiting.forEach(release)
    waiting = []
  }

  private var start: ClockTime { ClockTime(raw: UInt(segment.start)) ?? .zero }

  private var isLive: Bool {
    guard let query = gst_query_new_latency() else { return false }
    defer { gst_mini_object_unref(query.asMiniObject) }
    guard gst_pad_peer_query(sink, query) != 0 else { return false }
    var live: gboolean = 0
    gst_query_parse_latency(query, &live, nil, nil)
    return live != 0
  }

  /// Where the presentation ends that is turned round, in the segment's time: streams of one file that end at different
  /// times must be turned round one and the same point, or they lose their sync.
  private func end(of held: HeldMedia) -> ClockTime {
    let own = held.items.compactMap { $0.end ?? $0.start }.max() ?? start
    if let stop = ClockTime(raw: UInt(segment.stop)) { return stop }
    var duration: gint64 = 0
    guard gst_pad_peer_query_duration(sink, GST_FORMAT_TIME, &duration) != 0, duration > 0 else { return own }
    let whole = start + ClockTime(nanoseconds: Int64(duration)) - (ClockTime(raw: UInt(segment.time)) ?? .zero)
    return max(own, whole)
  }

  /// Gives out, last first, everything that is held.
  private func drain() {
    guard let held, !held.items.isEmpty else { return }
    self.held = nil
    do {
      let flow = try segment.format == GST_FORMAT_TIME ? drain(held) : drainUntimed(held)
      log.write(GST_LEVEL_DEBUG, element, "drained: \(String(cString: gst_flow_get_name(flow)))")
      if flow.rawValue <= GST_FLOW_NOT_NEGOTIATED.rawValue || flow == GST_FLOW_NOT_LINKED {
        postFlowError(element, flow)
      }
    } catch {
      fail(error)
    }
  }

  private func drain(_ held: HeldMedia) throws -> GstFlowReturn {
    let isPingPong = settings.isPingPong
    let end = end(of: held)
    // Where the mirror of `time` lies: at the segment's start what was at its end; after the forward half, what was
    // before the turn.
    var turn = end
    var origin = start
    var next: ClockTime?
    if isPingPong {
      origin = end
      let last = held.items.last
      let frame = (last?.end ?? end) - (last?.start ?? end)
      turn = end - (kind.dropsLast ? frame : settings.turnDuration)
      if kind.dropsLast { _ = try held.takeLast() }
    } else if let last = held.items.last, !last.isGap, kind.dropsLast {
      held.endLast(at: max(end, last.end ?? end))
    }
    let total = held.items.count
    isFirst = true
    while let (item, buffer) = try held.takeLast() {
      let until = min(item.end ?? next ?? turn, turn)
      next = item.start ?? next
      if item.start == nil, let buffer {
        startOutput(kind.mirroredCaps(held.caps[item.caps]), end: end)
        let flow = push(try kind.mirrored(buffer, held.caps[item.caps], nil, nil))
        if flow != GST_FLOW_OK { return flow }
      }
      guard let from = item.start, from < until else { continue }
      let place = TimeSpan(start: origin + (turn - until), end: origin + (turn - from))
      startOutput(kind.mirroredCaps(held.caps[item.caps]), end: end)
      if isFirst, place.start > origin || (isPingPong == false && buffer == nil) {
        gst_pad_push_event(
          source, gst_event_new_gap(GstClockTime(origin.raw), GstClockTime((place.start - origin).raw)))
      }
      guard let buffer else {
        gst_pad_push_event(
          source, gst_event_new_gap(GstClockTime(place.start.raw), GstClockTime((place.end - place.start).raw)))
        continue
      }
      let caps = held.caps[item.caps]
      var whole = buffer
      if let end = item.end, until < end { whole = trimmed(buffer, caps, from: from, to: until) }
      let flow = push(try kind.mirrored(whole, caps, place.start, place.end - place.start))
      if flow != GST_FLOW_OK { return flow }
      if (total - held.items.count) % 64 == 0 {
        postMessage(
          element,
          "retrograde-progress, stage=(string)reversing, done=(guint64)\(total - held.items.count), total=(guint64)\(total)"
        )
      }
    }
    return GST_FLOW_OK
  }

  /// The part of a buffer of sound that is heard before `to`.
  private func trimmed(_ buffer: Buffer, _ caps: Caps, from: ClockTime, to: ClockTime) -> Buffer {
    guard !kind.dropsLast, let rate = caps.int("rate") else { return buffer }
    return buffer.prefix(sampleFrames: (to - from).sampleIndex(rate: rate), of: caps)
  }

  /// Buffers without times, such as those of a plain file of frames: only their order is turned.
  private func drainUntimed(_ held: HeldMedia) throws -> GstFlowReturn {
    if settings.isPingPong, kind.dropsLast { _ = try held.takeLast() }
    while let (item, buffer) = try held.takeLast() {
      guard let buffer else { continue }
      let caps = held.caps[item.caps]
      startOutput(kind.mirroredCaps(caps))
      let flow = push(try kind.mirrored(buffer, caps, nil, nil))
      if flow != GST_FLOW_OK { return flow }
    }
    return GST_FLOW_OK
  }

  private func push(_ buffer: Buffer) -> GstFlowReturn {
    if isFirst {
      buffer.markDiscontinuous()
      isFirst = false
    }
    if let pts = buffer.pts, segment.format == GST_FORMAT_TIME {
      shared.withLock { $0.position = pts - start + (ClockTime(raw: UInt(segment.time)) ?? .zero) }
    }
    return gst_pad_push(source, buffer.retained())
  }
}

// MARK: - What comes from downstream

extension ReverseFilter {
  private func sourceEvent(_ raw: UnsafeMutablePointer<GstEvent>?) -> gboolean {
    guard let event = raw else { return 0 }
    switch event.pointee.type {
    case GST_EVENT_QOS:
      // Being late now says nothing of what upstream should drop: that was, or is to be, shown at another time.
      release(event)
      return 1
    case GST_EVENT_SEEK:
      defer { release(event) }
      return seek(event)
    default:
      return gst_pad_event_default(source, element.asObject, event)
    }
  }

  /// A place in the mirror is a place in the source, counted from its end.
  private func seek(_ event: UnsafeMutablePointer<GstEvent>) -> gboolean {
    var rate = 0.0
    var format = GST_FORMAT_UNDEFINED
    var flags = GstSeekFlags(0)
    var (startType, stopType) = (GST_SEEK_TYPE_NONE, GST_SEEK_TYPE_NONE)
    var (from, to): (gint64, gint64) = (0, -1)
    gst_event_parse_seek(event, &rate, &format, &flags, &startType, &from, &stopType, &to)
    var length: gint64 = 0
    guard rate > 0, format == GST_FORMAT_TIME,
      gst_pad_peer_query_duration(sink, GST_FORMAT_TIME, &length) != 0, length > 0
    else { return 0 }
    let isPingPong = settings.isPingPong
    let begin = startType == GST_SEEK_TYPE_SET ? from : 0
    let end = stopType == GST_SEEK_TYPE_SET && to >= 0 ? to : length
    // Of a ping-pong, the forward half has to come before there is another.
    guard begin >= 0, begin < min(end, length), !isPingPong || begin == 0 && end >= length else { return 0 }
    let exact = GstSeekFlags(
      (flags.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue) & ~GST_SEEK_FLAG_KEY_UNIT.rawValue)
    guard
      let mirrored = gst_event_new_seek(
        rate, GST_FORMAT_TIME, exact, GST_SEEK_TYPE_SET, max(0, length - end), GST_SEEK_TYPE_SET, length - begin)
    else { return 0 }
    let number = gst_event_get_seqnum(event)
    gst_event_set_seqnum(mirrored, number)
    if !isPingPong { shared.withLock { $0.seek = (number, ClockTime(nanoseconds: Int64(begin))) } }
    return gst_pad_push_event(sink, mirrored)
  }

  private func sourceQuery(_ query: UnsafeMutablePointer<GstQuery>?) -> gboolean {
    guard let query else { return 0 }
    switch query.pointee.type {
    case GST_QUERY_POSITION:
      var format = GST_FORMAT_UNDEFINED
      gst_query_parse_position(query, &format, nil)
      guard format == GST_FORMAT_TIME, let position = shared.withLock({ $0.position }) else { return 0 }
      gst_query_set_position(query, GST_FORMAT_TIME, gint64(position.nanoseconds))
      return 1
    case GST_QUERY_DURATION where settings.isPingPong:
      var format = GST_FORMAT_UNDEFINED
      gst_query_parse_duration(query, &format, nil)
      var length: gint64 = 0
      guard gst_pad_peer_query_duration(sink, format, &length) != 0, length > 0 else { return 0 }
      gst_query_set_duration(query, format, length * 2)
      return 1
    default:
      return gst_pad_query_default(source, element.asObject, query)
    }
  }
}
