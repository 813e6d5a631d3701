import CGStreamer
import Foundation
import GStreamer
import MediaTime
import Paths
import RetrogradeEngine
import Synchronization
import TestSupport
import Testing

@testable import RetrogradePlugin

/// reversesrc with generated files.
@Suite struct SourceTests {
  /// Returns media of 60 numbered frames of 40 ms, and 115,200 audio samples whose values depend on
  /// their positions.
  private func media() -> TestMedia {
    var media = TestMedia()
    media.times = TestMedia.regular(60, rate: 25)
    media.muxer = "matroskamux"
    media.name = "s.mkv"
    media.sampleCount = 60 * 1920
    return media
  }

  private func source(_ path: String, _ properties: String = "", sinks: String? = nil) throws -> Pipeline {
    try pipeline(
      "reversesrc name=r uri=file://\(path) memory-budget=1000000 \(properties) "
        + (sinks
          ?? "r.video_0 ! videoconvert ! video/x-raw,format=GRAY8 ! appsink name=video sync=false async=false max-buffers=2 "
          + "r.audio_0 ! queue ! appsink name=audio sync=false async=false"))
  }

  @Test("a URI may name a file whose name is not UTF-8")
  func rawBytesURI() throws {
    var settings = SourceSettings()
    settings.setURI("reverse+file:///a/caf%E9.mp4")
    #expect(settings.path?.pathBytes == Array("/a/caf".utf8) + [0xE9] + Array(".mp4".utf8))
    let folder = try TemporaryFolder()
    let path = folder.url.path + "/" + String(pathBytes: [0xE9] + ".mkv".utf8)
    try #require(rename(try media().write(to: folder), path.cPath) == 0)
    let pipeline = try source("\(folder.url.path)/%E9.mkv")
    let video = try pipeline.appSink("video")
    pipeline.set(.playing)
    #expect(try #require(try pipeline.pull(video)).number() == 59)
    pipeline.set(.null)
  }

  /// A pipe can be read only once.
  @Test("a pipe is played in full")
  func pipeInput() throws {
    let folder = try TemporaryFolder()
    let clip = try media().write(to: folder)
    let path = folder.path("pipe")
    try #require(mkfifo(path, 0o600) == 0)
    let writer = try Program("/bin/sh", ["-c", "cat '\(clip)' > '\(path)'"])
    let pipeline = try source(path)
    let video = try pipeline.appSink("video")
    pipeline.set(.playing)
    var numbers: [Int] = []
    while let sample = try pipeline.pull(video) { numbers.append(try sample.number()) }
    #expect(numbers == (0..<60).reversed())
    pipeline.set(.null)
    #expect(writer.end().status == 0)
  }

  private func preroll(_ pipeline: Pipeline) throws {
    pipeline.set(.paused)
    #expect(gst_element_get_state(pipeline.raw, nil, nil, GstClockTime(20_000_000_000)) == GST_STATE_CHANGE_SUCCESS)
  }

  @Test("a URI that is set during playback is refused with an error")
  func uriDuringPlayback() throws {
    let folder = try TemporaryFolder()
    let pipeline = try source(try media().write(to: folder))
    let element = try #require(pipeline.element("r"))
    try preroll(pipeline)
    var error: UnsafeMutablePointer<GError>?
    let isSet = gst_uri_handler_set_uri(OpaquePointer(element.raw), "reverse+file:///b.mkv", &error) != 0
    let (domain, code) = (error?.pointee.domain, error?.pointee.code)
    g_clear_error(&error)
    pipeline.set(.null)
    #expect(!isSet && domain == gst_uri_error_quark() && code == gint(GST_URI_ERROR_BAD_STATE.rawValue))
  }

