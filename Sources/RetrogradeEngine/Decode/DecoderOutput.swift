import GStreamer
import Glibc
import MediaTime
import Quirks
import Synchronization

/// Output of a decoding pipeline. Returns the frames one by one, and throws if the pipeline fails
/// or stalls.
final class DecoderOutput: Sendable {
  let sink: AppSink
  /// True if the frames come from Matroska or WebM.
  let readsMatroska: Bool
  /// Compares the packets that enter the decoder with the index; nil unless all packets go to one
  /// decoder.
  let packets: WindowPackets?
  /// Feeds stored packets to the decoder; nil if a demuxer reads the packets from the source.
  let feed: PacketFeed?
  private let pipeline: Pipeline
  private let source: String
  private let disk: DiskWatch
  /// Number of buffers that entered the pipeline's elements. If the number increases, the decoder
  /// is not stuck, even if it outputs nothing between a keyframe and the wanted frame.
  private let moved = Counter()
  /// The first error that an element posted.
  private let failure = Mutex<GStreamerError?>(nil)
  /// Longest time without a packet, a decoded frame or an end of stream. After this time, decoding
  /// fails.
  private let stall: ClockTime
  /// Longest single wait for a frame. After an error that ends reading or streaming, decoding fails
  /// if no frame arrives within one such wait.
  private static let step = ClockTime(nanoseconds: 100_000_000)

  /// Purpose of decoding frames.
  enum Use {
    case windows
    /// For comparison with frames that were decoded in windows. Each element chooses its own memory
    /// and number of threads.
    case plain
    /// Like `plain`, but with as many threads as `windows`.
    case plainWithWindowThreads
  }

  /// Starts decoding at the beginning of the video.
  /// - Parameter store: store of the packets, for a recipe from ``DecodingRecipe/ofStore``; nil for
  ///   other recipes.
  init(_ recipe: DecodingRecipe, _ use: Use = .windows, from store: PacketStore? = nil, stall: ClockTime) throws {
    source = recipe.source
    self.stall = stall
    do {
      pipeline = try Pipeline(recipe.description)
      sink = try pipeline.appSink(recipe.sink)
      feed = try store.map { [pipeline] in try PacketFeed($0, into: pipeline) }
    } catch let error as GStreamerError {
      throw RetrogradeError.reading(source, error)
    }
    if recipe.readsPackets { sink.takeBuffersOutsideSegments() }
    readsMatroska = !pipeline.elements(ofFactory: "matroskademux").isEmpty
    let isOfLibvpx = Quirk.vp9decCopiedRGB.applies && !pipeline.elements(ofFactory: "vp9dec").isEmpty
    if use == .windows || isOfLibvpx { sink.pad?.acceptFramesAnywhere(offersPool: !isOfLibvpx) }
    recipe.prepare(pipeline)
    disk = DiskWatch(pipeline, reading: source)
    for element in pipeline.element(recipe.sink)?.upstream.dropFirst() ?? [] {
      element.staticPad("sink")?.onBuffer { [moved] _ in
        moved.add()
        return nil
      }
    }
    let decoders = pipeline.elements(ofClass: "Decoder")
    packets = decoders.count == 1 ? decoders[0].staticPad("sink").map(WindowPackets.init) : nil
    if recipe.isOneGroup, use != .plain { DecoderOutput.fillProcessors(decoders) }
    Log.decode.debug("\(source): starts \(recipe.description)")
    pipeline.set(.playing)
  }

  deinit { close() }

  /// Stops the pipeline, and frees the memory of the decoder's pool, which never shrinks while the
  /// decoder is open. Nothing can be read afterwards.
  func close() { pipeline.set(.null) }

  /// Sets the number of the decoders' threads to up to two more than there are processors.
  ///
  /// gst-libav gives FFmpeg's decoders one thread per processor. Each thread sometimes waits for
  /// rows of the previous frame, and the thread's processor is then idle. If nothing is encoded at
  /// the same time, two more threads use the idle processors (FFmpeg itself adds one thread,
  /// `ff_frame_thread_init`). With two processors, decoding 180 frames of 1080p H.264 into memory
  /// took 1.0 s instead of 1.14 s.
  private static func fillProcessors(_ decoders: [Element]) {
    let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    let threads = max(processors, min(processors + 2, 16))
    for decoder in decoders where decoder.integer("max-threads") == 0 {
      try? decoder.set("max-threads", "\(threads)")
    }
  }

  /// Records an error that an element posted since the last call.
  private func noteFailure() {
    guard let error = pipeline.pendingFailure else { return }
    Log.decode.warning("\(source): an element failed: \(error.cause); what it gives all the same is taken")
    failure.withLock { $0 = $0 ?? error }
    disk.noteFailure()
  }

  /// Seeks to `time`, in stream time; if `isKeyframe` is true, to the last keyframe at or before
  /// `time`.
  /// - Returns: false if the source is not seekable.
  /// - Throws: `RetrogradeError` if an earlier read failed, because a demuxer that cannot read a
  ///   region of the file may seek forever (`Quirk.avdemuxEnd`).
  func seek(to time: ClockTime, orKeyframeBefore isKeyframe: Bool) throws -> Bool {
    noteFailure()
    if let error = failure.withLock({ $0 }), error.kind == .inputOutput {
      throw RetrogradeError.reading(source, error)
    }
    return isKeyframe ? sink.seek(toKeyframeBefore: time) : sink.seek(to: time)
  }

  /// Returns the next sample; nil at the end of the stream.
  func pull(_ cancellation: Cancellation) throws -> Sample? {
    var idle = IdleTime(count: moved.value)
    while true {
      try cancellation.check()
      // An element may continue after an error, so keep waiting for samples. Do not wait if no
      // element is streaming any more, because all remaining samples are then in the appsink. After
      // a read error, do not wait either, because an element may keep trying to read missing bytes
      // (avdemux_gif does so forever).
      let failed = failure.withLock { $0 }
      let isOver = failed.map { $0.kind == .inputOutput || !pipeline.isStreaming } ?? false
      if let sample = sink.pull(timeout: DecoderOutput.step) {
        if feed != nil, sample.buffer.isHidden { continue }
        return sample
      }
      let isEnd = sink.isEndOfStream
      noteFailure()
      if isEnd {
        if let error = feed?.failure { throw error }
        // The stream may have ended because of a read error.
        if let error = failure.withLock({ $0 }), error.kind == .inputOutput {
          throw RetrogradeError.reading(source, error)
        }
        return nil
      }
      if isOver, let failed { throw RetrogradeError.reading(source, failed) }
      if disk.isReading { idle.reset() } else { idle.add(DecoderOutput.step, count: moved.value) }
      if idle.length > stall {
        throw failed.map { RetrogradeError.reading(source, $0) }
          ?? RetrogradeError(.damagedInput, about: source, "too damaged to read: decoding it makes no progress")
      }
    }
  }
}
