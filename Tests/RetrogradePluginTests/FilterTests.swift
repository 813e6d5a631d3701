import CGStreamer
import Foundation
import GStreamer
import MediaTime
import Synchronization
import Testing

@testable import RetrogradePlugin

@Suite struct VideoReverseTests {
  @Test("frames come out in reverse order at any memory budget", arguments: [1 << 20, 256 * 5, 0])
  func frameOrder(budget: Int) throws {
    let exchange = try Exchange("videoreverse memory-budget=\(budget)", caps: grey)
    for number in 0..<300 { _ = exchange.source.push(try Exchange.frame(number, ms(number * 40), ms(40))) }
    exchange.source.endOfStream()
    let output = try exchange.drain()
    #expect(output.numbers == (0..<300).reversed())
    #expect(output.times == (0..<300).map { ms($0 * 40) })
    #expect(output.durations.allSatisfy { $0 == ms(40) })
    let expected = try (0..<300).reversed().flatMap { number in
      try Exchange.frame(number, nil, nil).withBytes { Array($0) }
    }
    let isWhole = output.bytes == expected
    #expect(isWhole, "spooled pixels are unchanged")
  }

  @Test("variable frame durations are reversed")
  func variableRate() throws {
    let starts = [0, 10, 50, 60, 200, 240]
    let exchange = try Exchange("videoreverse", caps: grey.replacing("25/1", with: "0/1"))
    for (number, start) in starts.enumerated() {
      _ = exchange.source.push(try Exchange.frame(number, ms(start), number == 5 ? ms(60) : nil))
    }
    exchange.source.endOfStream()
    let output = try exchange.drain()
    #expect(output.numbers == [5, 4, 3, 2, 1, 0])
    #expect(output.times == [0, 60, 100, 240, 250, 290].map { ms($0) })
  }

  @Test("a ping-pong plays forwards without delay, and does not repeat the frame at the turn")
  func pingPong() throws {
    let exchange = try Exchange("videoreverse loop=ping-pong memory-budget=600", caps: grey)
    for number in 0..<3 { _ = exchange.source.push(try Exchange.frame(number, ms(number * 40), ms(40))) }
    for number in 0..<3 {
      let sample = try #require(exchange.sink.pull(timeout: ClockTime(seconds: 5)), "the forward half does not wait")
      #expect(sample.buffer.pts == ms(number * 40))
    }
    exchange.source.endOfStream()
    let back = try exchange.drain()
    #expect(back.numbers == [1, 0])
    #expect(back.times == [120, 160].map { ms($0) })
  }

  @Test("the field order is reversed")
  func fieldOrder() throws {
    let caps = grey + ",interlace-mode=interleaved,field-order=top-field-first"
    let exchange = try Exchange("videoreverse", caps: caps)
    let frame = try Exchange.frame(0, ms(0), ms(40))
    UnsafeMutableRawPointer(frame.raw).assumingMemoryBound(to: GstMiniObject.self).pointee.flags |=
      GST_VIDEO_BUFFER_FLAG_INTERLACED.rawValue | GST_VIDEO_BUFFER_FLAG_TFF.rawValue
    _ = exchange.source.push(frame)
    exchange.source.endOfStream()
    let output = try exchange.drain()
    #expect(output.isInterlacedTop == [false])
    #expect(output.caps.first?.string("field-order") == "bottom-field-first")
  }