  @Test("a score is played, and seeks in it work")
  func score() throws {
    let folder = try TemporaryFolder()
    let pipeline = try source(try media().write(to: folder), "score=\"0..0.4 x0.5, hold 0.2, 0.4..0\"")
    let video = try pipeline.appSink("video")
    pipeline.set(.playing)
    func rest() throws -> [Int: ClockTime] {
      var shown: [Int: ClockTime] = [:]
      while let sample = try pipeline.pull(video) { shown[try sample.number() + shown.count * 100] = sample.streamTime }
      return shown
    }
    let there = (0..<10).map { ($0 + $0 * 100, ms($0 * 80)) }
    let back = (0..<9).map { (8 - $0 + ($0 + 10) * 100, ms(1000 + $0 * 40)) }
    #expect(try rest() == Dictionary(uniqueKeysWithValues: there + back))
    // During a hold, the last frame that was played stays on the screen.
    #expect(pipeline.seek(to: ms(900)))
    let after = [(9, ms(900))] + (0..<9).map { (8 - $0 + ($0 + 1) * 100, ms(1000 + $0 * 40)) }
    #expect(try rest() == Dictionary(uniqueKeysWithValues: after))
    let backwards = gst_element_seek(
      pipeline.raw, -1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET, 900_000_000)
    #expect(backwards == 0, "speeds are followed forwards only")
    pipeline.set(.null)
  }

  @Test("an invalid score is an error")
  func invalidScore() throws {
    let folder = try TemporaryFolder()
    let pipeline = try source(try media().write(to: folder), "score=backwards")
    let video = try pipeline.appSink("video")
    pipeline.set(.playing)
    let error = #expect(throws: GStreamerError.self) { _ = try pipeline.pull(video) }
    #expect(error?.message.contains("score: step 1 (backwards)") ?? false, "\(error?.message ?? "")")
    pipeline.set(.null)
  }

