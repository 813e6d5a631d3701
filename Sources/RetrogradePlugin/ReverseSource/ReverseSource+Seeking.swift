import CGStreamer
import GStreamer
import RetrogradeEngine
import Synchronization

/// Seeks and queries.
extension ReverseSource {
  func sendEvent(_ event: UnsafeMutablePointer<GstEvent>) -> gboolean? {
    guard event.pointee.type == GST_EVENT_SEEK else { return nil }
    defer { release(event) }
    return seek(event)
  }

  func event(_ raw: UnsafeMutablePointer<GstEvent>?, on pad: UnsafeMutablePointer<GstPad>?) -> gboolean {
    guard let raw, let pad else { return 0 }
    defer { release(raw) }
    switch raw.pointee.type {
    case GST_EVENT_SEEK: return seek(raw)
    case GST_EVENT_RECONFIGURE:
      stream(of: pad)?.resume()
      return 1
    // Ignore QoS, because late frames do not predict whether the next window (frames that are
    // decoded together) will be late.
    case GST_EVENT_QOS: return 1
    // This event reports that the sinks have changed their rate, so this element has nothing to do.
    case GST_EVENT_INSTANT_RATE_SYNC_TIME: return 1
    default: return 0
    }
  }

  func seek(_ event: UnsafeMutablePointer<GstEvent>) -> gboolean {
    var rate = 0.0
    var format = GST_FORMAT_UNDEFINED
    var flags = GstSeekFlags(0)
    gst_event_parse_seek(event, &rate, &format, &flags, nil, nil, nil, nil)
    guard rate != 0, format == GST_FORMAT_TIME else { return 0 }
    if flags.rawValue & GST_SEEK_FLAG_INSTANT_RATE_CHANGE.rawValue != 0 {
      return once(event) { changeRate(to: rate, event) }
    }
    let isFlushing = flags.rawValue & GST_SEEK_FLAG_FLUSH.rawValue != 0
    let kept = AnyThread(retain(event))
    let isEarly = state.withLock { state in
      guard state.legs == nil else { return false }
      if let early = state.early { release(early) }
      state.early = kept.value
      return true
    }
    if isEarly { return 1 }
    release(kept.value)
    return once(event) { apply(event, isFlushing: isFlushing) }
  }

  /// Handles a seek only once: a bin sends the same event through each of its sinks
  /// (gst_bin_send_event).
  private func once(_ event: UnsafeMutablePointer<GstEvent>, _ obey: () -> Bool) -> gboolean {
    let number = gst_event_get_seqnum(event)
    return seeking.withLock { last in
      if last == number { return 1 }
      guard obey() else { return 0 }
      last = number
      return 1
    }
  }

  /// Changes the sinks' playback rate at the current position
  /// (`GST_SEEK_FLAG_INSTANT_RATE_CHANGE`).
  private func changeRate(to rate: Double, _ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    var flags = GstSeekFlags(0)
    var (startType, stopType) = (GST_SEEK_TYPE_NONE, GST_SEEK_TYPE_NONE)
    gst_event_parse_seek(event, nil, nil, &flags, &startType, nil, &stopType, nil)
    let segment = state.withLock { $0.segment }
    // Same conditions as in gst_event_new_seek: same direction, no new start or stop, no flush.
    guard legs != nil, startType == GST_SEEK_TYPE_NONE, stopType == GST_SEEK_TYPE_NONE,
      flags.rawValue & GST_SEEK_FLAG_FLUSH.rawValue == 0, (rate > 0) == (segment.rate > 0)
    else { return false }
    debug("seek \(gst_event_get_seqnum(event)): rate \(rate) at once")
    for stream in streams {
      push(
        gst_event_new_instant_rate_change(rate / segment.rate, GstSegmentFlags(flags.rawValue)),
        gst_event_get_seqnum(event), stream)
    }
    return true
  }

  /// Stops playback, and plays the part that `event` selects. Not reentrant.
  @discardableResult
  func apply(_ event: UnsafeMutablePointer<GstEvent>, isFlushing: Bool) -> Bool {
    var rate = 1.0
    var format = GST_FORMAT_TIME
    var flags = GstSeekFlags(0)
    var (startType, stopType) = (GST_SEEK_TYPE_NONE, GST_SEEK_TYPE_NONE)
    var (start, stop): (gint64, gint64) = (0, -1)
    gst_event_parse_seek(event, &rate, &format, &flags, &startType, &start, &stopType, &stop)
    let number = gst_event_get_seqnum(event)
    debug("seek \(number): \(start) to \(stop), flags \(flags.rawValue)")
    let streams = streams
    var segment = state.withLock { $0.segment }
    // Before any output, the position is the start of the GStreamer segment.
    let positions = streams.compactMap { $0.shared.withLock { $0.position } }
    if let reached = segment.rate < 0 ? positions.min() : positions.max() { segment.position = guint64(reached.raw) }
    var didChange: gboolean = 0
    guard !segment.startsBehindStop((startType, start), (stopType, stop)),
      gst_segment_do_seek(
        &segment, rate, format, flags, startType, guint64(bitPattern: start), stopType, guint64(bitPattern: stop),
        &didChange) != 0
    else { return false }
    // An endless output has no end to play backwards from.
    if rate < 0, segment.stop == guint64(noTime), legs?.duration == nil { return false }
    // Scores with speed changes, pauses or muted audio play only forwards.
    if rate < 0, !(legs?.areNatural ?? true) { return false }
    if isFlushing {
      for stream in streams { push(gst_event_new_flush_start(), number, stream) }
    }
    cancelOrders()
    // Without a flush, do not wait for the streams: in PAUSED, the streams wait for PLAYING, and
    // the change to PLAYING waits for the seeking thread. Each stream starts the new
    // ``SourceStream/Order`` after its current buffer.
    if isFlushing {
      for stream in streams {
        gst_pad_pause_task(stream.pad)
        // The task has paused once its lock is free.
        g_rec_mutex_lock(&stream.pad.pointee.stream_rec_lock)
        stream.releasePlayers()
        g_rec_mutex_unlock(&stream.pad.pointee.stream_rec_lock)
      }
      for stream in streams { push(gst_event_new_flush_stop(1), number, stream) }
    }
    let next = AnyThread(segment)
    state.withLock { $0.segment = next.value }
    if flags.rawValue & GST_SEEK_FLAG_SEGMENT.rawValue != 0,
      let message = gst_message_new_segment_start(element.asObject, GST_FORMAT_TIME, gint64(clamping: segment.position))
    {
      gst_message_set_seqnum(message, number)
      gst_element_post_message(element, message)
    }
    order(number: number)
    return true
  }