  @Test("frames with changing caps come out in reverse order")
  func changingCaps() throws {
    let exchange = try Exchange("videoreverse", caps: grey)
    let other = grey.replacing("height=16", with: "height=8").replacing("width=16", with: "width=32")
    for number in 0..<4 {
      if number == 2 { exchange.source.setCaps(try #require(Caps(other))) }
      _ = exchange.source.push(try Exchange.frame(number, ms(number * 40), ms(40)))
    }
    exchange.source.endOfStream()
    let output = try exchange.drain()
    #expect(output.numbers == [3, 2, 1, 0])
    #expect(output.caps.map { $0.int("height") } == [8, 8, 16, 16])
  }

  @Test("buffers without timestamps are reversed by their order")
  func untimedBuffers() throws {
    let exchange = try Exchange("videoreverse", caps: grey)
    for number in 0..<5 { _ = exchange.source.push(try Exchange.frame(number, nil, nil)) }
    exchange.source.endOfStream()
    #expect(try exchange.drain().numbers == [4, 3, 2, 1, 0])
  }

  @Test("a filter passes on an end of stream that arrives before any data")
  func emptyStream() throws {
    for element in ["videoreverse", "videoreverse loop=ping-pong"] {
      let exchange = try Exchange(element, caps: grey)
      exchange.source.endOfStream()
      #expect(try exchange.drain().numbers.isEmpty)
    }
  }

  /// The video is shorter than the audio. Both streams are reversed around the end of the file, not
  /// each around its own end.
  @Test("video and audio of one file stay in sync")
  func audioVideoSync() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "retrograde-\(UUID().uuidString).mkv")
    defer { try? FileManager.default.removeItem(at: folder) }
    let write = try pipeline(
      "matroskamux name=m ! filesink location=\(folder.path) "
        + "videotestsrc num-buffers=25 ! video/x-raw,width=32,height=32,framerate=25/1 ! avenc_ffv1 ! m. "
        + "audiotestsrc num-buffers=15 samplesperbuffer=4800 ! audio/x-raw,rate=48000,channels=1 ! flacenc ! m.")
    write.set(.playing)
    while let message = write.nextMessage(timeout: ClockTime(seconds: 20)) {
      if case .endOfStream = message { break }
      if case .failed(let error) = message { throw error }
    }
    write.set(.null)
    let read = try pipeline(
      "filesrc location=\(folder.path) ! matroskademux name=d d.video_0 ! avdec_ffv1 ! videoreverse ! "
        + "appsink name=video sync=false async=false wait-on-eos=false d.audio_0 ! queue max-size-time=0 max-size-bytes=0 max-size-buffers=0 ! "
        + "flacparse ! flacdec ! audioreverse ! appsink name=audio sync=false async=false")
    read.set(.playing)
    let video = try #require(try read.appSink("video").pull(timeout: ClockTime(seconds: 20)))
    let audio = try #require(try read.appSink("audio").pull(timeout: ClockTime(seconds: 20)))
    // The source's video ends at 1 s, its audio at 1.5 s. The source's last frame comes first in
    // the output, and is also shown during the half second that has only audio.
    #expect(video.buffer.pts == .zero)
    #expect(video.buffer.duration == ms(540))
    #expect(audio.buffer.pts == .zero)
  }
}

@Suite struct AudioReverseTests {
  /// Returns the bytes of `count` sample frames. The bytes depend on their positions.
  private func audio(_ count: Int, _ size: Int) -> [UInt8] {
    (0..<count * size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
  }

  private func backwards(_ bytes: [UInt8], _ size: Int) -> [UInt8] {
    stride(from: bytes.count - size, through: 0, by: -size).flatMap { bytes[$0..<$0 + size] }
  }

  @Test(
    "sample frames come out in reverse order",
    arguments: [("U8", 1, 1), ("S16LE", 2, 2), ("S24LE", 3, 2), ("F32LE", 4, 6), ("F64BE", 8, 1)])
  func sampleFrames(format: String, width: Int, channels: Int) throws {
    let mask = channels > 2 ? ",channel-mask=(bitmask)0x3f" : ""
    let caps = "audio/x-raw,format=\(format),layout=interleaved,rate=8000,channels=\(channels)\(mask)"
    let exchange = try Exchange("audioreverse memory-budget=5000", caps: caps)
    let size = width * channels
    let bytes = audio(8000, size)
    var position = 0
    for count in [1, 999, 400, 3000, 3600] {
      let buffer = try Buffer(size: count * size) {
        $0.copyBytes(from: bytes[position * size..<(position + count) * size])
      }
      buffer.stamp(
        pts: ClockTime(sampleIndex: position, rate: 8000), duration: ClockTime(sampleIndex: count, rate: 8000))
      _ = exchange.source.push(buffer)
      position += count
    }
    exchange.source.endOfStream()
    let output = try exchange.drain()
    let isExact = output.bytes == backwards(bytes, size)
    #expect(isExact)
    #expect(output.times.first == .zero)
    #expect(
      zip(zip(output.times, output.durations), output.times.dropFirst()).allSatisfy {
        abs(($0.0 + $0.1 - $1).nanoseconds) < 2
      })
  }

