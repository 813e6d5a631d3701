import GStreamer
import RetrogradeEngine
import Synchronization

/// The pipeline that encodes and writes: appsrcs, an `encodebin`, a file.
final class MediaWriter: Sendable {
  /// A stream to write: the appsrc that takes it, and what its buffers are.
  struct Stream: Sendable {
    var name: String
    var caps: Caps
    var disposition: Disposition?
    /// GST_TAG_IMAGE_ORIENTATION of a picture, where the container carries it.
    var orientation: String?
    /// Which field of an interlaced picture's frames comes first.
    var fieldOrder: MatroskaHeader.FieldOrder?
  }

  /// What is to be written, and where.
  struct Plan: Sendable {
    /// The pipeline, in `gst-launch-1.0` syntax.
    var description: String
    var videos: [Stream]
    var audio: [Stream]
    var texts: [Stream] = []
    /// In the time of the output.
    var chapters: [Chapter] = []
    /// Tags of the whole file.
    var tags: TagList?
    /// How long it is, if it ends.
    var duration: ClockTime?
    /// How much later than 0 everything is, at the least.
    var lead = ClockTime.zero
    /// Where no muxer writes the file: what does, from the appsink `pictures`.
    var animation: (format: AnimationFormat, options: ReverseOptions)?
    /// Called before the pipeline starts; says which file the muxer's sink writes, or nothing where it is not one.
    var prepare: @Sendable (Pipeline) throws -> String
  }

  let videos: [AppSource]
  let audio: [AppSource]
  let texts: [AppSource]
  /// The timestamp that is time 0 of the mirror: later than the file's where the sound's encoder needs a start, and the
  /// container has no other way to say so.
  let mirrorStart: ClockTime

  private let pipeline: Pipeline
  private let path: String
  private let plan: Plan
  /// Whether the container can't hold the chapters that there are.
  let losesChapters: Bool
  /// Sample frames that the encoder of each stream of sound puts before the first.
  private let priming: [Int]
  private let rates: [Int]
  /// Whether it is MP4 or MOV.
  let hasMovieHeader: Bool
  private let isMatroska: Bool
  private let isMP3: Bool
  private let target: String
  private let failure = Mutex<RetrogradeError?>(nil)
  private let isStopped = Mutex(false)
  private let written = Activity()
  private let bus = Mutex<Worker<Void>?>(nil)
  private let animation: AnimationWriter?
  private let animator = Mutex<Worker<Void>?>(nil)

  /// No byte written for this long after everything was given: the pipeline hangs.
  private static let stall = 120_000_000_000

