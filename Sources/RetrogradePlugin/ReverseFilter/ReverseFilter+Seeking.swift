import CGStreamer
import GStreamer
import RetrogradeEngine
import Synchronization

/// What comes from downstream.
extension ReverseFilter {
  func sourceEvent(_ raw: UnsafeMutablePointer<GstEvent>?) -> gboolean {
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
      guard gst_pad_peer_query_duration(sink, format, &length) != 0, length > 0 else { return 0 }
      let (both, isOver) = length.multipliedReportingOverflow(by: 2)
      guard !isOver else { return 0 }
      gst_query_set_duration(query, format, both)
      return 1
    default:
      return gst_pad_query_default(source, element.asObject, query)
    }
  }
}