  @Test("each plane of non-interleaved audio is reversed")
  func planes() throws {
    let source = "audio/x-raw,format=S16LE,layout=interleaved,rate=8000,channels=2"
    let exchange = try Exchange(
      "audioreverse", caps: source, before: "! audioconvert ! audio/x-raw,layout=non-interleaved ",
      after: "audioconvert ! audio/x-raw,layout=interleaved ! ")
    let bytes = audio(2000, 4)
    for part in 0..<4 {
      let buffer = try Buffer(size: 2000) { $0.copyBytes(from: bytes[part * 2000..<(part + 1) * 2000]) }
      buffer.stamp(
        pts: ClockTime(sampleIndex: part * 500, rate: 8000), duration: ClockTime(sampleIndex: 500, rate: 8000))
      _ = exchange.source.push(buffer)
    }
    exchange.source.endOfStream()
    let isExact = try exchange.drain().bytes == backwards(bytes, 4)
    #expect(isExact)
  }

  @Test("a ping-pong of audio skips the duration of the frame at the turn")
  func pingPong() throws {
    let exchange = try Exchange(
      "audioreverse loop=ping-pong turn-duration=40000000",
      caps: "audio/x-raw,format=S16LE,layout=interleaved,rate=8000,channels=1")
    let bytes = audio(1600, 2)
    let buffer = try Buffer(size: bytes.count) { $0.copyBytes(from: bytes) }
    buffer.stamp(pts: .zero, duration: ms(200))
    _ = exchange.source.push(buffer)
    exchange.source.endOfStream()
    let isExact = try exchange.drain().bytes == bytes + backwards(Array(bytes.dropLast(640)), 2)
    #expect(isExact)
  }

  @Test("a gap moves to its reversed position")
  func gap() throws {
    let exchange = try Exchange(
      "audioreverse", caps: "audio/x-raw,format=S16LE,layout=interleaved,rate=8000,channels=1")
    for start in [0, 1000] {
      let buffer = try Buffer(size: 1600) { $0.initializeMemory(as: UInt8.self, repeating: 1) }
      buffer.stamp(pts: ms(start), duration: ms(100))
      _ = exchange.source.push(buffer)
    }
    exchange.source.endOfStream()
    #expect(try exchange.drain().times == [ms(0), ms(1000)])
  }
}

/// Situations that a filter must handle in any pipeline.
@Suite struct FilterScenarioTests {
  static let filters = [
    (
      "videotestsrc num-buffers=50 ! video/x-raw,format=I420,width=64,height=48 ! videoreverse memory-budget=50000 ! fakesink name=s",
      50 * 64 * 48 * 3 / 2
    ),
    (
      "audiotestsrc num-buffers=50 ! audio/x-raw,format=S16LE,channels=1 ! audioreverse memory-budget=50000 ! fakesink name=s",
      50 * 1024 * 2
    ),
    (
      "videotestsrc num-buffers=50 ! video/x-raw,format=I420,width=64,height=48 ! videoreverse loop=ping-pong ! videoreverse ! fakesink name=s",
      99 * 64 * 48 * 3 / 2
    ),
  ]

  @Test("a filter outputs everything after a hundred state changes", arguments: filters)
  func stateChanges(description: String, size: Int) throws {
    let pipeline = try pipeline(description)
    for round in 0..<100 {
      let goal: [Pipeline.State] = [.ready, .paused, .playing]
      pipeline.set(goal[round % 3])
      pipeline.set(round % 2 == 0 ? .ready : .null)
    }
    #expect(try bytesUntilTheEnd(of: pipeline) == size)
  }