  /// - Parameter target: the output's own name, for messages.
  init(_ plan: Plan, for target: String) throws {
    EncodingChoice.preference
    self.target = target
    let pictures: AppSink?
    do {
      let pipeline = try Pipeline(plan.description)
      self.pipeline = pipeline
      func open(_ stream: Stream) throws -> AppSource {
        let source = try pipeline.appSource(stream.name)
        source.setCaps(stream.caps)
        return source
      }
      videos = try plan.videos.map(open)
      audio = try plan.audio.map(open)
      texts = try plan.texts.map(open)
      pictures = try plan.animation.map { _ in try pipeline.appSink("pictures") }
    } catch let error as GStreamerError {
      throw RetrogradeError.writing(target, error)
    }
    hasMovieHeader = pipeline.hasMuxer(of: "video/quicktime")
    isMatroska = pipeline.hasMuxer(of: "video/x-matroska; video/webm; audio/x-matroska; audio/webm")
    // Edits are counted in this: so those of sound are exact to the sample, as long as they fit 32 bits.
    if hasMovieHeader, let rate = plan.audio.first?.caps.int("rate"), let duration = plan.duration,
      duration.seconds * Double(rate) < Double(Int32.max)
    {
      for muxer in pipeline.elements(ofClass: "Muxer")
      where muxer.factoryName.map({ Registry.property("movie-timescale", of: $0) }) ?? false {
        muxer.set("movie-timescale", "\(rate)")
      }
    }
    // oggmux 1.22 may leave out the last page of the stream that ends first, if it is not full (gst_ogg_mux_process_best_pad). A
    // page for each packet is full at once.
    if plan.videos.count + plan.audio.count > 1 {
      for muxer in pipeline.elements(ofFactory: "oggmux") { muxer.set("max-page-delay", "0") }
    }
    isMP3 = !pipeline.elements(ofFactory: "xingmux").isEmpty
    let layout = MediaWriter.layout(pipeline, plan.audio, hasEditLists: hasMovieHeader)
    mirrorStart = max(layout.leadIn, plan.lead)
    priming = plan.audio.indices.map { layout.samples[$0] ?? 0 }
    self.plan = plan
    let lead = mirrorStart
    losesChapters =
      !plan.chapters.isEmpty && !hasMovieHeader
      && !pipeline.setTableOfContents(TableOfContents(entries: plan.chapters.map { $0.entry(later: lead) }))
    rates = plan.audio.map { $0.caps.int("rate") ?? 0 }
    let path = try plan.prepare(pipeline)
    self.path = path
    animation = pictures.flatMap { sink in
      plan.animation.map { AnimationWriter(sink: sink, format: $0.format, path: path, options: $0.options) }
    }
    if let tags = plan.tags?.withDate.removing(MediaWriter.technical), !tags.isEmpty { pipeline.setTags(tags) }
    let written = written
    for sink in pipeline.elements(ofClass: "Sink") {
      sink.firstSinkPad?.onBuffer { _ in
        written.count()
        return nil
      }
    }
  }

  /// Where times lie so that sound and picture start together although the encoders put something before the sound.
  private struct Layout {
    /// How much later than 0 everything is, where the container has no edit lists.
    var leadIn = ClockTime.zero
    /// Sample frames of priming, by stream.
    var samples: [Int: Int] = [:]
    /// How much earlier each encoder's packets are to be presented than it says.
    var delays: [(encoder: Element, delay: ClockTime)] = []
  }

  private static func layout(_ pipeline: Pipeline, _ audio: [Stream], hasEditLists: Bool) -> Layout {
    var layout = Layout()
    for (index, stream) in audio.enumerated() {
      guard let encoder = pipeline.element(stream.name)?.downstream.first(where: { $0.isOfClass("Encoder") }),
        let factory = encoder.factoryName, let packets = encoder.staticPad("src")?.possibleCaps,
        let rate = stream.caps.int("rate")
      else { continue }
      let delay = EncoderDelay(encoder: factory, packets: packets, raw: stream.caps)
      guard delay.samples > 0 else { continue }
      layout.samples[index] = delay.samples
      if !hasEditLists { layout.delays.append((encoder, ClockTime(sampleIndex: delay.samples, rate: rate))) }
    }
    layout.leadIn = layout.delays.map(\.delay).max() ?? .zero
    // The packets say when what they hold is really heard.
    for (encoder, delay) in layout.delays {
      encoder.staticPad("src")?.onBuffer { $0.withPresentationTime(earlierBy: delay) }
    }
    return layout
  }

  /// What the encoder and the muxer of the output know better than the source.
  static let technical = [
    "container-format", "video-codec", "audio-codec", "codec", "bitrate", "minimum-bitrate", "maximum-bitrate",
    "nominal-bitrate", "encoder", "encoder-version", "has-crc", "container-specific-track-id", "channel-mode",
    "private-qt-tag", "private-id3v2-frame", "duration", "extended-comment",
  ]