  @Test(
    "each loop plays every frame and every sample in the order of the loop",
    arguments: ["reverse", "ping-pong", "reverse-forward", "forward"])
  func loops(loop: String) throws {
    let folder = try TemporaryFolder()
    let media = media()
    let pipeline = try source(try media.write(to: folder), "loop=\(loop)")
    let (video, audio) = (try pipeline.appSink("video"), try pipeline.appSink("audio"))
    pipeline.set(.playing)
    var numbers: [Int] = []
    var times: [ClockTime] = []
    while let sample = try pipeline.pull(video) {
      numbers.append(try sample.number())
      times.append(try #require(sample.streamTime))
    }
    var audioData: [UInt8] = []
    while let sample = try pipeline.pull(audio) { audioData += try sample.buffer.withBytes { Array($0) } }
    let there = Array(0..<60)
    let frames = [
      "reverse": there.reversed(), "ping-pong": there + there.dropLast().reversed(),
      "reverse-forward": there.reversed() + there.dropFirst(), "forward": there,
    ]
    #expect(numbers == frames[loop])
    #expect(times == numbers.indices.map { ms($0 * 40) })
    // A sample frame is two channels of 16 bits. Its four bytes stay together.
    let samples = media.audioBytes.withUnsafeBytes { Array($0.bindMemory(to: UInt32.self)) }
    let expectedAudio = [
      "reverse": samples.reversed(), "ping-pong": samples + samples.dropLast(1920).reversed(),
      "reverse-forward": samples.reversed() + samples.dropFirst(1920), "forward": samples,
    ]
    let isExact =
      try audioData.withUnsafeBytes { Array($0.bindMemory(to: UInt32.self)) } == #require(expectedAudio[loop])
    #expect(isExact)
  }

  @Test("seeks are exact, in any order")
  func exactSeeks() throws {
    let folder = try TemporaryFolder()
    let pipeline = try source(try media().write(to: folder))
    let (video, audio) = (try pipeline.appSink("video"), try pipeline.appSink("audio"))
    pipeline.set(.playing)
    _ = try pipeline.pull(video)
    var generator = SeededGenerator(40)
    for _ in 0..<40 {
      let place = Int.random(in: 0..<60, using: &generator)
      let inside = Int.random(in: 0..<40, using: &generator)
      #expect(pipeline.seek(to: ms(place * 40 + inside)))
      let frame = try #require(try pipeline.pull(video))
      #expect(try frame.number() == 59 - place)
      #expect(frame.streamTime == ms(place * 40 + inside))
      #expect(frame.buffer.duration == ms(40 - inside))
      let audioData = try #require(try pipeline.pull(audio))
      #expect(audioData.streamTime == ms(place * 40 + inside))
    }
  }

  @Test("many seeks in quick succession are handled")
  func manySeeks() throws {
    let folder = try TemporaryFolder()
    let pipeline = try source(try media().write(to: folder))
    let video = try pipeline.appSink("video")
    pipeline.set(.playing)
    _ = try pipeline.pull(video)
    for place in (0..<100).map({ $0 * 7 % 60 }) { #expect(pipeline.seek(to: ms(place * 40))) }
    #expect(pipeline.seek(to: ms(2000)))
    #expect(try #require(try pipeline.pull(video)).number() == 9)
  }

  @Test("a seek whose start is after its stop is refused, without a critical warning of GStreamer")
  func seekBehindStop() throws {
    final class Counter: Sendable { let count = Mutex(0) }
    let counter = Counter()
    let handler = g_log_set_handler(
      "GStreamer", G_LOG_LEVEL_CRITICAL,
      { domain, level, message, data in
        guard let data, message.map({ String(cString: $0) })?.contains("start <= stop") ?? false else {
          return g_log_default_handler(domain, level, message, nil)
        }
        Unmanaged<Counter>.fromOpaque(data).takeUnretainedValue().count.withLock { $0 += 1 }
      }, Unmanaged.passUnretained(counter).toOpaque())
    defer { g_log_remove_handler("GStreamer", handler) }
    let folder = try TemporaryFolder()
    let pipeline = try source(
      try media().write(to: folder),
      sinks: "r.video_0 ! videoconvert ! video/x-raw,format=GRAY8 ! appsink name=video sync=false")
    try preroll(pipeline)
    let (set, end, none) = (GST_SEEK_TYPE_SET, GST_SEEK_TYPE_END, GST_SEEK_TYPE_NONE)
    func seek(_ start: (GstSeekType, gint64), _ stop: (GstSeekType, gint64)) -> Bool {
      gst_element_seek(
        pipeline.raw, 1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, start.0, start.1, stop.0, stop.1) != 0
    }
    #expect(!seek((set, 600_000_000), (set, 400_000_000)))
    #expect(!seek((end, 0), (set, 400_000_000)))
    #expect(!seek((set, 600_000_000), (end, -1_000_000_000_000)))
    #expect(!seek((set, -5), (set, 400_000_000)))
    #expect(seek((set, 200_000_000), (set, 400_000_000)))
    #expect(!seek((set, 600_000_000), (none, 0)))
    #expect(!seek((none, 0), (set, 100_000_000)))
    #expect(seek((set, -1), (set, 400_000_000)))
    #expect(seek((set, 400_000_000), (set, -1)))
    #expect(counter.count.withLock { $0 } == 0)
  }

  @Test("playback ends at the stop position of a seek")
  func seekWithStop() throws {
    let folder = try TemporaryFolder()
    let pipeline = try source(
      try media().write(to: folder),
      sinks: "r.video_0 ! videoconvert ! video/x-raw,format=GRAY8 ! appsink name=video sync=false")
    let video = try pipeline.appSink("video")
    try preroll(pipeline)
    let flags = GstSeekFlags(GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue)
    #expect(
      gst_element_seek(
        pipeline.raw, 1, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, 400_000_000, GST_SEEK_TYPE_SET, 600_000_000) != 0)
    pipeline.set(.playing)
    var numbers: [Int] = []
    while let sample = try pipeline.pull(video) { numbers.append(try sample.number()) }
    #expect(numbers == [49, 48, 47, 46, 45])
  }

  @Test("the stop position of a seek ends an endless loop")
  func endlessLoopStop() throws {
    let folder = try TemporaryFolder()
    let pipeline = try source(
      try media().write(to: folder), "loop=ping-pong count=0",
      sinks: "r.video_0 ! videoconvert ! video/x-raw,format=GRAY8 ! appsink name=video sync=false")
    let video = try pipeline.appSink("video")
    try preroll(pipeline)
    let flags = GstSeekFlags(GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue)
    #expect(
      gst_element_seek(
        pipeline.raw, 1, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, 2_320_000_000, GST_SEEK_TYPE_SET, 2_480_000_000)
        != 0)
    pipeline.set(.playing)
    var numbers: [Int] = []
    while let sample = try pipeline.pull(video) { numbers.append(try sample.number()) }
    #expect(numbers == [58, 59, 58, 57])
  }