  @Test("a filter outputs everything after it was stopped midway", arguments: filters)
  func stoppedMidway(description: String, size: Int) throws {
    let pipeline = try pipeline(description)
    for _ in 0..<3 {
      pipeline.set(.playing)
      pipeline.set(.null)
    }
    #expect(try bytesUntilTheEnd(of: pipeline) == size)
  }

  /// Plays the pipeline to its end, and returns the number of bytes that reach the sink `s`.
  private func bytesUntilTheEnd(of pipeline: Pipeline) throws -> Int {
    pipeline.set(.null)
    let count = Counter()
    try #require(pipeline.element("s")?.staticPad("sink")).onBuffer { buffer in
      count.add(buffer.size)
      return nil
    }
    pipeline.set(.playing)
    let message = try #require(
      pipeline.nextMessage(
        timeout: ClockTime(seconds: 20), where: { if case .endOfStream = $0 { true } else { false } }))
    if case .failed(let error) = message { throw error }
    return count.value
  }

  /// Thread-safe sum, because a GStreamer thread adds the sizes of buffers.
  private final class Counter: Sendable {
    private let state = Mutex(0)
    func add(_ more: Int) { state.withLock { $0 += more } }
    var value: Int { state.withLock { $0 } }
  }

  @Test("an error downstream ends the pipeline")
  func downstreamError() throws {
    let pipeline = try pipeline(
      "videotestsrc num-buffers=20 ! video/x-raw,width=64,height=48 ! videoreverse ! identity error-after=3 ! fakesink")
    pipeline.set(.playing)
    let message = pipeline.nextMessage(timeout: ClockTime(seconds: 20)) {
      if case .failed = $0 { true } else { false }
    }
    #expect(message != nil)
  }

  @Test("a filter without a downstream peer fails")
  func unlinkedFilter() throws {
    let pipeline = try pipeline("videotestsrc num-buffers=5 ! video/x-raw,width=64,height=48 ! videoreverse")
    pipeline.set(.playing)
    let message = pipeline.nextMessage(timeout: ClockTime(seconds: 20)) {
      if case .failed = $0 { true } else { false }
    }
    #expect(message != nil)
  }
}

extension Pipeline {
  /// Returns the next message that is an error or that `isWanted` accepts; nil after `timeout`
  /// without a message.
  func nextMessage(timeout: ClockTime, where isWanted: (BusMessage) -> Bool) -> BusMessage? {
    while let message = nextMessage(timeout: timeout) {
      if isWanted(message) { return message }
      if case .failed = message { return message }
    }
    return nil
  }
}

@Suite struct FilterSeekTests {
  /// A filter counts positions in the reversed stream from the end of the source.
  @Test("seeks in the reversed stream become seeks in the source")
  func seeks() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "retrograde-\(UUID().uuidString).mkv")
    defer { try? FileManager.default.removeItem(at: folder) }
    let write = try pipeline(
      "appsrc name=in format=time ! avenc_ffv1 ! matroskamux ! filesink location=\(folder.path)")
    let source = try write.appSource("in")
    source.setCaps(try #require(Caps(grey)))
    write.set(.playing)
    for number in 0..<50 { _ = source.push(try Exchange.frame(number, ms(number * 40), ms(40))) }
    source.endOfStream()
    _ = write.nextMessage(timeout: ClockTime(seconds: 20)) { if case .endOfStream = $0 { true } else { false } }
    write.set(.null)

    let read = try pipeline(
      "filesrc location=\(folder.path) ! matroskademux ! avdec_ffv1 ! videoreverse ! "
        + "appsink name=out sync=false async=false wait-on-eos=false")
    let sink = try read.appSink("out")
    read.set(.playing)
    let first = try #require(sink.pull(timeout: ClockTime(seconds: 20)))
    #expect(try first.buffer.withBytes { $0[0] } == 49)
    for place in [10, 30, 0, 49] {
      #expect(read.seek(to: ms(place * 40)))
      let frame = try #require(sink.pull(timeout: ClockTime(seconds: 20)))
      #expect(try frame.buffer.withBytes { Int($0[0]) } == 49 - place)
      #expect(frame.streamTime == ms(place * 40))
    }
  }
}
