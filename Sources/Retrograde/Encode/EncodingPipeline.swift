import Containers
import GStreamer
import MediaTime
import Quirks
import RetrogradeEngine
import Synchronization

/// The pipeline that encodes and writes: appsrcs, an `encodebin`, a file.
final class EncodingPipeline: Sendable {
  /// A stream to write: the appsrc that takes it, and the form of its buffers.
  struct Stream: Sendable {
    var name: String
    var caps: Caps
    var disposition: Disposition?
    /// GST_TAG_IMAGE_ORIENTATION of a frame, where the container carries it.
    var orientation: String?
    /// Which field of interlaced frames comes first.
    var fieldOrder: MatroskaHeader.FieldOrder?
    /// Title of the stream.
    var title: String?
    /// Comments that hold for it, such as `NAME=text`.
    var comments: [String] = []
    /// How many sample frames of audio come; nil where that is not known.
    var sampleCount: Int?
    /// Properties of the encoder, in place of the description's.
    var encoderOptions: [String: String] = [:]
    /// Caps of the packets, if packets are given; nil where frames or samples are given.
    var packets: Caps?
  }

  /// Content to write, and its places.
  struct Contents: Sendable {
    /// The pipeline, in `gst-launch-1.0` syntax.
    var description: String
    var videos: [Stream]
    var audio: [Stream]
    var texts: [Stream] = []
    /// In the time of the output.
    var chapters: [Chapter] = []
    /// Chunks of a WAVE file beside its samples and tags.
    var waveChunks: [WAVEChunks.Chunk] = []
    /// Comments of the file, such as `LOOPSTART=22050`, that hold for the output.
    var comments: [String] = []
    /// Tags of an MP4 or MOV source as they lie there.
    var mp4Tags: [MP4Tag] = []
    /// When the source was made, in seconds since 1970.
    var created: Int?
    /// Tags of the whole file.
    var tags: TagList?
    /// How long it is, if it ends.
    var duration: ClockTime?
    /// Time by which everything starts later than 0, at the least.
    var lead = ClockTime.zero
    /// Format and settings of an animation that is written from the appsink `frames`; nil if a muxer writes
    /// the file.
    var animation: (format: AnimationFormat, settings: AnimationSettings)?
    /// Known priming of the audio; nil: it is measured.
    var priming: AudioPriming?
    /// Whether the container that the packets go into says which samples are heard; nil: the pipeline's muxer
    /// decides.
    var hasEditLists: Bool?
    /// Values that muxers would take from chance and the clock; nil: they do.
    var origin: FileOrigin?
    /// Whether the user wrote the description down.
    var isOfUser = false
    /// An encoder that was asked for by name.
    var encoder: String?
    /// Called before the pipeline starts; says which file the muxer's sink writes, or nothing where it is not one.
    var prepare: @Sendable (Pipeline) throws -> String

    /// Whether any stream has a name.
    var hasTitles: Bool { (videos + audio + texts).contains { $0.title != nil } }

    /// Rate of each audio stream, in sample frames per second.
    var rates: [Int] { audio.map { $0.caps.int("rate") ?? 0 } }
  }

  let videos: [AppSource]
  let audio: [AppSource]
  let texts: [AppSource]
  /// The timestamp that is time 0 of the mirror: later than the file's where the audio's encoder needs a start, and the
  /// container has no other way to say so.
  let mirrorStart: ClockTime

  /// Priming of the audio's encoders, measured or known.
  let priming: AudioPriming
  let pipeline: Pipeline
  private let path: String
  let contents: Contents
  /// Whether the container can't hold the chapters that there are.
  private let losesChapters: Bool
  private let header: FinishedHeader
  /// Counts by kind, in the order of the streams.
  private let counts: (videos: [MuxedCount], audio: [MuxedCount], texts: [MuxedCount])
  /// Whether it is MP4 or MOV.
  let hasMP4Header: Bool
  private let target: String
  private let cancellation: Cancellation
  private let failure = Mutex<RetrogradeError?>(nil)
  private let isStopped = Mutex(false)
  /// Number of buffers that came to the streams and to the file.
  private let moved = Counter()
  /// How many streams are still to be ended, how many of them wait for room, and whether the pipeline ended before
  /// they were: a pipeline that a user wrote may.
  private let open: Mutex<(streams: Int, waiting: Int, isOver: Bool)>
  private let bus = Mutex<Worker<Void>?>(nil)
  /// When all was pushed: how many packets of the first video had come to the muxer by then, and how many there will
  /// be.
  private let drained = Mutex<(from: Int, to: Int)?>(nil)
  private let animation: AnimationWriter?
  private let animator = Mutex<Worker<FinishedAnimation>?>(nil)

  /// No byte written for this long while every stream was given or waits for room: the pipeline hangs.
  /// Producers may take their time.
  private static let stall = ClockTime(seconds: 120)

  /// - Parameters:
  ///   - target: the output's own name, for messages.
  ///   - cancellation: ends the writing too.
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

  /// Adds the chroma site to caps of VP9 that lack it, where the muxer crashes without it.
  ///
  /// MP4 only says whether it is on the top left pixel of four: it is not, unless the caps say so (VP
  /// Codec ISO Media File Format Binding, `chromaSubsampling`).
  ///
  /// - Parameter element: before the muxer.
  static func nameChromaSite(_ element: Element?) {
    guard Quirk.qtmuxChromaSite.applies else { return }
    element?.entered { $0.isOfClass("Muxer") }?.onCaps { caps, _ in
      caps.mediaType == "video/x-vp9" && !caps.has("chroma-site") ? caps.setting("chroma-site", "mpeg2") : nil
    }
  }

