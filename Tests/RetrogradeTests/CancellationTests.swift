import GStreamer
import Synchronization
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Whoever cancels, perhaps the main actor, waits for no pipeline: the thread that runs it takes it down.
@Suite(.timeLimit(.minutes(1))) struct CancellationTests {
  /// Holds a streaming thread of GStreamer's. Until it is opened, no pipeline that it stands in can be stopped.
  private final class Gate: Sendable {
    private let reached = Handoff<Void>()
    private let opened = Handoff<Void>()

    func pass() {
      if reached.give(()) { _ = try? opened.take() }
    }

    /// Waits until a thread stands before it.
    func waitForThread() throws { _ = try reached.take() }

    func open() {
      reached.close()
      opened.close()
    }
  }

  @Test func cancellingDoesNotWaitForTheDecoder() throws {
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

  @Test func cancellingDoesNotWaitForTheEncoder() throws {
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

  /// Nobody takes what comes out of the pipeline.
  @Test func whoWaitsForAFullEncoderIsWoken() throws {
    let cancellation = Cancellation()
    let writer = try writer("appsink name=full max-buffers=1 sync=false", cancellation) { _ in }
    try writer.start()
    defer { writer.close() }
    let pusher = try Worker("pusher") { try push(to: writer) }
    cancellation.cancel()
    #expect(throws: CancellationError.self) { try pusher.join() }
  }

  /// One stream fails, and the other waits for an encoder that waits for the first.
  @Test func whoWaitsForAFullEncoderIsWokenWhenTheWritingIsAborted() throws {
    let writer = try writer("appsink name=full max-buffers=1 sync=false", Cancellation()) { _ in }
    try writer.start()
    defer { writer.close() }
    let pusher = try Worker("pusher") { try push(to: writer) }
    writer.abort()
    #expect(throws: CancellationError.self) { try pusher.join() }
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

  /// Pushes without end.
  private func push(to writer: EncodingPipeline) throws {
    while let source = writer.videos.first {
      try writer.push(try Buffer(size: 256) { $0.initializeMemory(as: UInt8.self, repeating: 0) }, to: source)
    }
  }
}