  @Test("a negative rate plays the same frames in reverse order", arguments: ["reverse", "ping-pong"])
  func negativeRate(loop: String) throws {
    let folder = try TemporaryFolder()
    let media = media()
    let pipeline = try source(try media.write(to: folder), "loop=\(loop)")
    let (video, audio) = (try pipeline.appSink("video"), try pipeline.appSink("audio"))
    pipeline.set(.playing)
    _ = try pipeline.pull(video)
    let flags = GstSeekFlags(GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue)
    #expect(
      gst_element_seek(pipeline.raw, -1, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET, 1_200_000_000)
        != 0)
    var numbers: [Int] = []
    var times: [ClockTime] = []
    while let sample = try pipeline.pull(video) {
      numbers.append(try sample.number())
      times.append(try #require(sample.buffer.pts))
    }
    #expect(numbers == (loop == "reverse" ? Array(30..<60) : Array((0..<30).reversed())))
    #expect(times == (0..<30).reversed().map { ms($0 * 40) })
    var parts: [[UInt32]] = []
    while let sample = try pipeline.pull(audio) {
      parts.append(try sample.buffer.withBytes { Array($0.bindMemory(to: UInt32.self)) })
    }
    // Buffers come in reverse order. The samples in each buffer are in the order of forward
    // playback, because a sink reverses them at negative rates.
    let samples = media.audioBytes.withUnsafeBytes { Array($0.bindMemory(to: UInt32.self)) }
    let expectedAudio = loop == "reverse" ? Array(samples.suffix(57600).reversed()) : Array(samples.prefix(57600))
    let isExact = Array(parts.reversed().joined()) == expectedAudio
    #expect(isExact)
  }