  func push(_ event: UnsafeMutablePointer<GstEvent>?, _ number: UInt32, _ stream: SourceStream) {
    guard let event else { return }
    gst_event_set_seqnum(event, number)
    gst_pad_push_event(stream.pad, event)
  }

  func query(
    _ query: UnsafeMutablePointer<GstQuery>?, on pad: UnsafeMutablePointer<GstPad>?
  ) -> gboolean {
    guard let query, let pad else { return 0 }
    switch query.pointee.type {
    case GST_QUERY_DURATION:
      var format = GST_FORMAT_UNDEFINED
      gst_query_parse_duration(query, &format, nil)
      guard format == GST_FORMAT_TIME, let length = legs?.duration else { return 0 }
      gst_query_set_duration(query, GST_FORMAT_TIME, gint64(length.nanoseconds))
      return 1
    case GST_QUERY_POSITION:
      var format = GST_FORMAT_UNDEFINED
      gst_query_parse_position(query, &format, nil)
      guard format == GST_FORMAT_TIME,
        let position = stream(of: pad)?.shared.withLock({ $0.position ?? $0.order?.beginning })
      else { return 0 }
      gst_query_set_position(query, GST_FORMAT_TIME, gint64(position.nanoseconds))
      return 1
    case GST_QUERY_SEEKING:
      var format = GST_FORMAT_UNDEFINED
      gst_query_parse_seeking(query, &format, nil, nil, nil)
      let isTime = format == GST_FORMAT_TIME
      gst_query_set_seeking(query, format, isTime ? 1 : 0, 0, gint64(legs?.duration?.nanoseconds ?? -1))
      return 1
    case GST_QUERY_URI:
      gst_query_set_uri(query, settings.uri)
      return 1
    case GST_QUERY_LATENCY:
      gst_query_set_latency(query, 0, 0, GstClockTime(noTime))
      return 1
    case GST_QUERY_SEGMENT:
      let segment = state.withLock { $0.segment }
      gst_query_set_segment(
        query, segment.rate, segment.format, gint64(clamping: segment.start),
        segment.stop == guint64(noTime)
          ? segment.duration == guint64(noTime) ? 0 : gint64(clamping: segment.duration)
          : gint64(clamping: segment.stop))
      return 1
    default:
      return gst_pad_query_default(pad, element.asObject, query)
    }
  }
}

extension GstSegment {
  /// True if a seek's start is after its stop. For such a seek, gst_segment_do_seek would log a
  /// critical message.
  ///
  /// - Parameters:
  ///   - start: start of the seek. The value is in nanoseconds, relative to 0 for the type SET, and
  ///     to the end of the output for END.
  ///   - stop: stop of the seek, in the same form.
  fileprivate func startsBehindStop(
    _ start: (type: GstSeekType, value: gint64), _ stop: (type: GstSeekType, value: gint64)
  ) -> Bool {
    let length = duration == guint64(noTime) ? nil : gint64(clamping: duration)
    /// Returns the absolute position; nil if open-ended.
    func place(_ seek: (type: GstSeekType, value: gint64), _ previous: guint64) -> gint64? {
      let kept = previous == guint64(noTime) ? nil : gint64(clamping: previous)
      switch seek.type {
      case GST_SEEK_TYPE_SET: return seek.value == -1 ? nil : seek.value
      case GST_SEEK_TYPE_END: return length.map { $0.addingReportingOverflow(seek.value).partialValue } ?? kept
      default: return kept
      }
    }
    guard let end = place(stop, self.stop) else { return false }
    let beginning = place(start, self.start) ?? 0
    // Like gst_segment_do_seek, treat a negative start as a start at the end.
    let first = length.map { beginning < 0 ? $0 : min(beginning, $0) } ?? max(beginning, 0)
    return first > length.map { min(max(end, 0), $0) } ?? max(end, 0)
  }
}
