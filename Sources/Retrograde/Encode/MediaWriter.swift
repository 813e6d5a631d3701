import GStreamer
import RetrogradeEngine
import Synchronization

/// The pipeline that encodes and writes: appsrcs, an `encodebin`, a file.
final class MediaWriter: Sendable {
  /// A stream to write: the appsrc that takes it, and what its buffers are.
  struct Stream: Sendable {
    var name: String
    var caps: Caps
  }

  /// What is to be written, and where.
  struct Plan: Sendable {
    /// The pipeline, in `gst-launch-1.0` syntax.
    var description: String
    var video: Stream?
    var audio: [Stream]
    /// Tags of the whole file.
    var tags: TagList?
    /// GST_TAG_IMAGE_ORIENTATION, where the container carries it.
    var orientation: String?
    /// How much later than 0 everything is, at the least.
    var lead = ClockTime.zero
    /// Where no muxer writes the file: what does, from the appsink `pictures`.
    var animation: (format: AnimationFormat, options: ReverseOptions)?
    /// Called before the pipeline starts; says which file the muxer's sink writes, or nothing where it is not one.
    var prepare: @Sendable (Pipeline) throws -> String
  }

  let video: AppSource?
  let audio: [AppSource]
  /// The timestamp that is time 0 of the mirror: later than the file's where the sound's encoder needs a start, and the
  /// container has no other way to say so.
  let mirrorStart: ClockTime

