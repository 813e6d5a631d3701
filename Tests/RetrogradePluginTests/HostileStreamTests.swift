import CGStreamer
import GStreamer
import MediaTime
import Testing

@testable import RetrogradePlugin

/// Streams that no correct element produces. Elements must handle them, because a trap in an
/// element ends the whole process.
@Suite struct HostileStreamTests {
  /// Sends events and buffers to the sink pad of a filter.
  struct Feeder {
    let pipeline: Pipeline
    let sink: AppSink
    let pad: UnsafeMutablePointer<GstPad>

    init(_ element: String) throws {
      pipeline = try RetrogradePluginTests.pipeline(
        "\(element) name=f ! appsink name=out sync=false async=false wait-on-eos=false")
      sink = try pipeline.appSink("out")
      let filter = try #require(pipeline.element("f"))
      pad = try #require(gst_element_get_static_pad(filter.raw, "sink"))
      pipeline.set(.playing)
    }

    func send(_ event: UnsafeMutablePointer<GstEvent>?) { gst_pad_send_event(pad, event) }

    func send(caps text: String) throws {
      let caps = try #require(Caps(text))
      withExtendedLifetime(caps) { send(gst_event_new_caps(caps.raw)) }
    }

    func start(caps: String? = nil, time: ClockTime = .zero, base: ClockTime = .zero) throws {
      send(gst_event_new_stream_start("hostile"))
      if let caps { try send(caps: caps) }
      var segment = GstSegment()
      gst_segment_init(&segment, GST_FORMAT_TIME)
      segment.time = guint64(time.raw)
      segment.base = guint64(base.raw)
      send(gst_event_new_segment(&segment))
    }

    func chain(_ buffer: Buffer) -> GstFlowReturn { gst_pad_chain(pad, buffer.retained()) }

    /// Ends the stream, and returns the number of buffers in the output.
    func count() -> Int {
      send(gst_event_new_eos())
      var count = 0
      while sink.pull(timeout: ClockTime(seconds: 20)) != nil { count += 1 }
      return count
    }
  }

  private static let audio = "audio/x-raw,format=S16LE,layout=interleaved,rate=8000,channels=1"
  private static let filters = [
    ("videoreverse", grey), ("videoreverse loop=ping-pong", grey), ("audioreverse", audio),
    ("audioreverse loop=ping-pong", audio),
  ]

  @Test("a gap may come before the caps", arguments: filters)
  func gapFirst(element: String, caps: String) throws {
    let feeder = try Feeder(element)
    defer { gst_object_unref(feeder.pad) }
    try feeder.start()
    feeder.send(gst_event_new_gap(0, 40_000_000))
    try feeder.send(caps: caps)
    #expect(feeder.chain(try Exchange.frame(1, ms(40), ms(40))) == GST_FLOW_OK)
    // A ping-pong plays audio in both directions, but shows the only frame of a video once.
    #expect(feeder.count() == (element == "audioreverse loop=ping-pong" ? 2 : 1))
    #expect(feeder.sink.isEndOfStream)
  }

  @Test("a stream may consist of one gap", arguments: filters)
  func gapOnly(element: String, caps: String) throws {
    let feeder = try Feeder(element)
    defer { gst_object_unref(feeder.pad) }
    try feeder.start()
    feeder.send(gst_event_new_gap(0, 40_000_000))
    #expect(feeder.count() == 0)
    #expect(feeder.sink.isEndOfStream)
  }

  @Test("timestamps near the maximum are tolerated", arguments: filters)
  func hugeTimestamps(element: String, caps: String) throws {
    let late = ClockTime(nanoseconds: .max - 1)
    let feeder = try Feeder(element)
    defer { gst_object_unref(feeder.pad) }
    try feeder.start(caps: caps, time: late, base: late)
    for (start, duration) in [(ClockTime.zero, late), (late, late), (ms(40), late), (late, .zero)] {
      _ = feeder.chain(try Exchange.frame(1, start, duration))
    }
    feeder.send(gst_event_new_gap(GstClockTime(late.raw), GstClockTime(late.raw)))
    _ = feeder.count()
    #expect(feeder.sink.isEndOfStream)
  }

  @Test("a duration of centuries from upstream is tolerated", arguments: filters)
  func hugeDuration(element: String, caps: String) throws {
    let exchange = try Exchange(element, caps: caps, before: "duration=6000000000000000000 ")
    _ = exchange.source.push(try Exchange.frame(1, ms(0), ms(40)))
    exchange.source.endOfStream()
    let isPingPong = element.contains("ping-pong")
    // A ping-pong lasts twice as long as its source. This duration can't be represented, so it is
    // unknown.
    #expect(exchange.pipeline.duration == (isPingPong ? nil : ClockTime(nanoseconds: 6_000_000_000_000_000_000)))
    #expect(try exchange.drain().numbers.isEmpty == false)
  }

  /// GStreamer divides by the size of a sample frame, which is 0 here.
  @Test("audio without channels is an error, not a crash")
  func noChannels() throws {
    let feeder = try Feeder("audioreverse")
    defer { gst_object_unref(feeder.pad) }
    try feeder.start(caps: HostileStreamTests.audio.replacing("channels=1", with: "channels=0"))
    _ = feeder.chain(try Exchange.frame(1, ms(0), ms(40)))
    #expect(feeder.count() == 0)
  }
}
