import CGStreamer
import GStreamer

/// Caps of a filter whose frames may come in the memory of a graphics processor, and go out in ordinary memory.
extension ReverseFilter {
  /// Answers with the caps that may come in: those that downstream takes, also from memory out of which
  /// buffers have to be copied.
  func answerSinkCaps(_ query: UnsafeMutablePointer<GstQuery>) -> gboolean {
    guard let taken = ReverseFilter.peerCaps(source) else { return 0 }
    return ReverseFilter.answer(query, taken.inAnyMappableMemory)
  }

  /// Answers with the caps that may go out: those that upstream gives, in ordinary memory.
  func answerSourceCaps(_ query: UnsafeMutablePointer<GstQuery>) -> gboolean {
    guard let given = ReverseFilter.peerCaps(sink) else { return 0 }
    return ReverseFilter.answer(query, given.inSystemMemory)
  }

  /// Answers whether caps may come in: the output caps for them must be taken downstream.
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

  /// Caps of the other side of the pad's link, as far as the pad's template goes.
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