  /// True if frames have to lie in memory as their caps alone say (`Quirk.y4mencLayout`).
  var needsPlainLayout: Bool { Quirk.y4mencLayout.applies && !pipeline.elements(ofFactory: "y4menc").isEmpty }

  /// Tags that the encoder and the muxer of the output know better than the source.
  static let technical = [
    "container-format", "video-codec", "audio-codec", "subtitle-codec", "codec", "bitrate", "minimum-bitrate",
    "maximum-bitrate",
    "nominal-bitrate", "encoder", "encoder-version", "has-crc", "container-specific-track-id", "channel-mode",
    "private-qt-tag", "private-id3v2-frame", "duration", "extended-comment",
  ]

  /// Warnings about data for the output that the container can't hold.
  var unheld: [Warning] {
    losesChapters ? [.noChapters] : []
  }

  /// Starts writing.
  /// - Parameter finishing: told how much of the remaining work is done when all frames are there, and of how
  ///   much.
  /// - Throws: ``RetrogradeError``, where the pipeline can't start: its file can't be opened, an element is
  ///   not fit to work.
  func start(_ finishing: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }) throws {
    Log.write.info("\(target): starts \(contents.description)")
    Log.write.info("\(target): time 0 of the mirror is \(mirrorStart); priming of the audio: \(header.priming)")
    guard pipeline.set(.playing) else {
      while let message = pipeline.nextMessage() {
        if case .failed(let error) = message { throw RetrogradeError.writing(target, error) }
      }
      throw RetrogradeError(.internalFailure, about: target, "can't be made: the encoding pipeline does not start")
    }
    let worker = try Worker("encoder bus") { [self] in watchBus(finishing) }
    bus.withLock { $0 = worker }
    if let animation {
      let worker = try Worker("animation") { [self] in
        do {
          return try animation.run(finishing) { self.isGivenUp }
        } catch {
          fail(
            error as? RetrogradeError
              ?? RetrogradeError(.cannotCreateOutput, about: target, "can't be made: \(String(describing: error))"))
          return FinishedAnimation()
        }
      }
      animator.withLock { $0 = worker }
    }
  }

  /// True if the output is no longer wanted: it was aborted or cancelled, or has failed.
  private var isGivenUp: Bool {
    isStopped.withLock { $0 } || cancellation.isCancelled || failure.withLock { $0 != nil }
  }

  /// Takes the pipeline down, unless all is written: other threads only request that. It wakes blocked
  /// pushers.
  private func watchBus(_ finishing: (_ done: Int, _ total: Int) -> Void) {
    if !isWritten(finishing) { pipeline.set(.null) }
  }

  /// Waits until everything is written, something fails, or the writing is aborted or cancelled.
  /// - Returns: whether all that was to come is in the file.
  private func isWritten(_ finishing: (_ done: Int, _ total: Int) -> Void) -> Bool {
    let step = ClockTime(nanoseconds: 100_000_000)
    var idle = IdleTime()
    while !isGivenUp {
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
        fail(RetrogradeError(.internalFailure, about: target, "can't be made: encoding makes no progress"))
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

  /// Gives a buffer to one of the streams, and waits while its queue is full. A pipeline that has ended takes it, and
  /// writes it nowhere, which ``finish(_:)`` says.
  /// - Throws: what made the pipeline stop.
  func push(_ buffer: Buffer, to source: AppSource) throws {
    moved.add()
    open.withLock { $0.waiting += 1 }
    defer { open.withLock { $0.waiting -= 1 } }
    guard source.push(buffer) || open.withLock({ $0.isOver }) else { throw reason }
  }

  /// Ends one of the streams.
  func end(_ source: AppSource) {
    open.withLock { $0.streams -= 1 }
    source.endOfStream()
  }

  private var reason: any Error { failure.withLock { $0 } ?? CancellationError() }

  /// Stops the writing; wakes blocked pushers.
  func abort() { isStopped.withLock { $0 = true } }

  /// Stops, and waits until no thread writes any more: the unfinished file can be removed.
  func close() {
    abort()
    _ = try? bus.withLock { $0.take() }?.join()
    pipeline.set(.null)  // if it never started, or has written all
    _ = try? animator.withLock { $0.take() }?.join()
  }

  /// Waits until everything that was pushed is written.
  func finish(_ given: Given) throws -> Written {
    // An animation tells by itself how far it is.
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
    var unheld: [Warning] = []
    if !path.isEmpty {
      let lacksVideo = zip(videos, given.videos).contains { $0.count == 0 && $1.count > 0 }
      guard RandomAccessFile(path)?.size != 0, !lacksVideo || contents.animation != nil else {
        throw RetrogradeError(
          .cannotCreateOutput,
          about: target, "can't be made: no encoded data reached the file", remedy: "try another format")
      }
      unheld = try header.apply(to: path, for: target, videos, audio)
    }
    let spans = (videos + audio).compactMap(\.span)
    var written = Written()
    let step = animation.level?.step ?? 1
    written.counts = Counts(
      frames: videos.map { ($0.count + step - 1) / step }, samples: audio.map(\.count), cues: texts.map(\.count))
    written.span = spans.first.map { first in
      spans.reduce(first) { TimeSpan(start: min($0.start, $1.start), end: max($0.end, $1.end)) }
    }
    written.warnings = (videos + audio + texts).compactMap(\.warning) + unheld + reduced
    written.concessions = animation.concessions
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