  @Test("a seek with the SEGMENT flag ends with SEGMENT_DONE")
  func segmentSeek() throws {
    let folder = try TemporaryFolder()
    let pipeline = try source(
      try media().write(to: folder), sinks: "r.video_0 ! fakesink name=video r.audio_0 ! queue ! fakesink")
    try preroll(pipeline)
    let flags = GstSeekFlags(GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_SEGMENT.rawValue)
    #expect(
      gst_element_seek(
        pipeline.raw, 1, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET, 200_000_000) != 0)
    pipeline.set(.playing)
    let bus = try #require(gst_element_get_bus(pipeline.raw))
    defer { gst_object_unref(bus) }
    let wanted = GstMessageType(
      GST_MESSAGE_SEGMENT_DONE.rawValue | GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
    let message = try #require(gst_bus_timed_pop_filtered(bus, 20_000_000_000, wanted))
    #expect(message.pointee.type == GST_MESSAGE_SEGMENT_DONE)
    gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self))
  }

  @Test("duration and seeking queries are answered")
  func queries() throws {
    let folder = try TemporaryFolder()
    let pipeline = try source(try media().write(to: folder))
    pipeline.set(.playing)
    _ = try pipeline.pull(try pipeline.appSink("video"))
    #expect(pipeline.duration == ms(2400))
    let query = try #require(gst_query_new_seeking(GST_FORMAT_TIME))
    defer { gst_mini_object_unref(UnsafeMutableRawPointer(query).assumingMemoryBound(to: GstMiniObject.self)) }
    #expect(gst_element_query(pipeline.raw, query) != 0)
    var (isSeekable, end): (gboolean, gint64) = (0, 0)
    gst_query_parse_seeking(query, nil, &isSeekable, nil, &end)
    #expect(isSeekable != 0 && end == 2_400_000_000)
  }

  @Test("an unlinked pad does not block the other pad")
  func unlinkedPad() throws {
    let folder = try TemporaryFolder()
    let pipeline = try source(
      try media().write(to: folder), sinks: "r.audio_0 ! appsink name=audio sync=false async=false")
    pipeline.set(.playing)
    let audio = try pipeline.appSink("audio")
    var count = 0
    while let sample = try pipeline.pull(audio) { count += sample.buffer.size }
    #expect(count == 60 * 1920 * 4)
  }

  @Test("the element can be stopped at any moment")
  func stops() throws {
    let folder = try TemporaryFolder()
    let path = try media().write(to: folder)
    for round in 0..<30 {
      let pipeline = try source(path)
      pipeline.set(.playing)
      // Stops at once, during indexing, or after the first frame.
      if round % 3 > 0 { _ = try pipeline.pull(try pipeline.appSink("video")) }
      #expect(pipeline.set(round % 2 == 0 ? .ready : .null))
      // The run has left no pad, and posted no error.
      #expect(try #require(pipeline.element("r")).raw.pointee.numsrcpads == 0)
      #expect(pipeline.nextMessage(timeout: .zero) { if case .failed = $0 { true } else { false } } == nil)
    }
  }

  @Test(
    "a missing file and an unsupported URI are errors",
    arguments: [
      ("", GST_RESOURCE_ERROR_NOT_FOUND), ("uri=file:///does/not/exist.mp4", GST_RESOURCE_ERROR_NOT_FOUND),
      ("uri=http://example.com/a.mp4", GST_RESOURCE_ERROR_NOT_FOUND),
    ])
  func unplayable(properties: String, code: GstResourceError) throws {
    let pipeline = try pipeline("reversesrc \(properties) ! fakesink")
    pipeline.set(.playing)
    let bus = try #require(gst_element_get_bus(pipeline.raw))
    defer { gst_object_unref(bus) }
    let message = try #require(gst_bus_timed_pop_filtered(bus, 20_000_000_000, GST_MESSAGE_ERROR))
    defer { gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self)) }
    var parsed: UnsafeMutablePointer<GError>?
    gst_message_parse_error(message, &parsed, nil)
    let error = try #require(parsed)
    defer { g_error_free(error) }
    #expect(error.pointee.domain == gst_resource_error_quark())
    #expect(error.pointee.code == gint(code.rawValue))
  }

  @Test("an endless loop continues and has no duration")
  func endlessLoop() throws {
    let folder = try TemporaryFolder()
    let pipeline = try source(try media().write(to: folder), "loop=ping-pong count=0")
    let video = try pipeline.appSink("video")
    let audio = try pipeline.appSink("audio")
    pipeline.set(.playing)
    let there = Array(0..<60)
    let round = Array(there.dropFirst()) + there.dropLast().reversed()
    let expected = [0] + round + round + round
    for (index, wanted) in expected.enumerated() {
      let sample = try #require(try pipeline.pull(video))
      #expect(try sample.number() == wanted)
      #expect(sample.streamTime == ms(index * 40))
      // Drains the audio, because its appsink would otherwise collect all of it.
      while audio.pull(timeout: .zero) != nil {}
    }
    #expect(pipeline.duration == nil)
  }
}

/// GStreamer's requirements for a source element.
@Suite struct GuestSourceTests {
  private func play(_ description: String) throws -> Pipeline {
    let pipeline = try pipeline(description)
    pipeline.set(.paused)
    try #require(gst_element_get_state(pipeline.raw, nil, nil, 20_000_000_000) == GST_STATE_CHANGE_SUCCESS)
    return pipeline
  }

  private func seek(_ rate: Double, _ flags: GstSeekFlags) -> UnsafeMutablePointer<GstEvent>? {
    gst_event_new_seek(rate, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_NONE, 0, GST_SEEK_TYPE_NONE, 0)
  }

