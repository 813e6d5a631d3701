import CGStreamer
import GStreamer
import MediaTime
import Testing

@testable import RetrogradePlugin

/// Requirements for every GStreamer element, from GStreamer's checklists and from gst-validate.
@Suite struct GuestTests {
  private static let audio = "audio/x-raw,format=S16LE,layout=interleaved,rate=8000,channels=1"
  private static let filters = [
    ("videoreverse", grey), ("videoreverse loop=ping-pong", grey), ("audioreverse", audio),
    ("audioreverse loop=ping-pong", audio),
  ]

  /// Returns the source pad of the filter.
  private func sourcePad(of feeder: HostileStreamTests.Feeder) throws -> UnsafeMutablePointer<GstPad> {
    try feeder.pipeline.pad("f", "src")
  }

  private func unref(_ query: UnsafeMutablePointer<GstQuery>) {
    gst_mini_object_unref(UnsafeMutableRawPointer(query).assumingMemoryBound(to: GstMiniObject.self))
  }

  /// gst-validate: "EOS events that are part of the same pipeline operation should have the same
  /// seqnum". Some demuxers send EOS with a new seqnum.
  @Test("EOS has the seqnum of the SEGMENT event before it", arguments: filters)
  func eosSeqnum(element: String, caps: String) throws {
    let feeder = try HostileStreamTests.Feeder(element)
    defer { gst_object_unref(feeder.pad) }
    let log = EventLog(try sourcePad(of: feeder))
    try feeder.start(caps: caps)
    #expect(feeder.chain(try Exchange.frame(1, ms(0), ms(40))) == GST_FLOW_OK)
    _ = feeder.count()
    let segment = try #require(log.all(GST_EVENT_SEGMENT).last)
    #expect(log.all(GST_EVENT_EOS).map(\.number) == [segment.number])
  }

  @Test("unchanged caps are sent once", arguments: filters)
  func unchangedCaps(element: String, caps: String) throws {
    let feeder = try HostileStreamTests.Feeder(element)
    defer { gst_object_unref(feeder.pad) }
    let log = EventLog(try sourcePad(of: feeder))
    for number in 0..<3 {
      try feeder.start(caps: caps)
      #expect(feeder.chain(try Exchange.frame(number, ms(0), ms(40))) == GST_FLOW_OK)
    }
    #expect(feeder.count() > 2)
    #expect(log.all(GST_EVENT_CAPS).count == 1)
  }

  @Test("a stream with a negative rate is refused", arguments: filters)
  func negativeRate(element: String, caps: String) throws {
    let feeder = try HostileStreamTests.Feeder(element)
    defer { gst_object_unref(feeder.pad) }
    try feeder.start(caps: caps)
    var segment = GstSegment()
    gst_segment_init(&segment, GST_FORMAT_TIME)
    segment.rate = -1
    feeder.send(gst_event_new_segment(&segment))
    #expect(feeder.chain(try Exchange.frame(1, ms(0), ms(40))) == GST_FLOW_ERROR)
    let message = feeder.pipeline.nextMessage(timeout: .zero) { if case .failed = $0 { true } else { false } }
    guard case .failed(let error)? = message else {
      Issue.record("no error is posted")
      return
    }
    #expect(error.message.contains("rate above 0"))
    let seek = gst_event_new_seek(
      -1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET, 1_000_000_000)
    #expect(gst_pad_send_event(try sourcePad(of: feeder), seek) == 0)
  }

  @Test("the answer to an allocation query allows any layout and any number of buffers", arguments: filters)
  func allocationQuery(element: String, caps: String) throws {
    let feeder = try HostileStreamTests.Feeder(element)
    defer { gst_object_unref(feeder.pad) }
    let caps = try #require(Caps(caps))
    let query = try #require(gst_query_new_allocation(caps.raw, 1))
    defer { unref(query) }
    #expect(gst_pad_query(feeder.pad, query) != 0)
    let isVideo = element.hasPrefix("video")
    #expect((gst_query_find_allocation_meta(query, gst_video_meta_api_get_type(), nil) != 0) == isVideo)
    #expect((gst_query_find_allocation_meta(query, gst_audio_meta_api_get_type(), nil) != 0) == !isVideo)
    var (size, least, most): (guint, guint, guint) = (0, 0, 1)
    try #require(gst_query_get_n_allocation_pools(query) == (isVideo ? 1 : 0))
    guard isVideo else { return }
    gst_query_parse_nth_allocation_pool(query, 0, nil, &size, &least, &most)
    #expect(least == 2 && most == 0)
    #expect(size == 256)
  }

