import CGStreamer
import GStreamer
import MediaTime
import RetrogradeEngine
import Synchronization

/// Events and queries from downstream.
extension ReverseFilter {
  func sourceEvent(_ raw: UnsafeMutablePointer<GstEvent>?) -> gboolean {
    guard let event = raw else { return 0 }
    switch event.pointee.type {
    case GST_EVENT_QOS:
      // Ignore QoS: upstream cannot use QoS to skip frames, because this element outputs frames at
      // other times.
      release(event)
      return 1
    case GST_EVENT_SEEK:
      var flags = GstSeekFlags(0)
      gst_event_parse_seek(event, nil, nil, &flags, nil, nil, nil, nil)
      // An instant rate change affects only the speed from the current position on. Upstream and
      // the sinks handle it.
      if flags.rawValue & GST_SEEK_FLAG_INSTANT_RATE_CHANGE.rawValue != 0 { return gst_pad_push_event(sink, event) }
      defer { release(event) }
      return seek(event)
    default:
      return gst_pad_event_default(source, element.asObject, event)
    }
  }

  /// Seeks in the output, where positions are counted from the source's end.
  func seek(_ event: UnsafeMutablePointer<GstEvent>) -> gboolean {
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
    // A ping-pong needs its forward half first, so only the whole output can be selected.
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

  /// End of the source, from which output positions are counted back; nil if upstream is not
  /// seekable.
  private var seekableEnd: gint64? {
    guard let query = gst_query_new_seeking(GST_FORMAT_TIME) else { return nil }
    defer { gst_mini_object_unref(query.asMiniObject) }
    var isSeekable: gboolean = 0
    var length: gint64 = 0
    guard gst_pad_peer_query(sink, query) != 0 else { return nil }
    gst_query_parse_seeking(query, nil, &isSeekable, nil, nil)
    guard isSeekable != 0, gst_pad_peer_query_duration(sink, GST_FORMAT_TIME, &length) != 0, length > 0 else {
      return nil
    }
    return length
  }

  func sourceQuery(_ query: UnsafeMutablePointer<GstQuery>?) -> gboolean {
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
      guard format == GST_FORMAT_TIME, let turn = shared.withLock({ $0.turn }),
        gst_pad_peer_query_duration(sink, format, &length) != 0, length > gint64(turn.nanoseconds)
      else { return 0 }
      let (both, isOver) = (length - gint64(turn.nanoseconds)).addingReportingOverflow(length)
      guard !isOver else { return 0 }
      gst_query_set_duration(query, format, both)
      return 1
    case GST_QUERY_CAPS where kind.isDownloaded: return answerSourceCaps(query)
    case GST_QUERY_SEEKING:
      var format = GST_FORMAT_UNDEFINED
      gst_query_parse_seeking(query, &format, nil, nil, nil)
      let end = format == GST_FORMAT_TIME && !settings.isPingPong ? seekableEnd : nil
      gst_query_set_seeking(query, format, end == nil ? 0 : 1, 0, end ?? -1)
      return 1
    case GST_QUERY_LATENCY where !settings.isPingPong:
      guard gst_pad_peer_query(sink, query) != 0 else { return 0 }
      var (live, least): (gboolean, GstClockTime) = (0, 0)
      gst_query_parse_latency(query, &live, &least, nil)
      // This element may keep buffers for any length of time, so the maximum latency is unlimited.
      gst_query_set_latency(query, live, least, GstClockTime(noTime))
      return 1
    default:
      return gst_pad_query_default(source, element.asObject, query)
    }
  }
}