  @Test("a rate changes instantly, unless the direction changes")
  func instantRate() throws {
    let folder = try TemporaryFolder()
    let pipeline = try play("reversesrc uri=file://\(try TestMedia.matroska.write(to: folder)) ! fakesink name=s")
    let sink = try pipeline.pad("s", "sink")
    let log = EventLog(sink)
    let event = try #require(seek(2, GST_SEEK_FLAG_INSTANT_RATE_CHANGE))
    let number = gst_event_get_seqnum(event)
    let source = try #require(gst_pad_get_peer(sink))
    defer { gst_object_unref(source) }
    #expect(gst_pad_send_event(source, event) != 0)
    let changes = log.all(GST_EVENT_INSTANT_RATE_CHANGE)
    #expect(changes.map(\.multiplier) == [2] && changes.map(\.number) == [number])
    #expect(gst_pad_send_event(source, seek(-1, GST_SEEK_FLAG_INSTANT_RATE_CHANGE)) == 0)
    #expect(log.all(GST_EVENT_SEGMENT).isEmpty, "nothing is played again")
  }

  /// Seeks without a flush, and in PAUSED, so nothing is played after the first seek.
  @Test("a seek that replaces an unplayed seek takes no running time")
  func unplayedSeek() throws {
    let folder = try TemporaryFolder()
    let pipeline = try play("reversesrc uri=file://\(try TestMedia.matroska.write(to: folder)) ! fakesink name=s")
    let log = EventLog(try pipeline.pad("s", "sink"))
    for rate in [-1.0, 1.0] {
      let isTaken = gst_element_seek(
        pipeline.raw, rate, GST_FORMAT_TIME, GST_SEEK_FLAG_ACCURATE, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET,
        2_000_000_000)
      #expect(isTaken != 0)
    }
    pipeline.set(.playing)
    let end = pipeline.nextMessage(timeout: ClockTime(seconds: 20)) {
      if case .endOfStream = $0 { true } else { false }
    }
    #expect(end != nil)
    // `base` may be above 0, because two frames that are on their way to the sink are played first.
    let base = try #require(log.all(GST_EVENT_SEGMENT).last?.base)
    #expect(base < 100_000_000)
  }

