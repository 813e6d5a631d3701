import Foundation
import GStreamer
import MediaTime
import Synchronization
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Cancelling never waits for a pipeline, because the caller may be the main actor. The thread that
/// runs the pipeline stops it.
@Suite(.timeLimit(.minutes(10))) struct CancellationTests {
  /// Blocks a GStreamer streaming thread. Until the gate opens, the pipeline can't be stopped.
  private final class Gate: Sendable {
    private let reached = Handoff<Void>()
    private let opened = Handoff<Void>()

    func pass() {
      if reached.give(()) { _ = try? opened.take() }
    }

    /// Waits until a thread is blocked.
    func waitForThread() throws { _ = try reached.take() }

    func open() {
      reached.close()
      opened.close()
    }
  }

  @Test("cancelling does not wait for the decoder")
  func blockedDecoder() throws {
    let gate = Gate()
    let recipe = DecodingRecipe(
      pipeline: "videotestsrc ! video/x-raw,width=16,height=16 ! identity name=held ! appsink name=video sync=false",
      sink: "video", source: "held"
    ) { pipeline in pipeline.element("held")?.staticPad("src")?.watchBuffers { _, _ in gate.pass() } }
    let cancellation = Cancellation()
    let decoder = try Worker("decoder") {
      let decoder = try VideoDecoder(recipe, FormatChanges(), cancellation)
      while try decoder.next(cancellation) != nil {}
    }
    try gate.waitForThread()
    cancellation.cancel()
    gate.open()
    #expect(throws: CancellationError.self) { try decoder.join() }
  }

  @Test("cancelling does not wait for the encoder")
  func blockedEncoder() throws {
    let gate = Gate()
    let cancellation = Cancellation()
    let writer = try writer("identity name=held ! fakesink", cancellation) { pipeline in
      pipeline.element("held")?.staticPad("src")?.watchBuffers { _, _ in gate.pass() }
    }
    try writer.start()
    defer { writer.close() }
    let pusher = try Worker("pusher") { try push(to: writer) }
    try gate.waitForThread()
    cancellation.cancel()
    gate.open()
    #expect(throws: CancellationError.self) { try pusher.join() }
  }

  /// Nothing pulls from the appsink.
  @Test("cancelling wakes a pusher blocked by a full encoder")
  func cancelledPusher() throws {
    let cancellation = Cancellation()
    let writer = try writer("appsink name=full max-buffers=1 sync=false", cancellation) { _ in }
    try writer.start()
    defer { writer.close() }
    let pusher = try Worker("pusher") { try push(to: writer) }
    cancellation.cancel()
    #expect(throws: CancellationError.self) { try pusher.join() }
  }

  /// One stream has failed. The other stream is blocked by an encoder that waits for the failed
  /// stream.
  @Test("aborting wakes a pusher blocked by a full encoder")
  func abortedPusher() throws {
    let writer = try writer("appsink name=full max-buffers=1 sync=false", Cancellation()) { _ in }
    try writer.start()
    defer { writer.close() }
    let pusher = try Worker("pusher") { try push(to: writer) }
    writer.abort()
    #expect(throws: CancellationError.self) { try pusher.join() }
  }

  /// The palette of a GIF needs all frames, so the writer starts to write only after the last frame
  /// has arrived.
  @Test("cancelling ends the writing of a GIF")
  func lastGIFPass() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("out.gif")
    try #require(mkfifo(path, 0o600) == 0)
    // Nothing reads from the pipe yet, so the writer blocks when the pipe is full.
    let output = open(path, O_RDONLY | O_NONBLOCK)
    defer { close(output) }
    let caps = try #require(Caps("video/x-raw,format=RGBA,width=200,height=200,framerate=25/1"))
    let cancellation = Cancellation()
    let writer = try EncodingPipeline(
      EncodingPipeline.Contents(
        description: "appsrc name=video format=time block=true max-buffers=1 ! appsink name=frames sync=false",
        videos: [.init(name: "video", caps: caps)], audio: [],
        animation: (.gif, AnimationSettings(EncodingOptions(), spoolDirectory: Resources.temporaryDirectory)),
        prepare: { _ in path }), for: "out.gif", cancellation)
    try writer.start()
    defer { writer.close() }
    let source = try #require(writer.videos.first)
    let count = 40
    var noise = SplitMix(state: 1)
    for number in 0..<count {
      let frame = try Buffer(size: 200 * 200 * 4) { bytes in
        for place in bytes.indices { bytes[place] = place % 4 == 3 ? 255 : UInt8.random(in: 0...255, using: &noise) }
      }
      frame.stamp(
        pts: ClockTime(nanoseconds: Int64(number) * 40_000_000), duration: ClockTime(nanoseconds: 40_000_000))
      try writer.push(frame, to: source)
    }
    writer.end(source)
    var readable = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    try #require(poll(&readable, 1, -1) == 1)
    cancellation.cancel()
    var written = 0
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    while poll(&readable, 1, -1) == 1 {
      let count = read(output, &bytes, bytes.count)
      if count <= 0 { break }
      written += count
    }
    // Without the cancellation, frames of noise would take more than one byte per pixel, four
    // times this limit.
    #expect(written < count * 200 * 200 / 4)
  }

  private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
      return mixed ^ (mixed >> 31)
    }
  }

  private func writer(
    _ tail: String, _ cancellation: Cancellation, _ prepare: @escaping @Sendable (Pipeline) -> Void
  ) throws -> EncodingPipeline {
    let caps = try #require(Caps("video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1"))
    return try EncodingPipeline(
      EncodingPipeline.Contents(
        description: "appsrc name=video format=time block=true max-buffers=1 ! \(tail)",
        videos: [.init(name: "video", caps: caps)], audio: [],
        prepare: { pipeline in
          prepare(pipeline)
          return ""
        }), for: "nothing", cancellation)
  }

  /// Pushes frames until an error.
  private func push(to writer: EncodingPipeline) throws {
    while let source = writer.videos.first {
      try writer.push(try Buffer(size: 256) { $0.initializeMemory(as: UInt8.self, repeating: 0) }, to: source)
    }
  }
}
