import CGStreamer
import GStreamer
import MediaTime
import RetrogradeEngine

/// Input: buffers and events from upstream.
extension ReverseFilter {
  func chain(_ raw: UnsafeMutablePointer<GstBuffer>?) -> GstFlowReturn {
    guard let raw else { return GST_FLOW_ERROR }
    let given = Buffer(adopting: raw)
    if isRefused { return GST_FLOW_ERROR }
    guard let caps else { return GST_FLOW_NOT_NEGOTIATED }
    do {
      let buffer = isElsewhere ? try given.inSystemMemory(caps) : given
      let start = segment.format == GST_FORMAT_TIME ? buffer.pts : nil
      let end = start.flatMap { start in
        (buffer.duration ?? kind.duration(buffer, caps)).map { start + $0 }
      }
      if let stop = ClockTime(raw: UInt(segment.stop)), let start, start >= stop { return GST_FLOW_EOS }
      let held = try ready()
      // A frame lasts until the next frame starts.
      if let start, let last = held.items.last, let before = last.start, before <= start, kind.dropsLast {
        held.endLast(at: start)
      }
      let isPingPong = settings.isPingPong
      // Keeping buffers of a limited pool (such as a camera's) would exhaust the pool, so copy
      // them.
      let own = buffer.isOfBoundedPool ? buffer.deepCopy() : buffer
      if !kind.isMergeable(caps) || !held.extendLast(with: own, start: start, end: end) {
        try held.add(own, start: start, end: end)
      }
      guard isPingPong else { return GST_FLOW_OK }
      startOutput(caps)
      return try push(buffer.shallowCopy(), caps)
    } catch {
      fail(error)
      return GST_FLOW_ERROR
    }
  }

  func ready() throws -> BufferedMedia {
    if let held { return held }
    let settings = settings
    let held = try BufferedMedia(
      budget: Int(clamping: settings.memoryBudget),
      spoolDirectory: settings.spoolDirectory ?? Resources.temporaryDirectory)
    if let caps { held.setCaps(caps) }
    self.held = held
    return held
  }

  func fail(_ error: any Error) {
    let text = (error as? RetrogradeError)?.message.inProperties ?? "\(error)"
    postError(
      element, gst_resource_error_quark(), Int32(GST_RESOURCE_ERROR_WRITE.rawValue), text, debug: "\(error)")
  }

  func sinkEvent(_ raw: UnsafeMutablePointer<GstEvent>?) -> gboolean {
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
      return gst_pad_push_event(source, event)
    case GST_EVENT_CAPS:
      defer { release(event) }
      var new: UnsafeMutablePointer<GstCaps>?
      gst_event_parse_caps(event, &new)
      guard let new else { return 0 }
      let given = Caps(retaining: new)
      let caps = kind.isDownloaded ? given.inSystemMemory : given
      isElsewhere = !caps.isEqual(given)
      self.caps = caps
      held?.setCaps(caps)
      let turn = kind.turn(caps, settings)
      shared.withLock { $0.turn = turn }
      return 1
    case GST_EVENT_SEGMENT:
      drain()
      defer { release(event) }
      gst_event_copy_segment(event, &segment)
      guard segment.rate > 0 else {
        postError(
          element, gst_stream_error_quark(), Int32(GST_STREAM_ERROR_FORMAT.rawValue),
          "A stream that already plays backwards can't be reversed: seek with a rate above 0.",
          debug: "segment with rate \(segment.rate)")
        gst_segment_init(&segment, GST_FORMAT_UNDEFINED)
        isRefused = true
        return 0
      }
      isRefused = false
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
      return gst_pad_push_event(source, numbered(event))
    case _
    where !isSegmentSent
      && gst_event_type_get_flags(event.pointee.type).rawValue & GST_EVENT_TYPE_SERIALIZED.rawValue != 0:
      waiting.append(event)
      return 1
    default:
      return gst_pad_event_default(sink, element.asObject, event)
    }
  }

  /// Returns the EOS or SEGMENT_DONE event with the seqnum of the current GStreamer segment,
  /// because not every demuxer sets this seqnum.
  func numbered(_ event: UnsafeMutablePointer<GstEvent>) -> UnsafeMutablePointer<GstEvent> {
    guard segment.format != GST_FORMAT_UNDEFINED, gst_event_get_seqnum(event) != segmentNumber,
      let own = gst_mini_object_make_writable(event.asMiniObject)
    else { return event }
    let writable = UnsafeMutableRawPointer(own).assumingMemoryBound(to: GstEvent.self)
    gst_event_set_seqnum(writable, segmentNumber)
    return writable
  }

  func gap(_ event: UnsafeMutablePointer<GstEvent>) -> gboolean {
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

  func sinkQuery(_ query: UnsafeMutablePointer<GstQuery>?) -> gboolean {
    guard let query else { return 0 }
    switch query.pointee.type {
    case GST_QUERY_ALLOCATION:
      // Do not offer downstream's buffer pool, because this element keeps buffers. Any memory
      // layout is accepted.
      var caps: UnsafeMutablePointer<GstCaps>?
      gst_query_parse_allocation(query, &caps, nil)
      if let size = caps.flatMap({ Caps(retaining: $0).frameSize }) {
        // At least two buffers: one is kept while the next is filled. No maximum, because most
        // buffers are kept for long. No pool for audio, whose buffers have no fixed size.
        gst_query_add_allocation_pool(query, nil, guint(clamping: size), 2, 0)
      }
      gst_query_add_allocation_meta(query, kind.layoutMeta(), nil)
      return 1
    case GST_QUERY_CAPS where kind.isDownloaded: return answerSinkCaps(query)
    case GST_QUERY_ACCEPT_CAPS where kind.isDownloaded: return acceptCaps(query)
    case GST_QUERY_DRAIN:
      // Nothing to drain: buffers of limited pools are kept only as copies.
      if gst_pad_is_linked(source) != 0 { gst_pad_peer_query(source, query) }
      return 1
    default:
      return gst_pad_query_default(sink, element.asObject, query)
    }
  }
}