  /// A bin sends a seek to each of its sinks, so reversesrc gets the same seek once for each sink.
  @Test("a seek that arrives through two sinks is done once")
  func duplicateSeek() throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.sampleCount = 96_000
    let pipeline = try play(
      "reversesrc name=r uri=file://\(try media.write(to: folder)) r.video_0 ! queue ! fakesink name=v "
        + "r.audio_0 ! queue ! fakesink name=a")
    let log = EventLog(try pipeline.pad("v", "sink"))
    let event = try #require(seek(2, GST_SEEK_FLAG_FLUSH))
    for sink in ["v", "a"] {
      let source = try #require(gst_pad_get_peer(try pipeline.pad(sink, "sink")))
      #expect(gst_pad_send_event(source, gst_event_ref(event)) != 0)
      gst_object_unref(source)
      #expect(gst_element_get_state(pipeline.raw, nil, nil, 20_000_000_000) == GST_STATE_CHANGE_SUCCESS)
    }
    gst_event_unref(event)
    pipeline.set(.playing)
    let end = pipeline.nextMessage(timeout: ClockTime(seconds: 20)) {
      if case .endOfStream = $0 { true } else { false }
    }
    #expect(end != nil)
    #expect(log.all(GST_EVENT_SEGMENT).count == 1)
  }

  @Test("in trick mode without audio, the audio pad sends a gap")
  func trickModeGap() throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.sampleCount = 96_000
    let pipeline = try play(
      "reversesrc name=r uri=file://\(try media.write(to: folder)) r.video_0 ! fakesink r.audio_0 ! queue ! fakesink name=s"
    )
    let pad = try #require(pipeline.element("s")?.staticPad("sink"))
    let log = EventLog(try pipeline.pad("s", "sink"))
    let flags = GstSeekFlags(
      GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_TRICKMODE.rawValue | GST_SEEK_FLAG_TRICKMODE_NO_AUDIO.rawValue)
    #expect(gst_element_seek(pipeline.raw, 8, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, 0) != 0)
    pad.onBuffer { _ in
      Issue.record("there is audio")
      return nil
    }
    pipeline.set(.playing)
    let end = pipeline.nextMessage(timeout: ClockTime(seconds: 20)) {
      if case .endOfStream = $0 { true } else { false }
    }
    #expect(end != nil)
    #expect(log.all(GST_EVENT_GAP).count == 1)
    let segment = try #require(log.all(GST_EVENT_SEGMENT).last)
    #expect(log.all(GST_EVENT_EOS).map(\.number) == [segment.number])
  }

  /// An H.264 decoder pads its frames to whole macroblocks. A sink without GstVideoMeta can't know
  /// about this padding.
  @Test("a sink without GstVideoMeta gets the default layout")
  func defaultLayout() throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    (media.width, media.height) = (100, 66)
    let pipeline = try pipeline(
      "reversesrc uri=file://\(try media.write(to: folder)) ! video/x-raw ! appsink name=out sync=false")
    pipeline.set(.playing)
    let sample = try #require(try pipeline.appSink("out").pull(timeout: ClockTime(seconds: 20)))
    #expect(sample.buffer.size == sample.caps?.frameSize)
  }

  @Test("progress of indexing is posted as GStreamer's progress messages")
  func indexProgress() throws {
    let folder = try TemporaryFolder()
    let pipeline = try play("reversesrc uri=file://\(try TestMedia.matroska.write(to: folder)) ! fakesink")
    let messages = try progress(of: pipeline)
    #expect(messages.allSatisfy { $0.code == "index" })
    #expect(messages.first?.type == 0 && messages.last?.type == 2)
    #expect(messages.dropFirst().dropLast().allSatisfy { $0.type == 1 })
    pipeline.set(.null)
  }

  @Test("an endless loop is seekable and has no end")
  func endlessLoop() throws {
    let folder = try TemporaryFolder()
    let pipeline = try play(
      "reversesrc uri=file://\(try TestMedia.matroska.write(to: folder)) loop=ping-pong count=0 ! fakesink")
    let query = try #require(gst_query_new_seeking(GST_FORMAT_TIME))
    defer { gst_mini_object_unref(UnsafeMutableRawPointer(query).assumingMemoryBound(to: GstMiniObject.self)) }
    #expect(gst_element_query(pipeline.raw, query) != 0)
    var (isSeekable, end): (gboolean, gint64) = (0, 0)
    gst_query_parse_seeking(query, nil, &isSeekable, nil, &end)
    #expect(isSeekable != 0 && end == -1)
    #expect(pipeline.duration == nil)
  }

  /// The two halves of the source differ in colorimetry, which only decoding shows. The first half
  /// is decoded last, so the warning comes at the end.
  @Test("a problem that is found only by decoding is a warning at the end")
  func lateWarning() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("c.h264")
    let halves = try ["bt709", "bt601"].flatMap { colorimetry in
      try DecodedMedia.buffers(
        of: "videotestsrc num-buffers=12 ! video/x-raw,format=I420,width=96,height=64,framerate=25/1,"
          + "colorimetry=\(colorimetry) ! x264enc bframes=0 key-int-max=4 ! video/x-h264,stream-format=byte-stream")
    }
    try Data(halves.joined()).write(to: URL(fileURLWithPath: path))
    let pipeline = try pipeline("reversesrc uri=file://\(path) memory-budget=60000 ! fakesink")
    pipeline.set(.playing)
    let bus = try #require(gst_element_get_bus(pipeline.raw))
    defer { gst_object_unref(bus) }
    let wanted = GstMessageType(GST_MESSAGE_WARNING.rawValue | GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
    let message = try #require(gst_bus_timed_pop_filtered(bus, 20_000_000_000, wanted))
    defer { gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self)) }
    #expect(message.pointee.type == GST_MESSAGE_WARNING)
  }
}