  /// Starts writing.
  func start() throws {
    let worker = try Worker("encoder bus") { [self] in watchBus() }
    bus.withLock { $0 = worker }
    pipeline.set(.playing)
    if let animation {
      let worker = try Worker("animation") { [self] in
        do {
          try animation.run { self.isStopped.withLock { $0 } }
        } catch {
          fail(
            error as? RetrogradeError
              ?? RetrogradeError(.cannotCreateOutput, "\(target): can't be made: \(error)"))
        }
      }
      animator.withLock { $0 = worker }
    }
  }

  /// Until everything is written, something fails, or the writing is aborted.
  private func watchBus() {
    while !isStopped.withLock({ $0 }), failure.withLock({ $0 == nil }) {
      switch pipeline.nextMessage(timeout: ClockTime(nanoseconds: 100_000_000)) {
      case .endOfStream:
        return
      case .failed(let error):
        fail(RetrogradeError.writing(target, error))
        return
      case nil where written.idle(100_000_000) > MediaWriter.stall:
        fail(RetrogradeError(.internalFailure, "\(target): can't be made: encoding makes no progress"))
        return
      default:
        break
      }
    }
  }

  private func fail(_ error: RetrogradeError) {
    failure.withLock { $0 = $0 ?? error }
    pipeline.set(.null)  // wakes whoever pushes
  }

  /// Gives a buffer to one of the streams, and waits while its queue is full.
  /// - Throws: what made the pipeline stop.
  func push(_ buffer: Buffer, to source: AppSource) throws {
    written.count()
    guard source.push(buffer) else { throw reason }
  }

  private var reason: RetrogradeError { failure.withLock { $0 } ?? .cancelled }

  /// Stops at once; wakes whoever pushes.
  func abort() {
    isStopped.withLock { $0 = true }
    pipeline.set(.null)
  }

  /// Stops, and waits until nobody writes any more: what was begun can be removed.
  func close() {
    abort()
    for worker in [bus.withLock({ $0.take() }), animator.withLock({ $0.take() })] { _ = try? worker?.join() }
  }

  /// Waits until everything that was pushed is written.
  /// - Parameters:
  ///   - heard: the sample frames that were pushed of each stream of sound.
  ///   - shown: how long each video is shown, from its first frame's start to its last one's end.
  func finish(heard: [Int], shown: [ClockTime?]) throws {
    try bus.withLock { $0.take() }?.join()
    try animator.withLock { $0.take() }?.join()
    pipeline.set(.null)
    if let error = failure.withLock({ $0 }) { throw error }
    if isMatroska, !path.isEmpty {
      try MatroskaHeader(videos: plan.videos, audio: plan.audio, texts: plan.texts).apply(to: path)
    }
    if isMP3, !path.isEmpty, let priming = priming.first, let heard = heard.first {
      try MP3Header(priming: priming, heard: heard).apply(to: path)
    }
    guard hasMovieHeader, !path.isEmpty else { return }
    var header = MovieHeader(chapters: plan.chapters)
    header.pictures = zip(plan.videos, shown).map {
      .init(orientation: $0.orientation, duration: $1, isEnabled: $0.disposition?.isDefault)
    }
    header.sounds = zip(plan.audio, zip(zip(priming, heard), rates)).map {
      .init(priming: $1.0.0, heard: $1.0.1, rate: $1.1, isEnabled: $0.disposition?.isDefault)
    }
    header.texts = plan.texts.map { $0.disposition?.isDefault }
    try header.apply(to: path)
  }
}

extension Chapter {
  fileprivate func entry(later lead: ClockTime) -> TableOfContents.Entry {
    TableOfContents.Entry(
      start: span.start + lead, end: span.end + lead, title: title, children: children.map { $0.entry(later: lead) })
  }
}

extension Pipeline {
  /// Whether one of its muxers writes one of the formats that are named, as caps.
  fileprivate func hasMuxer(of formats: String) -> Bool {
    guard let formats = Caps(formats) else { return false }
    return elements(ofClass: "Muxer").contains { $0.staticPad("src")?.possibleCaps?.intersects(formats) ?? false }
  }
}