  @Test("a drain query is answered", arguments: filters)
  func drainQuery(element: String, caps: String) throws {
    let feeder = try HostileStreamTests.Feeder(element)
    defer { gst_object_unref(feeder.pad) }
    try feeder.start(caps: caps)
    let query = try #require(gst_query_new_drain())
    defer { unref(query) }
    #expect(gst_pad_query(feeder.pad, query) != 0)
  }

  /// The frames have rows of 24 bytes, of which 16 are pixels. A sink without support for
  /// GstVideoMeta cannot read such rows.
  @Test(
    "a sink without GstVideoMeta gets the default layout", arguments: ["videoreverse", "videoreverse loop=ping-pong"])
  func defaultLayout(element: String) throws {
    let exchange = try Exchange(element, caps: grey)
    for number in 0..<2 {
      let buffer = try Buffer(size: 24 * 16) { bytes in
        for index in 0..<24 * 16 { bytes[index] = UInt8(index % 24 < 16 ? number + 1 : 99) }
      }
      var offset: (gsize, gsize, gsize, gsize) = (0, 0, 0, 0)
      var stride: (gint, gint, gint, gint) = (24, 0, 0, 0)
      withUnsafeMutablePointer(to: &offset) { offset in
        withUnsafeMutablePointer(to: &stride) { stride in
          _ = gst_buffer_add_video_meta_full(
            buffer.raw, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 16, 16, 1,
            UnsafeMutableRawPointer(offset).assumingMemoryBound(to: gsize.self),
            UnsafeMutableRawPointer(stride).assumingMemoryBound(to: gint.self))
        }
      }
      buffer.stamp(pts: ms(number * 40), duration: ms(40))
      _ = exchange.source.push(buffer)
    }
    exchange.source.endOfStream()
    let output = try exchange.drain()
    #expect(output.times.count == (element == "videoreverse" ? 2 : 3))
    #expect(output.times == output.times.indices.map { ms($0 * 40) })
    #expect(output.bytes.count == output.times.count * 256 && !output.bytes.contains(99))
  }

  /// The test uses system memory under another caps feature, so it needs no GPU. Negotiation and
  /// output are the same as with GPU memory.
  @Test(
    "frames in GPU memory come out in system memory", arguments: ["VAMemory", "GLMemory"],
    ["videoreverse", "videoreverse loop=ping-pong"])
  func gpuMemory(memory: String, element: String) throws {
    let exchange = try Exchange(
      element, caps: grey.replacing("video/x-raw,", with: "video/x-raw(memory:\(memory)),texture-target=2D,"))
    for number in 0..<3 { _ = exchange.source.push(try Exchange.frame(number, ms(number * 40), ms(40))) }
    exchange.source.endOfStream()
    let output = try exchange.drain()
    #expect(output.numbers == (element == "videoreverse" ? [2, 1, 0] : [0, 1, 2, 1, 0]))
    let plain = try #require(Caps(grey))
    #expect(output.caps.allSatisfy { $0.isEqual(plain) }, "\(output.caps)")
  }

  /// The filter outputs system memory if the sink accepts only that, even if the filter's input is
  /// in another memory.
  @Test("the sink caps are the downstream caps, with any readable memory")
  func sinkCaps() throws {
    let pipeline = try pipeline("videoreverse name=f ! video/x-raw,format=RGBA ! fakesink")
    let caps = try #require(gst_pad_query_caps(try pipeline.pad("f", "sink"), nil))
    defer { gst_caps_unref(caps) }
    func takes(_ text: String) throws -> Bool {
      let offer = try #require(Caps(text))
      return gst_caps_can_intersect(caps, offer.raw) != 0
    }
    #expect(try takes("video/x-raw,format=RGBA"))
    #expect(try takes("video/x-raw(memory:GLMemory),format=RGBA"))
    #expect(try !takes("video/x-raw(memory:GLMemory),format=I420"))
    #expect(try !takes("video/x-raw(memory:DMABuf),format=RGBA"))
  }

  @Test("a ping-pong lasts twice as long as its source, minus the frame at the turn")
  func pingPongDuration() throws {
    let length = "duration=1000000000 "
    func duration(_ element: String, _ caps: String) throws -> ClockTime? {
      let exchange = try Exchange(element, caps: caps, before: length)
      _ = exchange.source.push(try Exchange.frame(1, ms(0), ms(40)))
      exchange.source.endOfStream()
      // The duration is known after the first buffer.
      _ = exchange.sink.pull(timeout: ClockTime(seconds: 20))
      return exchange.pipeline.duration
    }
    #expect(try duration("videoreverse", grey) == ms(1000))
    #expect(try duration("videoreverse loop=ping-pong", grey) == ms(1960))
    // At a variable frame rate, the duration of the last frame, and so the total duration, is
    // known only after this frame has arrived.
    #expect(try duration("videoreverse loop=ping-pong", grey.replacing("25/1", with: "0/1")) == nil)
    #expect(try duration("audioreverse loop=ping-pong", GuestTests.audio) == ms(2000))
    #expect(try duration("audioreverse loop=ping-pong turn-duration=40000000", GuestTests.audio) == ms(1960))
  }

