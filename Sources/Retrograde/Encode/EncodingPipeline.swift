import Containers
import GStreamer
import MediaTime
import Quirks
import RetrogradeEngine
import Synchronization

/// Pipeline that encodes and writes the output: appsrcs, `encodebin` and a file sink.
final class EncodingPipeline: Sendable {
  /// Stream to write: name of the appsrc, caps of the pushed buffers, and details for the file.
  struct Stream: Sendable {
    var name: String
    var caps: Caps
    var disposition: Disposition?
    /// Value of the tag GST_TAG_IMAGE_ORIENTATION, if the container stores the orientation.
    var orientation: String?
    /// Field order of interlaced frames.
    var fieldOrder: MatroskaHeader.FieldOrder?
    /// Title of the stream.
    var title: String?
    /// Comments of the stream, as `NAME=text`.
    var comments: [String] = []
    /// Number of sample frames of audio; nil if unknown.
    var sampleCount: Int?
    /// Encoder properties that override properties in the pipeline's description.
    var encoderOptions: [String: String] = [:]
    /// Caps of the packets, if packets are pushed; nil for frames or samples.
    var packets: Caps?
  }

  /// Content to write, and the pipeline that writes it.
  struct Contents: Sendable {
    /// The pipeline, in `gst-launch-1.0` syntax.
    var description: String
    var videos: [Stream]
    var audio: [Stream]
    var texts: [Stream] = []
    /// Chapters, in the time of the output.
    var chapters: [Chapter] = []
    /// RIFF chunks of a WAVE file besides the audio and the tags.
    var waveChunks: [WAVEChunks.Chunk] = []
    /// Comments of the file that are valid for the output, such as `LOOPSTART=22050`.
    var comments: [String] = []
    /// Tags of an MP4 or MOV source, unchanged.
    var mp4Tags: [MP4Tag] = []
    /// Creation time of the source, in seconds since 1970.
    var created: Int?
    /// Tags of the whole file.
    var tags: TagList?
    /// Duration of the output; nil for an endless output.
    var duration: ClockTime?
    /// Lowest allowed value of `mirrorStart`, the timestamp of the output's time 0.
    var lead = ClockTime.zero
    /// Format and settings of an animation, which is written from the frames of the appsink
    /// `frames`; nil if the output is no animation.
    var animation: (format: AnimationFormat, settings: AnimationSettings)?
    /// Priming of the audio; nil: to be measured.
    var priming: AudioPriming?
    /// True if the container that finally gets the packets has edit lists; nil: determined from the
    /// pipeline's muxer.
    var hasEditLists: Bool?
    /// IDs and date for the file, in place of the random IDs and the current date that muxers
    /// write; nil: not replaced.
    var origin: FileOrigin?
    /// True if the user wrote the description.
    var isOfUser = false
    /// Encoder that was requested by name.
    var encoder: String?
    /// Called before the pipeline starts. Returns the path that the muxer's sink writes to; empty
    /// if the sink writes no file.
    var prepare: @Sendable (Pipeline) throws -> String

    /// True if any stream has a title.
    var hasTitles: Bool { (videos + audio + texts).contains { $0.title != nil } }

    /// Rate of each audio stream, in sample frames per second.
    var rates: [Int] { audio.map { $0.caps.int("rate") ?? 0 } }
  }

  let videos: [AppSource]
  let audio: [AppSource]
  let texts: [AppSource]
  /// Timestamp that stands for the output's time 0 in the pipeline. It is at least `contents.lead`,
  /// and greater than 0 if audio priming needs room in a container without edit lists.
  let mirrorStart: ClockTime

