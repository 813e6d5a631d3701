import GStreamer
import Glibc
import MediaTime
import Quirks
import Synchronization

/// Samples that a pipeline decodes, one by one, and its failure or standstill.
final class DecoderOutput: Sendable {
  let sink: AppSink
  /// Whether the frames come out of Matroska or WebM.
  let readsMatroska: Bool
  /// Nil where it is not one decoder that all packets go to.
  let packets: WindowPackets?
  /// Gives the decoder stored packets; nil if a demuxer reads them from the source.
  let feed: PacketFeed?
  private let pipeline: Pipeline
  private let source: String
  private let disk: DiskWatch
  /// Buffers that went into elements: a decoder on its way from a keyframe to the wanted frame is not stuck.
  private let moved = Counter()
  /// The first error that an element posted.
  private let failure = Mutex<GStreamerError?>(nil)
  /// Time without a packet read or a frame decoded, and without an end, after which the decoder makes no
  /// progress.
  private let stall: ClockTime
  /// Longest wait for a sample at a time. After an error, also the longest wait for the remaining ones.
  private static let step = ClockTime(nanoseconds: 100_000_000)

  /// Purpose of decoding frames.
  enum Use {
    case windows
    /// Compared with those of windows; memory and threads are left to the elements.
    case plain
    /// Like `plain`, in as many threads as `windows`.
    case plainInThreadsOfWindows
  }

  /// Starts decoding at the beginning of the video.
  /// - Parameter store: gives the packets to a recipe that is made for that.
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

  /// Stops, and releases the decoder's frames: its pool keeps the memory of all frames that were ever held at
  /// once. Nothing comes after.
  func close() { pipeline.set(.null) }

  /// gst-libav gives FFmpeg's decoders a thread for each processor. Each waits for rows of the frame before it now and then, and a processor
  /// for a thread: where nothing is encoded at the same time, two more fill them (FFmpeg itself takes one more, `ff_frame_thread_init`). With two
  /// processors 180 frames of 1080p H.264 that are held took 1.0 s so, and 1.14 s without.
  private static func fillProcessors(_ decoders: [Element]) {
    let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    let threads = max(processors, min(processors + 2, 16))
    for decoder in decoders where decoder.integer("max-threads") == 0 {
      try? decoder.set("max-threads", "\(threads)")
    }
  }

  /// Notes what an element posted since the last time.
  private func noteFailure() {
    guard let error = pipeline.pendingFailure else { return }
    Log.decode.warning("\(source): an element failed: \(error.cause); what it gives all the same is taken")
    failure.withLock { $0 = $0 ?? error }
    disk.noteFailure()
  }

  /// Goes to `time`, in stream time, or to the last keyframe up to it.
  /// - Returns: false if the source cannot be sought in.
  /// - Throws: `RetrogradeError` if reading failed before: a demuxer that lacks a part of the file may seek without
  ///   end (`Quirk.avdemuxEnd`).
  func seek(to time: ClockTime, orKeyframeBefore isKeyframe: Bool) throws -> Bool {
    noteFailure()
    if let error = failure.withLock({ $0 }), error.kind == .inputOutput {
      throw RetrogradeError.reading(source, error)
    }
    return isKeyframe ? sink.seek(toKeyframeBefore: time) : sink.seek(to: time)
  }

  /// The next sample; nil at the end of the stream.
  func pull(_ cancellation: Cancellation) throws -> Sample? {
    var idle = IdleTime(count: moved.value)
    while true {
      try cancellation.check()
      // An element may go on after an error; where nothing does, all samples that could come lie in the
      // appsink. After an error of the disk, an element that goes on reads bytes that are not there
      // (avdemux_gif, without end).
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
        // Streams end also where reading failed.
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
