// Drives the filters with GstHarness, like GStreamer's own tests. Prints the first failure and
// exits with 1.
#include <gst/check/gstharness.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #condition);    \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

static const char *const caps =
    "video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1";

static GstBuffer *frame(int number) {
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, 256, NULL);
  gst_buffer_memset(buffer, 0, number, 256);
  GST_BUFFER_PTS(buffer) = number * 40 * GST_MSECOND;
  GST_BUFFER_DURATION(buffer) = 40 * GST_MSECOND;
  return buffer;
}

static int number_of(GstBuffer *buffer) {
  guint8 first = 0;
  CHECK(gst_buffer_extract(buffer, 0, &first, 1) == 1);
  return first;
}

// Events come in the order of the design documents, and EOS has the seqnum of its segment.
static void order_of_events(void) {
  GstHarness *h = gst_harness_new("videoreverse");
  gst_harness_set_src_caps_str(h, caps);
  for (int i = 0; i < 3; i++) CHECK(gst_harness_push(h, frame(i)) == GST_FLOW_OK);
  CHECK(gst_harness_buffers_in_queue(h) == 0);
  CHECK(gst_harness_push_event(h, gst_event_new_eos()));
  for (int i = 2; i >= 0; i--) {
    GstBuffer *buffer = gst_harness_pull(h);
    CHECK(number_of(buffer) == i);
    CHECK(GST_BUFFER_PTS(buffer) == (2 - i) * 40 * GST_MSECOND);
    CHECK(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT) == (i == 2));
    gst_buffer_unref(buffer);
  }
  const GstEventType expected[] = {GST_EVENT_STREAM_START, GST_EVENT_CAPS, GST_EVENT_SEGMENT, GST_EVENT_EOS};
  guint32 number = 0;
  for (int i = 0; i < 4; i++) {
    GstEvent *event = gst_harness_pull_event(h);
    CHECK(GST_EVENT_TYPE(event) == expected[i]);
    if (i == 2) number = gst_event_get_seqnum(event);
    if (i == 3) CHECK(gst_event_get_seqnum(event) == number);
    gst_event_unref(event);
  }
  gst_harness_teardown(h);
}

// A flush drops the held frames.
static void flush(void) {
  GstHarness *h = gst_harness_new("videoreverse");
  gst_harness_set_src_caps_str(h, caps);
  for (int i = 0; i < 5; i++) gst_harness_push(h, frame(i));
  CHECK(gst_harness_push_event(h, gst_event_new_flush_start()));
  CHECK(gst_harness_push_event(h, gst_event_new_flush_stop(TRUE)));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  CHECK(gst_harness_push_event(h, gst_event_new_segment(&segment)));
  for (int i = 7; i < 9; i++) CHECK(gst_harness_push(h, frame(i)) == GST_FLOW_OK);
  CHECK(gst_harness_push_event(h, gst_event_new_eos()));
  for (int i = 8; i >= 7; i--) {
    GstBuffer *buffer = gst_harness_pull(h);
    CHECK(number_of(buffer) == i);
    gst_buffer_unref(buffer);
  }
  CHECK(gst_harness_try_pull(h) == NULL);
  gst_harness_teardown(h);
}

// Buffers of a pool that has only two must be returned to it.
static void bounded_pool(void) {
  GstHarness *h = gst_harness_new("videoreverse");
  gst_harness_set_src_caps_str(h, caps);
  GstBufferPool *pool = gst_buffer_pool_new();
  GstStructure *configuration = gst_buffer_pool_get_config(pool);
  GstCaps *parsed = gst_caps_from_string(caps);
  gst_buffer_pool_config_set_params(configuration, parsed, 256, 2, 2);
  gst_caps_unref(parsed);
  CHECK(gst_buffer_pool_set_config(pool, configuration));
  CHECK(gst_buffer_pool_set_active(pool, TRUE));
  for (int i = 0; i < 10; i++) {
    GstBuffer *buffer = NULL;
    GstBufferPoolAcquireParams now = {.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT};
    CHECK(gst_buffer_pool_acquire_buffer(pool, &buffer, &now) == GST_FLOW_OK);
    gst_buffer_memset(buffer, 0, i, 256);
    GST_BUFFER_PTS(buffer) = i * 40 * GST_MSECOND;
    GST_BUFFER_DURATION(buffer) = 40 * GST_MSECOND;
    CHECK(gst_harness_push(h, buffer) == GST_FLOW_OK);
  }
  CHECK(gst_harness_push_event(h, gst_event_new_eos()));
  for (int i = 9; i >= 0; i--) {
    GstBuffer *buffer = gst_harness_pull(h);
    CHECK(number_of(buffer) == i);
    gst_buffer_unref(buffer);
  }
  gst_buffer_pool_set_active(pool, FALSE);
  gst_object_unref(pool);
  gst_harness_teardown(h);
}

// A live source keeps running while it is recorded: the first output is due when the recording
// ends.
static void live(void) {
  GstHarness *h = gst_harness_new("videoreverse");
  gst_harness_set_live(h, TRUE);
  gst_harness_set_src_caps_str(h, caps);
  for (int i = 0; i < 5; i++) gst_harness_push(h, frame(i));
  CHECK(gst_harness_push_event(h, gst_event_new_eos()));
  GstEvent *event;
  while ((event = gst_harness_pull_event(h)) && GST_EVENT_TYPE(event) != GST_EVENT_SEGMENT) gst_event_unref(event);
  const GstSegment *segment;
  gst_event_parse_segment(event, &segment);
  CHECK(gst_segment_to_running_time(segment, GST_FORMAT_TIME, 0) == 200 * GST_MSECOND);
  gst_event_unref(event);
  gst_harness_teardown(h);
}

// QoS events do not go upstream: a late output frame tells nothing about input frames to drop.
static void quality_of_service(void) {
  GstHarness *h = gst_harness_new("videoreverse");
  gst_harness_set_src_caps_str(h, caps);
  gst_harness_push(h, frame(0));
  CHECK(gst_harness_push_upstream_event(h, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, GST_SECOND, 0)));
  GstEvent *event;
  while ((event = gst_harness_try_pull_upstream_event(h))) {
    CHECK(GST_EVENT_TYPE(event) != GST_EVENT_QOS);
    gst_event_unref(event);
  }
  gst_harness_teardown(h);
}

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  for (int i = 0; i < 20; i++) {
    order_of_events();
    flush();
    bounded_pool();
    live();
    quality_of_service();
  }
  gst_deinit();
  return 0;
}