  /// Priming of the audio encoders, measured or known.
  let priming: AudioPriming
  let pipeline: Pipeline
  private let path: String
  let contents: Contents
  /// True if there are chapters that the container can't hold.
  private let losesChapters: Bool
  /// True if the chapters are written as a cue sheet of FLAC.
  private let hasCueSheet: Bool
  private let header: FinishedHeader
  /// Packet counters of the streams, by kind, in the order of the streams.
  private let counts: (videos: [MuxedCount], audio: [MuxedCount], texts: [MuxedCount])
  /// True for MP4 and MOV.
  let hasMP4Header: Bool
  private let target: String
  private let cancellation: Cancellation
  private let failure = Mutex<RetrogradeError?>(nil)
  private let isStopped = Mutex(false)
  /// Number of buffers pushed to appsrcs, plus number of buffers that reached sinks. While the sum
  /// stays the same, the pipeline may be stuck.
  private let moved = Counter()
  /// `streams`: number of streams that have not ended. `waiting`: number of pushes that wait for
  /// room. `isOver`: true if the pipeline ended before all streams had ended, which is possible in
  /// a user's pipeline.
  private let open: Mutex<(streams: Int, waiting: Int, isOver: Bool)>
  private let bus = Mutex<Worker<Void>?>(nil)
  /// Progress of the first video after its last frame was pushed. `from`: number of packets that
  /// had reached the muxer by then. `to`: number of all frames. nil until the last frame is pushed.
  private let drained = Mutex<(from: Int, to: Int)?>(nil)
  private let animation: AnimationWriter?
  private let animator = Mutex<Worker<FinishedAnimation>?>(nil)

  /// Time after which a pipeline counts as stuck if no buffer moves while all open streams wait for
  /// room in their queues. Time spent waiting for producers of frames is not included.
  private static let stall = ClockTime(seconds: 120)

  /// - Parameters:
  ///   - target: the output's own name, for messages.
  ///   - cancellation: stops the writing when cancelled.
  init(_ contents: Contents, for target: String, _ cancellation: Cancellation) throws {
    self.target = target
    self.cancellation = cancellation
    let frames: AppSink?
    do {
      if let origin = contents.origin { GStreamer.seed(origin.seed) }
      let pipeline = try Codec.choosingEncoders([contents.encoder].compactMap { $0 }) {
        try Pipeline(contents.description)
      }
      self.pipeline = pipeline
      func source(_ stream: Stream) throws -> AppSource {
        let source = try pipeline.appSource(stream.name)
        source.setCaps(stream.packets ?? stream.caps)
        return source
      }
      videos = try contents.videos.map(source)
      audio = try contents.audio.map(source)
      texts = try contents.texts.map(source)
      frames = try contents.animation.map { _ in try pipeline.appSink("frames") }
      try pipeline.setEncoders(for: contents)
    } catch let error as GStreamerError {
      throw RetrogradeError.writing(target, error)
    }
    hasMP4Header = pipeline.hasMuxer(of: "video/quicktime")
    pipeline.correctStreams(of: contents)
    try pipeline.setMuxers(for: contents, hasMP4Header: hasMP4Header)
    priming =
      contents.priming
      ?? AudioPriming(pipeline, contents.audio, hasEditLists: contents.hasEditLists ?? hasMP4Header)
    mirrorStart = max(priming.leadIn, contents.lead)
    header = FinishedHeader(pipeline, contents, priming: priming.samples)
    self.contents = contents
    let lead = mirrorStart
    hasCueSheet = !hasMP4Header && pipeline.hasCueSheet
    losesChapters =
      !contents.chapters.isEmpty && !hasMP4Header
      && !pipeline.setTableOfContents(TableOfContents(entries: contents.chapters.map { $0.entry(later: lead) }))
    let counted = [contents.videos, contents.audio, contents.texts].map { [pipeline] streams in
      streams.compactMap { pipeline.element($0.name) }.map { MuxedCount(after: $0, isOfUser: contents.isOfUser) }
    }
    counts = (counted[0], counted[1], counted[2])
    open = Mutex((contents.videos.count + contents.audio.count + contents.texts.count, 0, false))
    let path = try contents.prepare(pipeline)
    self.path = path
    animation = frames.flatMap { sink in
      contents.animation.map {
        AnimationWriter(
          sink: sink, format: $0.format, path: path, target: target, settings: $0.settings)
      }
    }
    pipeline.setTags(of: contents)
    let moved = moved
    for sink in pipeline.elements(ofClass: "Sink") {
      sink.firstSinkPad?.onBuffer { _ in
        moved.add()
        return nil
      }
    }
  }

