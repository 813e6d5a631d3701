import CGStreamer
import GStreamer
import Quirks
import TestSupport
import Testing

@Suite("Quirks of appsink") struct AppSinkTests {
  @Test("appsink does not answer allocation queries")
  func allocation() throws {
    try expect(.appsinkAllocation) {
      let sink = try #require(gst_element_factory_make("appsink", nil))
      gst_object_ref_sink(sink)
      defer { gst_object_unref(sink) }
      let pad = try #require(gst_element_get_static_pad(sink, "sink"))
      defer { gst_object_unref(pad) }
      let caps = gst_caps_from_string("video/x-raw,format=I420,width=64,height=64,framerate=30/1")
      defer { gst_caps_unref(caps) }
      gst_element_set_state(sink, GST_STATE_PAUSED)
      defer { gst_element_set_state(sink, GST_STATE_NULL) }
      let query = try #require(gst_query_new_allocation(caps, 1))
      defer { gst_query_unref(query) }
      _ = gst_pad_query(pad, query)
      return gst_query_find_allocation_meta(query, gst_video_meta_api_get_type(), nil) == 0
    }
  }
}
