import CGStreamer
import GStreamer

/// Caps of a filter that accepts frames in GPU memory, and outputs them in system memory.
extension ReverseFilter {
  /// Answers with the possible input caps: the caps that downstream accepts, and the same formats
  /// in other kinds of memory, from which this element copies frames.
  func answerSinkCaps(_ query: UnsafeMutablePointer<GstQuery>) -> gboolean {
    guard let taken = ReverseFilter.peerCaps(source) else { return 0 }
    return ReverseFilter.answer(query, taken.inAnyMappableMemory)
  }

  /// Answers with the possible output caps: upstream's caps, in system memory.
  func answerSourceCaps(_ query: UnsafeMutablePointer<GstQuery>) -> gboolean {
    guard let given = ReverseFilter.peerCaps(sink) else { return 0 }
    return ReverseFilter.answer(query, given.inSystemMemory)
  }

  /// Answers whether input caps are accepted: downstream must accept the resulting output caps.
  func acceptCaps(_ query: UnsafeMutablePointer<GstQuery>) -> gboolean {
    var asked: UnsafeMutablePointer<GstCaps>?
    gst_query_parse_accept_caps(query, &asked)
    guard let asked, let template = ReverseFilter.template(source) else { return 0 }
    let out = Caps(retaining: asked).inSystemMemory
    let isTaken =
      out.intersects(template)
      && (gst_pad_is_linked(source) == 0 || gst_pad_peer_query_accept_caps(source, out.raw) != 0)
    gst_query_set_accept_caps_result(query, isTaken ? 1 : 0)
    return 1
  }

  /// Returns the caps of the pad's peer, limited by the template of the pad.
  private static func peerCaps(_ pad: UnsafeMutablePointer<GstPad>) -> Caps? {
    guard let peer = gst_pad_peer_query_caps(pad, nil) else { return nil }
    defer { gst_caps_unref(peer) }
    return Caps(retaining: peer).intersection(template(pad))
  }

  private static func template(_ pad: UnsafeMutablePointer<GstPad>) -> Caps? {
    guard let caps = gst_pad_get_pad_template_caps(pad) else { return nil }
    defer { gst_caps_unref(caps) }
    return Caps(retaining: caps)
  }

  private static func answer(_ query: UnsafeMutablePointer<GstQuery>, _ caps: Caps) -> gboolean {
    var filter: UnsafeMutablePointer<GstCaps>?
    gst_query_parse_caps(query, &filter)
    let wanted = filter.map { Caps(retaining: $0).intersection(caps) } ?? caps
    gst_query_set_caps_result(query, wanted.raw)
    return 1
  }
}