  /// Adds a chroma site to VP9 caps without one, if the muxer would crash without a chroma site
  /// (`Quirk.qtmuxChromaSite`).
  ///
  /// MP4 stores only whether a chroma sample is at the top left of its four pixels. The added
  /// chroma site, `mpeg2`, means that the sample is elsewhere, which is the default (VP Codec ISO
  /// Media File Format Binding, `chromaSubsampling`).
  ///
  /// - Parameter element: an element upstream of the muxer.
  static func nameChromaSite(_ element: Element?) {
    guard Quirk.qtmuxChromaSite.applies else { return }
    element?.entered { $0.isOfClass("Muxer") }?.onCaps { caps, _ in
      caps.mediaType == "video/x-vp9" && !caps.has("chroma-site") ? caps.setting("chroma-site", "mpeg2") : nil
    }
  }

  /// True if frames need the default memory layout of their caps (`Quirk.y4mencLayout`).
  var needsPlainLayout: Bool { Quirk.y4mencLayout.applies && !pipeline.elements(ofFactory: "y4menc").isEmpty }

  /// Tags that the output's encoder and muxer set themselves, or that describe the structure of the
  /// source file.
  static let technical = [
    "container-format", "video-codec", "audio-codec", "subtitle-codec", "codec", "bitrate", "minimum-bitrate",
    "maximum-bitrate",
    "nominal-bitrate", "encoder", "encoder-version", "has-crc", "container-specific-track-id", "channel-mode",
    "private-qt-tag", "private-id3v2-frame", "duration", "extended-comment",
    "mxf-structure",
  ]

  /// Warnings about chapters, or their details, that the container can't hold.
  var unsupportedContent: [Warning] {
    if losesChapters { return [.noChapters] }
    return hasCueSheet ? Warning.notHeld(contents.chapters, by: .cueSheet, until: nil) : []
  }

