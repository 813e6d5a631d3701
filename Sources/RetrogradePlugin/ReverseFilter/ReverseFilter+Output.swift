import CGStreamer
import GStreamer
import MediaTime
import RetrogradeEngine
import Synchronization

/// Output: buffers and events for downstream.
extension ReverseFilter {
  /// Sends the events that must precede the next buffer: the caps, if they have changed, and the
  /// segment, if it was not sent yet.
  /// - Parameter caps: nil for a gap that arrived before any caps.
  func startOutput(_ caps: Caps?, end: ClockTime? = nil) {
    if let caps, !isSent(caps) {
      let event = gst_event_new_caps(caps.raw)
      guard gst_pad_push_event(source, event) != 0 || gst_pad_is_linked(source) == 0 else {
        log.write(.warning, "downstream does not take \(caps.description)", about: element)
        return
      }
    }
    if !isSegmentSent { sendSegment(end: end) }
  }

  /// True if `caps` were already sent. The source pad knows its current caps, and keeps them during
  /// flushes and in new streams.
  private func isSent(_ caps: Caps) -> Bool {
    guard let current = gst_pad_get_current_caps(source) else { return false }
    defer { gst_caps_unref(current) }
    return gst_caps_is_equal(current, caps.raw) != 0
  }

  /// Sends the segment event of the output, and then the events in ``waiting``.
  /// - Parameter end: end of the backward output, in the GStreamer segment's time.
  func sendSegment(end: ClockTime?) {
    var out = segment
    let seek = shared.withLock { shared in
      defer { if shared.seek?.number == segmentNumber { shared.seek = nil } }
      return shared.seek?.number == segmentNumber ? shared.seek : nil
    }
    if segment.format == GST_FORMAT_TIME {
      if let seek { out.time = guint64(seek.time.raw) }
      if settings.isPingPong { out.stop = guint64(noTime) }
      // A live source is recorded to its end before any output, so the output is due from that end
      // on. If the source's length were added to the latency instead, every frame would be late,
      // and sinks would drop frames until the application had handled the new latency.
      if !settings.isPingPong, let end, isLive {
        let (base, isOver) = out.base.addingReportingOverflow(guint64((end - start).raw))
        out.base = isOver ? segment.base : base
      }
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

  func dropWaiting() {
    waiting.forEach(release)
    waiting = []
  }

  var start: ClockTime { ClockTime(raw: UInt(segment.start)) ?? .zero }

  var isLive: Bool {
    guard let query = gst_query_new_latency() else { return false }
    defer { gst_mini_object_unref(query.asMiniObject) }
    guard gst_pad_peer_query(sink, query) != 0 else { return false }
    var live: gboolean = 0
    gst_query_parse_latency(query, &live, nil, nil)
    return live != 0
  }

  /// Returns the end of the part to reverse, in the GStreamer segment's time: the segment's stop,
  /// or else the end of the file, or else the end of the stream. Streams of one file with different
  /// ends must be reversed about the same end to stay in sync.
  func end(of held: BufferedMedia) -> ClockTime {
    let own = held.items.compactMap { $0.end ?? $0.start }.max() ?? start
    if let stop = ClockTime(raw: UInt(segment.stop)) { return stop }
    var duration: gint64 = 0
    guard gst_pad_peer_query_duration(sink, GST_FORMAT_TIME, &duration) != 0, duration > 0 else { return own }
    let whole = start + ClockTime(nanoseconds: Int64(duration)) - (ClockTime(raw: UInt(segment.time)) ?? .zero)
    return max(own, whole)
  }

  /// Outputs all stored buffers, last first.
  func drain() {
    guard let held, !held.items.isEmpty else { return }
    self.held = nil
    do {
      let flow = try segment.format == GST_FORMAT_TIME ? drain(held) : drainUntimed(held)
      log.write(.debug, "drained: \(String(cString: gst_flow_get_name(flow)))", about: element)
      if flow.rawValue <= GST_FLOW_NOT_NEGOTIATED.rawValue || flow == GST_FLOW_NOT_LINKED {
        postFlowError(element, flow)
      }
    } catch {
      fail(error)
    }
  }

  func drain(_ held: BufferedMedia) throws -> GstFlowReturn {
    let isPingPong = settings.isPingPong
    let end = end(of: held)
    // Source time `turn` maps to output time `origin`. Without a ping-pong, `turn` is the end of
    // the source, and `origin` is the start of the GStreamer segment. In a ping-pong, `turn` is the
    // time of the turn, and `origin` is the end of the forward half.
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
    isFirst = true
    while let (item, buffer) = try held.takeLast() {
      let until = min(item.end ?? next ?? turn, turn)
      next = item.start ?? next
      if item.start == nil, let buffer {
        guard let caps = item.caps else { return GST_FLOW_NOT_NEGOTIATED }
        startOutput(kind.mirroredCaps(caps), end: end)
        let flow = try push(try kind.mirrored(buffer, caps, nil, nil), caps)
        if flow != GST_FLOW_OK { return flow }
      }
      guard let from = item.start, from < until else { continue }
      let place = TimeSpan(start: origin + (turn - until), end: origin + (turn - from))
      startOutput(item.caps.map(kind.mirroredCaps), end: end)
      if isFirst, place.start > origin || (isPingPong == false && buffer == nil) {
        gst_pad_push_event(
          source, gst_event_new_gap(GstClockTime(origin.raw), GstClockTime((place.start - origin).raw)))
      }
      guard let buffer else {
        gst_pad_push_event(
          source, gst_event_new_gap(GstClockTime(place.start.raw), GstClockTime((place.end - place.start).raw)))
        continue
      }
      guard let caps = item.caps else { return GST_FLOW_NOT_NEGOTIATED }
      var whole = buffer
      if let end = item.end, until < end { whole = trimmed(buffer, caps, from: from, to: until) }
      let flow = try push(try kind.mirrored(whole, caps, place.start, place.end - place.start), caps)
      if flow != GST_FLOW_OK { return flow }
    }
    return GST_FLOW_OK
  }

  /// Returns the part of an audio buffer before the time `to`. The buffer starts at `from`. Video
  /// buffers are returned unchanged.
  func trimmed(_ buffer: Buffer, _ caps: Caps, from: ClockTime, to: ClockTime) -> Buffer {
    guard !kind.dropsLast, let rate = caps.int("rate") else { return buffer }
    return buffer.prefix(sampleFrames: (to - from).sampleIndex(rate: rate), of: caps)
  }

  /// Outputs buffers without timestamps, such as those of a raw file; only their order is reversed.
  func drainUntimed(_ held: BufferedMedia) throws -> GstFlowReturn {
    if settings.isPingPong, kind.dropsLast { _ = try held.takeLast() }
    while let (item, buffer) = try held.takeLast() {
      guard let buffer, let caps = item.caps else { continue }
      startOutput(kind.mirroredCaps(caps))
      let flow = try push(try kind.mirrored(buffer, caps, nil, nil), caps)
      if flow != GST_FLOW_OK { return flow }
    }
    return GST_FLOW_OK
  }

  func push(_ given: Buffer, _ caps: Caps) throws -> GstFlowReturn {
    // Ask downstream again only if the pad's NEED_RECONFIGURE flag is set, which happens when the
    // pad is linked, and when downstream has changed.
    if gst_pad_check_reconfigure(source) != 0 { takesLayouts = source.peerSupports(kind.layoutMeta(), caps) }
    let buffer = takesLayouts ? given : try kind.plain(given, caps)
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