  private let pipeline: Pipeline
  private let path: String
  private let orientation: String?
  /// Sample frames that the encoder of each stream of sound puts before the first.
  private let priming: [Int]
  private let rates: [Int]
  /// Whether it is MP4 or MOV.
  let hasMovieHeader: Bool
  private let target: String
  private let failure = Mutex<GStreamerError?>(nil)
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
      video = try plan.video.map { stream in
        let source = try pipeline.appSource(stream.name)
        source.setCaps(stream.caps)
        return source
      }
      audio = try plan.audio.map { stream in
        let source = try pipeline.appSource(stream.name)
        source.setCaps(stream.caps)
        return source
      }
      pictures = try plan.animation.map { _ in try pipeline.appSink("pictures") }
    } catch let error as GStreamerError {
      throw RetrogradeError.writing(target, error)
    }
    let quicktime = Caps("video/quicktime")
    hasMovieHeader = pipeline.elements(ofClass: "Muxer").contains { muxer in
      quicktime.flatMap { caps in muxer.staticPad("src")?.possibleCaps?.intersects(caps) } ?? false
    }
    let layout = MediaWriter.layout(pipeline, plan.audio, hasEditLists: hasMovieHeader)
    mirrorStart = max(layout.leadIn, plan.lead)
    priming = plan.audio.indices.map { layout.samples[$0] ?? 0 }
    orientation = plan.orientation
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

  /// The pipeline that writes what `choice` says.
  static func description(
    to path: String, _ choice: EncodingChoice, video: TagList??, audio: [TagList?], copiesVideo: Bool = false
  ) -> String {
    let location = Description.quoted(path)
    var lines: [String] = []
    var end: [String]
    switch choice.container.pictures {
    case nil where copiesVideo:
      lines.append("\(choice.container.muxers.first ?? "") name=encode ! filesink name=file location=\(location)")
      end = ["encode.video_0"]
    case nil:
      lines.append(
        "encodebin name=encode flags=3 profile=\(Description.quoted(choice.profile)) ! filesink name=file location=\(location)"
      )
      end = ["encode.video_0"]
    case .animation(let format):
      end =
        format.preparation(hasAlpha: choice.hasAlpha) + [
          "appsink name=pictures sync=false enable-last-sample=false max-buffers=4"
        ]
    case .sequence(let encoder):
      end = [encoder, "multifilesink name=file index=1 location=\(location)"]
    }
    if copiesVideo {
      lines.append(
        (["appsrc name=video format=time block=true max-buffers=8 max-bytes=0"]
          + [inject(video ?? nil)].compactMap { $0 }
          + ["queue"] + end).joined(separator: " ! "))
    } else if let video {
      var parts = ["appsrc name=video format=time block=true max-buffers=2 max-bytes=0"]
      var own = video
      if !choice.container.carriesOrientation, let orientation = own?.string("image-orientation") {
        own = own?.removing(["image-orientation"])
        if let direction = directions[orientation] {
          parts += ["videoconvert n-threads=2", "videoflip video-direction=\(direction)"]
        }
      }
      parts += [inject(own)].compactMap { $0 }
      if let size = choice.size {
        parts += [
          "videoscale method=lanczos n-threads=2",
          "video/x-raw,width=\(size.width),height=\(size.height),pixel-aspect-ratio=1/1",
        ]
      }
      parts += ["videoconvert n-threads=2 dither=none"]
      if let format = choice.videoFormat { parts += ["video/x-raw,format=\(format)"] }
      parts += end
      lines.append(parts.joined(separator: " ! "))
    }
    for (index, tags) in audio.enumerated() {
      var parts = ["appsrc name=audio\(index) format=time block=true max-buffers=8 max-bytes=0"]
      parts += [inject(tags)].compactMap { $0 }
      parts += ["audioconvert dithering=none", "audioresample"]
      if copiesVideo, index < choice.audioProfiles.count {
        let isRaw = choice.audioCodecs[index].isRaw
        parts +=
          (isRaw ? [] : ["encodebin profile=\(Description.quoted(choice.audioProfiles[index]))"]) + [
            "queue", "encode.audio_\(index)",
          ]
      } else {
        parts.append("encode.audio_\(index)")
      }
      lines.append(parts.joined(separator: " ! "))
    }
    return lines.joined(separator: "\n")
  }

  /// GST_TAG_IMAGE_ORIENTATION's values, as videoflip's directions.
  private static let directions = [
    "rotate-90": "90r", "rotate-180": "180", "rotate-270": "90l", "flip-rotate-0": "horiz",
    "flip-rotate-90": "ul-lr", "flip-rotate-180": "vert", "flip-rotate-270": "ur-ll",
  ]

  /// What the encoder and the muxer of the output know better than the source.
  static let technical = [
    "container-format", "video-codec", "audio-codec", "codec", "bitrate", "minimum-bitrate", "maximum-bitrate",
    "nominal-bitrate", "encoder", "encoder-version", "has-crc", "container-specific-track-id", "channel-mode",
    "private-qt-tag", "private-id3v2-frame", "duration", "extended-comment",
  ]

  private static func inject(_ tags: TagList?) -> String? {
    guard let kept = tags?.removing(technical), !kept.isEmpty else { return nil }
    let text = kept.description
    let body = text.hasPrefix("taglist, ") ? String(text.dropFirst("taglist, ".count)) : text
    let fields = body.hasSuffix(";") ? String(body.dropLast()) : body
    return "taginject tags=\(Description.quoted(fields))"
  }

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
          fail(GStreamerError(kind: .other, element: nil, message: "\(error)", debug: nil))
        }
      }
      animator.withLock { $0 = worker }
    }
  }

  /// Until everything is written, something fails, or the writing is aborted.
  private func watchBus() {
    while !isStopped.withLock({ $0 }) {
      switch pipeline.nextMessage(timeout: ClockTime(nanoseconds: 100_000_000)) {
      case .endOfStream:
        return
      case .failed(let error):
        fail(error)
        return
      case nil where written.idle(100_000_000) > MediaWriter.stall:
        fail(
          GStreamerError(kind: .other, element: "encodebin", message: "encoding makes no progress", debug: nil))
        return
      default:
        break
      }
    }
  }

  private func fail(_ error: GStreamerError) {
    failure.withLock { $0 = $0 ?? error }
    pipeline.set(.null)  // wakes whoever pushes
  }

  /// Gives a buffer to one of the streams, and waits while its queue is full.
  /// - Throws: what made the pipeline stop.
  func push(_ buffer: Buffer, to source: AppSource) throws {
    written.count()
    guard source.push(buffer) else { throw reason }
  }

  private var reason: RetrogradeError {
    failure.withLock { $0.map { RetrogradeError.writing(target, $0) } } ?? .cancelled
  }

  /// Stops at once; wakes whoever pushes.
  func abort() {
    isStopped.withLock { $0 = true }
    pipeline.set(.null)
  }

  /// Waits until everything that was pushed is written.
  /// - Parameters:
  ///   - heard: the sample frames that were pushed of each stream of sound.
  ///   - shown: how long the video is shown, from its first frame's start to its last one's end.
  func finish(heard: [Int], shown: ClockTime?) throws {
    try bus.withLock { $0.take() }?.join()
    try animator.withLock { $0.take() }?.join()
    pipeline.set(.null)
    if let error = failure.withLock({ $0 }) { throw RetrogradeError.writing(target, error) }
    guard hasMovieHeader, !path.isEmpty else { return }
    let sounds = zip(zip(priming, heard), rates).map { (priming: $0.0, heard: $0.1, rate: $1) }
    try MovieHeader(orientation: orientation, pictureDuration: shown, sounds: sounds).apply(to: path)
  }
}