  /// Starts writing.
  /// - Parameter finishing: called repeatedly after the last frame of the first video was pushed.
  ///   `total` is the number of frames that had not yet reached the muxer when the last frame was
  ///   pushed; `done` of them have reached the muxer since.
  /// - Throws: ``RetrogradeError`` if the pipeline can't start, because the file can't be opened or
  ///   an element fails.
  func start(_ finishing: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }) throws {
    Log.write.info("\(target): starts \(contents.description)")
    Log.write.info("\(target): time 0 of the mirror is \(mirrorStart); priming of the audio: \(header.priming)")
    guard pipeline.set(.playing) else {
      while let message = pipeline.nextMessage() {
        if case .failed(let error) = message { throw RetrogradeError.writing(target, error) }
      }
      throw RetrogradeError(.internalFailure, about: target, "can't be created: the encoding pipeline does not start")
    }
    let worker = try Worker("encoder bus") { [self] in watchBus(finishing) }
    bus.withLock { $0 = worker }
    if let animation {
      let worker = try Worker("animation") { [self] in
        do {
          return try animation.run(finishing) { self.hasEnded }
        } catch {
          fail(
            error as? RetrogradeError
              ?? RetrogradeError(.cannotCreateOutput, about: target, "can't be created: \(String(describing: error))"))
          return FinishedAnimation()
        }
      }
      animator.withLock { $0 = worker }
    }
  }

  /// True if the output was aborted or cancelled, or has failed.
  private var hasEnded: Bool {
    isStopped.withLock { $0 } || cancellation.isCancelled || failure.withLock { $0 != nil }
  }

  /// Waits until all data is written. If writing fails or is stopped, stops the pipeline, so that
  /// pushers are unblocked. Other threads only request this stop.
  private func watchBus(_ finishing: (_ done: Int, _ total: Int) -> Void) {
    if !isWritten(finishing) { pipeline.set(.null) }
  }

  /// Waits until all data is written, or until the writing fails, is aborted or is cancelled.
  /// - Returns: true if all data is in the file.
  private func isWritten(_ finishing: (_ done: Int, _ total: Int) -> Void) -> Bool {
    let step = ClockTime(nanoseconds: 100_000_000)
    var idle = IdleTime()
    while !hasEnded {
      switch pipeline.nextMessage(timeout: step) {
      case .endOfStream:
        let left = open.withLock { open in
          open.isOver = open.streams > 0
          return open.streams
        }
        Log.write.info(
          "\(target): " + (left == 0 ? "all is written" : "the pipeline ended before \(left) of its streams did"))
        return left == 0
      case .failed(let error):
        fail(RetrogradeError.writing(target, error))
      case nil:
        if let (start, end) = drained.withLock({ $0 }), let now = counts.videos.first?.packetCount, end > start {
          finishing(min(now, end) - start, end - start)
        }
        if open.withLock({ $0.waiting < $0.streams }) { idle.reset() } else { idle.add(step, count: moved.value) }
        guard idle.length > EncodingPipeline.stall else { break }
        fail(RetrogradeError(.internalFailure, about: target, "can't be created: encoding makes no progress"))
      default:
        break
      }
    }
    return false
  }

  private func fail(_ error: RetrogradeError) {
    Log.write.warning("\(target): stops: \(error.message)")
    failure.withLock { $0 = $0 ?? error }
  }

  /// Pushes a buffer to a stream, and waits while the stream's queue is full. A pipeline that has
  /// ended discards the buffer; ``finish(_:)`` reports that loss.
  /// - Throws: the error that stopped the pipeline, or `CancellationError`.
  func push(_ buffer: Buffer, to source: AppSource) throws {
    moved.add()
    open.withLock { $0.waiting += 1 }
    defer { open.withLock { $0.waiting -= 1 } }
    guard source.push(buffer) || open.withLock({ $0.isOver }) else { throw reason }
  }

  /// Ends a stream.
  func end(_ source: AppSource) {
    open.withLock { $0.streams -= 1 }
    source.endOfStream()
  }

  private var reason: any Error { failure.withLock { $0 } ?? CancellationError() }

  /// Stops the writing, and unblocks pushers.
  func abort() { isStopped.withLock { $0 = true } }

  /// Stops the writing, and waits for the writing threads, so that the unfinished file can be
  /// removed.
  func close() {
    abort()
    _ = try? bus.withLock { $0.take() }?.join()
    pipeline.set(.null)  // still needed if the pipeline never started, or has finished
    _ = try? animator.withLock { $0.take() }?.join()
  }

  /// Waits until all pushed data is written.
  func finish(_ given: PushedTotals) throws -> Written {
    // Animations report their own progress.
    if contents.animation == nil, let count = counts.videos.first?.packetCount, let all = given.videos.first?.count {
      drained.withLock { $0 = (count, all) }
    }
    try bus.withLock { $0.take() }?.join()
    let animation = try animator.withLock { $0.take() }?.join() ?? FinishedAnimation()
    try cancellation.check()
    let videos = zip(counts.videos, given.videos).map { $0.frames(of: $1) }
    let audio = zip(counts.audio, zip(given.audio, contents.rates)).map { $0.samples(of: $1.0, rate: $1.1) }
    let texts = zip(counts.texts, given.texts).map { $0.cues(of: $1) }
    let reduced = reducedFormats
    pipeline.set(.null)
    if let error = failure.withLock({ $0 }) { throw error }
    var unsupportedContent: [Warning] = []
    if !path.isEmpty {
      let lacksVideo = zip(videos, given.videos).contains { $0.count == 0 && $1.count > 0 }
      guard RandomAccessFile(path)?.size != 0, !lacksVideo || contents.animation != nil else {
        throw RetrogradeError(
          .cannotCreateOutput,
          about: target, "can't be created: no encoded data reached the file", remedy: "try another format")
      }
      unsupportedContent = try header.apply(to: path, for: target, videos, audio)
    }
    let spans = (videos + audio).compactMap(\.span)
    var written = Written()
    let step = animation.level?.step ?? 1
    written.counts = Counts(
      frames: videos.map { ($0.count + step - 1) / step }, samples: audio.map(\.count), cues: texts.map(\.count))
    written.span = spans.first.map { first in
      spans.reduce(first) { TimeSpan(start: min($0.start, $1.start), end: max($0.end, $1.end)) }
    }
    written.warnings =
      (videos + audio + texts).compactMap(\.warning) + unsupportedContent + reduced + animation.warnings
    written.qualityReductions = animation.qualityReductions
    let animated = contents.animation.map { _ in WrittenMedia.containerName(of: target) }
    written.streams =
      zip(videos, contents.videos).compactMap {
        WrittenMedia.Stream(video: $0, orientation: $1.orientation, animation.level, as: animated)
      } + audio.compactMap(WrittenMedia.Stream.init(audio:))
    return written
  }
}

extension Chapter {
  fileprivate func entry(later lead: ClockTime) -> TableOfContents.Entry {
    TableOfContents.Entry(
      start: span.start + lead, end: span.end + lead, title: title, children: children.map { $0.entry(later: lead) })
  }
}