  /// Sends a SEEKING query to a pad.
  /// - Returns: true if the stream is seekable, and the end of the seekable range in nanoseconds.
  private func seekable(_ pad: UnsafeMutablePointer<GstPad>) throws -> (Bool, gint64) {
    let query = try #require(gst_query_new_seeking(GST_FORMAT_TIME))
    defer { unref(query) }
    #expect(gst_pad_query(pad, query) != 0)
    var (isSeekable, end): (gboolean, gint64) = (0, 0)
    gst_query_parse_seeking(query, nil, &isSeekable, nil, &end)
    return (isSeekable != 0, end)
  }

  @Test("a filter is seekable only if its source is seekable and the filter does not loop")
  func seekingQuery() throws {
    let source = "videotestsrc num-buffers=25 ! video/x-raw,framerate=25/1"
    for (description, isSeekable) in [
      ("\(source) ! videoreverse name=f ! fakesink", true),
      ("\(source) ! videoreverse name=f loop=ping-pong ! fakesink", false),
      ("videotestsrc is-live=true ! videoreverse name=f ! fakesink", false),
    ] {
      let pipeline = try pipeline(description)
      pipeline.set(.paused)
      gst_element_get_state(pipeline.raw, nil, nil, GstClockTime(20_000_000_000))
      let pad = try pipeline.pad("f", "src")
      let answer = try seekable(pad)
      #expect(answer == (isSeekable, isSeekable ? 1_000_000_000 : -1), "\(description)")
    }
  }

  @Test(
    "a filter keeps the upstream latency, but has no maximum if it collects data",
    arguments: [("videoreverse", true), ("videoreverse loop=ping-pong", false)])
  func latencyQuery(element: String, isHeld: Bool) throws {
    let pipeline = try pipeline(
      "appsrc name=s is-live=true min-latency=20000000 max-latency=50000000 ! \(element) name=f ! fakesink async=false")
    pipeline.set(.playing)
    func latency(_ name: String) throws -> (gboolean, GstClockTime, GstClockTime) {
      let query = try #require(gst_query_new_latency())
      defer { unref(query) }
      #expect(gst_pad_query(try pipeline.pad(name, "src"), query) != 0)
      var (live, least, most): (gboolean, GstClockTime, GstClockTime) = (0, 0, 0)
      gst_query_parse_latency(query, &live, &least, &most)
      return (live, least, most)
    }
    #expect(try latency("s") == (1, 20_000_000, 50_000_000))
    #expect(try latency("f") == (1, 20_000_000, isHeld ? GstClockTime.max : 50_000_000))
  }

  /// A tool that receives progress messages stays in PAUSED until the progress is complete. A
  /// filter makes no progress in PAUSED, so the tool would wait forever.
  @Test("a filter posts no progress messages")
  func noProgress() throws {
    let exchange = try Exchange("videoreverse", caps: grey)
    for number in 0..<200 { _ = exchange.source.push(try Exchange.frame(number, ms(number * 40), ms(40))) }
    exchange.source.endOfStream()
    _ = try exchange.drain()
    #expect(try progress(of: exchange.pipeline).isEmpty)
  }

  @Test("the enumerations belong to the plugin's API")
  func pluginEnumerations() throws {
    try #require(Elements.areRegistered)
    for name in ["RetrogradeLoop", "RetrogradeTiming", "RetrogradeFilterLoop"] {
      for element in ["reversesrc", "videoreverse"] {
        gst_object_unref(try #require(gst_element_factory_make(element, nil)))
      }
      #expect(gst_type_is_plugin_api(g_type_from_name(name), nil) != 0, "\(name)")
    }
  }
}

/// Removes the progress messages from the bus, and returns type and code of each. Types: 0 start,
/// 1 continue, 2 complete.
func progress(of pipeline: Pipeline) throws -> [(type: UInt32, code: String)] {
  let bus = try #require(gst_element_get_bus(pipeline.raw))
  defer { gst_object_unref(bus) }
  var found: [(type: UInt32, code: String)] = []
  while let message = gst_bus_pop_filtered(bus, GST_MESSAGE_PROGRESS) {
    defer { gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self)) }
    var type = GST_PROGRESS_TYPE_START
    var code: UnsafeMutablePointer<gchar>?
    gst_message_parse_progress(message, &type, &code, nil)
    found.append((type.rawValue, code.map { String(cString: $0) } ?? ""))
    g_free(code)
  }
  return found
}
