package import Containers
package import GStreamer
import Glibc
import MediaTime
import Quirks
import Synchronization
import Paths

/// Streams of a file, and the elements to reach each of them. Found by running `parsebin` until it knows.
package struct Topology: Sendable {
  let source: String
  /// Element that reads the source, in `gst-launch-1.0` syntax.
  private let sourceDescription: String
  /// Facts in the file's bytes that GStreamer does not tell.
  let facts: ContainerFacts
  /// Excerpt that its demuxer gets of a long file; nil: all of it.
  private var excerpt: MP4Excerpt?
  let streams: [StreamPath]
  /// Streams of the file for which no plugin is installed.
  let missing: [MissingPlugin]
  /// The chapters, as the demuxer tells them.
  let contents: TableOfContents?

  /// A description of a pipeline that reads the file and ends each chosen stream in its `tail`, such as
  /// `avdec_h264 ! appsink`. Streams not chosen stay unlinked, and cost nothing but being skipped.
  func description(_ chosen: [(stream: StreamPath, tail: String)]) -> String {
    var text = sourceDescription
    var known: Set<Int> = []
    for (stream, tail) in chosen {
      for (index, step) in stream.steps.enumerated() where known.insert(step.element).inserted {
        let link = index == 0 ? " ! " : " \(reference(stream.steps[index - 1])) ! "
        text += "\(link)\(step.factory) name=e\(step.element)"
        // Quirk.wavparseSize
        if step.factory == "wavparse", facts.wave?.isCutShort == true { text += " ignore-length=true" }
      }
      text += "\(stream.steps.last.map { " \(reference($0))" } ?? "") ! \(tail)"
    }
    return text
  }

  /// Tags of the file as a whole, with those that its demuxer does not read; those of the only stream as well, in Ogg
  /// and if there is no container (`Quirk.mpegaudioparseFileTags`).
  var fileTags: TagList? {
    var tags = streams.compactMap(\.globalTags).reduce(nil as TagList?) { $0?.merging($1) ?? $1 }
    if streams.count == 1, let stream = streams.first,
      stream.steps.allSatisfy({ $0.factory.hasSuffix("parse") || Topology.readersOfFileTags.contains($0.factory) })
    {
      tags = tags.merging(stream.tags)
    }
    return (tags?.removing(facts.misreadTags)).adding(facts.tags)?.withKnownComments.withoutInventedDate
  }

  /// Elements that hand on the tags of the file as those of its only stream.
  private static let readersOfFileTags: Set = ["id3demux", "apedemux", "oggdemux"]

  /// The same of a file of which its demuxer gets an excerpt; nil: all of it.
  func reading(_ excerpt: MP4Excerpt?) -> Topology {
    var topology = self
    topology.excerpt = excerpt
    return topology
  }

  /// Names the frame rates of the whole file: qtdemux works them out from the number of samples and their length
  /// (`gst_qtdemux_configure_stream`), of which an excerpt has fewer.
  private func nameFrameRates(_ pipeline: Pipeline) {
    let rates = streams.compactMap { stream -> (String, String)? in
      guard stream.kind == .video, let pad = stream.steps.first(where: { $0.factory == "qtdemux" })?.pad,
        let (numerator, denominator) = stream.caps.fraction("framerate")
      else { return nil }
      return (pad, "(fraction)\(numerator)/\(denominator)")
    }
    for demuxer in pipeline.elements(ofFactory: "qtdemux") {
      demuxer.onPadAdded { pad in
        guard let rate = rates.first(where: { $0.0 == pad.name })?.1 else { return }
        pad.onCaps { caps, _ in caps.setting("framerate", rate) }
      }
    }
  }

  /// Names the shape of pixels, and of raw video and PNG which field is shown first, where `qtdemux` does not
  /// (`Quirk.qtdemuxPixelAspect`, `Quirk.qtdemuxFieldOrder`), and behind a parser too: `pngparse` forgets it.
  private func nameShapes(_ pipeline: Pipeline) {
    let tracks = facts.tracks.filter { $0.kind == .video }
    for stream in streams where stream.kind == .video {
      guard let demuxer = stream.steps.first(where: { $0.factory == "qtdemux" }),
        let number = demuxer.pad.split(separator: "_").last.flatMap({ Int($0) }), tracks.indices.contains(number)
      else { continue }
      let shape = tracks[number].pixelAspect
      let isWhole = ["video/x-raw", "image/png"].contains(stream.caps.mediaType)
      let order = isWhole ? tracks[number].fieldOrder : nil
      guard shape != nil || order != nil else { continue }
      @Sendable func name(_ pad: Pad?) {
        pad?.onCaps { caps, _ in
          let shaped =
            shape.map { caps.setting("pixel-aspect-ratio", "(fraction)\($0.width)/\($0.height)") } ?? caps
          return order.map { shaped.setting("interlace-mode", "interleaved").setting("field-order", $0) } ?? shaped
        }
      }
      pipeline.element("e\(demuxer.element)")?.onPadAdded { pad in if pad.name == demuxer.pad { name(pad) } }
      if let parser = stream.steps.last, parser.factory == "pngparse" {
        name(pipeline.element("e\(parser.element)")?.staticPad(parser.pad))
      }
    }
  }

  /// Sets the field order if the file declares it (`Quirk.y4mdecFieldOrder`).
  private func nameFieldOrder(_ pipeline: Pipeline) {
    guard let order = facts.y4mFieldOrder, Quirk.y4mdecFieldOrder.applies else { return }
    for decoder in pipeline.elements(ofFactory: "y4mdec") {
      decoder.staticPad("src")?.onCaps { caps, _ in caps.setting("field-order", order) }
    }
  }

  /// True if FFmpeg's demuxer of GIF reads it, which needs several corrections.
  var isGIF: Bool { streams.contains { $0.steps.contains { $0.factory == "avdemux_gif" } } }

  /// Makes a pipeline from a description of ours give all that is in the file, when it is there; to be called before
  /// it starts.
  func prepare(_ pipeline: Pipeline) {
    if Quirk.avdemuxEnd.applies { pipeline.endFFmpegDemuxers(withFile: source) }
    if excerpt != nil { nameFrameRates(pipeline) }
    nameShapes(pipeline)
    nameFieldOrder(pipeline)
    if let correction = excerpt ?? facts.correction, streams.contains(where: { $0.passes(correction.demuxer) }) {
      Log.index.info("\(source): \(correction.demuxer) gets other bytes than the file's: \(type(of: correction))")
      pipeline.correct(correction)
    }
    if Quirk.matroskademuxStartTime.applies { pipeline.keepMatroskaTimes() }
    // Quirk.flvdemuxEarlyAudio, Quirk.mpegpsdemuxStart, and fragments of MP4: changes nothing in other segments.
    pipeline.keepEarlyPackets()
    pipeline.preferColorsOfStreams()
  }

  /// Notes streams that come late in a pipeline from a description of ours.
  func lateStreams(_ pipeline: Pipeline, after samples: Counter) -> LateStreams {
    let steps = streams.flatMap(\.steps)
    return LateStreams(
      pipeline, Set(steps.map { "e\($0.element)" }), known: Set(steps.map { "e\($0.element).\($0.pad)" }),
      after: samples)
  }

  private func reference(_ step: StreamPath.Step) -> String { "e\(step.element).\(step.pad)" }
}

extension Topology {
  private struct Found {
    var pipeline: Pipeline?
    var pads: [Pad] = []
    var isComplete = false
    /// Elements that open other files, which the file's bytes asked for.
    var refused: [RefusedElement] = []
  }

  /// Finds the streams of the file at `path`.
  /// - Throws: ``RetrogradeError``: `damagedInput` where it is not media, `missingPlugin` where no stream in
  ///   it can be read.
  init(probing path: String, _ sourceDescription: String, _ facts: ContainerFacts, _ cancellation: Cancellation) throws
  {
    // typefind: the path to a stream begins after it.
    let id3 = "application/x-id3"
    let any = facts.beginsWithID3 ? "typefind force-caps=\(id3) ! parsebin sink-caps=\(id3)" : "parsebin"
    let reader = facts.demuxer.map { "typefind ! \($0)" } ?? any
    let pipeline = try Pipeline("\(sourceDescription) ! \(reader) name=parse")
    guard let parse = pipeline.element("parse") else {
      throw RetrogradeError(.missingPlugin, "parsebin is missing", remedy: "install gstreamer1.0-plugins-base")
    }
    if let correction = facts.correction, correction.isForProbing { pipeline.correct(correction) }
    let shared = Shared(pipeline)
    parse.onPadAdded { pad in shared.add(pad) }
    pipeline.plugOnlyMedia { element in shared.refuse(element) }
    if Quirk.avdemuxEnd.applies { pipeline.endFFmpegDemuxers(withFile: path) }
    defer {
      pipeline.set(.null)
      // The signals' closures hold `shared`, and the pipeline holds the closures.
      shared.letGo()
    }
    let disk = DiskWatch(pipeline, reading: path, isOpening: true)
    pipeline.set(.playing)
    var missing: [MissingPlugin] = []
    let step = ClockTime(nanoseconds: 5_000_000)
    var idle = IdleTime()
    var failure: GStreamerError?
    var hasStopped = false
    waiting: while !shared.isReady {
      try cancellation.check()
      // An element may go on after an error, and its streams come then.
      if failure != nil, !pipeline.isStreaming { break }
      switch pipeline.nextMessage(timeout: step) {
      case .failed(let error):
        Log.index.warning("\(path): an element failed: \(error.cause); what it finds all the same is taken")
        failure = failure ?? error
        disk.noteFailure()
      case .endOfStream: break waiting
      case .missingPlugin(let plugin): missing.append(plugin)
      // The bus was empty after all threads had paused. parsebin swallows an error that an element posts while it is
      // being connected (1.22 to 1.28: `remove_error_filter` in `connect_pad`), so that none may come.
      case nil where hasStopped:
        Log.index.warning("\(path): all elements stopped without an error")
        if shared.pads.contains(where: { $0.caps != nil }) { break waiting }
        throw RetrogradeError(.damagedInput, about: path, "too damaged to read: its streams can't be found")
      case nil where disk.isReading: break
      case nil:
        hasStopped = !pipeline.isStreaming
        idle.add(step, count: 0)
        // Nothing is being read: an element waits for data that never come.
        if idle.length > ClockTime(seconds: 10) {
          Log.index.warning("\(path): nothing more is found")
          if shared.pads.contains(where: { $0.caps != nil }) { break waiting }
          throw RetrogradeError(
            .damagedInput, about: path,
            "too damaged to read, or its header has more entries than can be read in time: "
              + "nothing of it was read for 10 s"
          )
        }
      default: break
      }
    }
    if let refused = shared.refused { throw RetrogradeError(namingOthers: path, refused) }
    // Streams found before a failure can be mirrored; the index says how far they go.
    if let failure, !shared.pads.contains(where: { $0.caps != nil }) { throw RetrogradeError.reading(path, failure) }
    while case .missingPlugin(let plugin)? = pipeline.nextMessage() { missing.append(plugin) }
    var identities: [(element: Element, number: Int)] = []
    let found = shared.pads.compactMap { pad in
      StreamPath(pad: pad) { element in
        if let known = identities.first(where: { $0.element.isSame(as: element) }) { return known.number }
        identities.append((element, identities.count))
        return identities.count - 1
      }
    }
    self.facts = facts
    // Since 1.24 (095356b67e) parsebin gives out streams that nothing decodes; it announced a missing plugin before.
    missing += found.filter { !$0.isDecodable }.map { MissingPlugin(decoderOf: $0.caps) }
    missing += pipeline.unparsedStreams(besides: found)
    streams = found.filter(\.isDecodable).inOrder(of: facts.report?.streamNumbers ?? [])
      .map { $0.completed(from: facts) }
    contents = shared.pads.lazy.compactMap { $0.tableOfContents }.first
    source = path
    self.sourceDescription = sourceDescription
    self.missing = missing
    for (number, stream) in streams.enumerated() {
      Log.index.info(
        "\(path): stream \(number): \(stream.kind.rawValue), \(stream.caps.codecName), by "
          + stream.steps.map(\.factory).joined(separator: " ! "))
    }
    for plugin in missing { Log.index.info("\(path): no plugin for \(plugin)") }
    if streams.isEmpty {
      throw missing.isEmpty
        ? RetrogradeError(.damagedInput, about: path, "not media, or too damaged to read: no stream can be found in it")
        : RetrogradeError(
          .missingPlugin,
          about: path, "no plugin for \(missing.map(\.description).unique.joined(separator: ", "))",
          remedy: PackageHint.decoding(missing.first?.mediaType).map { "\($0)" })
    }
  }

  /// State that is shared by GStreamer's threads and ours while the topology is found.
  private final class Shared: Sendable {
    private let found: Mutex<Found>

    init(_ pipeline: Pipeline) { found = Mutex(Found(pipeline: pipeline)) }

    func letGo() { found.withLock { $0 = Found() } }

    func add(_ pad: Pad) {
      guard let sink = Element(factory: "fakesink"), let pipeline = found.withLock({ $0.pipeline }) else { return }
      try? sink.set("sync", "false")
      try? sink.set("async", "false")
      pipeline.add(sink)
      if let target = sink.staticPad("sink") { pad.link(to: target) }
      let isFirst = found.withLock { found in
        if !found.isComplete { found.pads.append(pad) }
        return !found.isComplete
      }
      guard isFirst, let element = pad.origin?.element else { return }
      let elements = element.upstream.compactMap(\.factoryName)
      // FLV has one stream of video and one of audio.
      if elements.contains("flvdemux"), pads.count == 2 { return complete() }
      let isSole = element.factoryName.map(Shared.sole.contains) ?? false
      guard isSole || elements.contains(where: Shared.prompt.contains) else { return }
      // If another program follows, parsebin takes the elements of the one before apart: it must not come to
      // that while they are looked at, nor read all of a long recording.
      let isLast = isSole || elements.contains("tsdemux")
      pad.watchBuffers { [self] _, pad in
        complete()
        if isLast, isReady { pad.block() }
      }
    }

    /// Demuxers that know all streams before they give out a packet: by then parsebin has all pads
    /// (gst_parse_bin_expose, which does not say that there are no more). Others find streams on their way.
    private static let prompt: Set = ["tsdemux", "qtdemux", "matroskademux", "avidemux"]

    /// Elements that give out one stream, and never another: PCM as it lies in a WAVE file, and a file that
    /// is a stream by itself. Reading it to its end would tell nothing more.
    private static let sole: Set = ["wavparse", "typefind"]

    func refuse(_ element: RefusedElement) { found.withLock { $0.refused.append(element) } }

    /// The first element that was refused, if no audio and no video was found.
    var refused: RefusedElement? {
      found.withLock { found in
        found.pads.contains { $0.caps.map { StreamKind(mediaType: $0.mediaType) != .other } ?? false }
          ? nil : found.refused.first
      }
    }

    func complete() { found.withLock { $0.isComplete = true } }

    var pads: [Pad] { found.withLock { $0.pads } }

    /// All pads are there, and the caps of each are known.
    var isReady: Bool {
      found.withLock { found in
        guard !found.pads.isEmpty, found.pads.allSatisfy({ $0.caps != nil }) else { return false }
        // A GIF has one stream, and its demuxer never says that there are no more.
        return found.isComplete || found.pads.contains { $0.origin?.element.factoryName == "avdemux_gif" }
      }
    }
  }
}

extension RetrogradeError {
  /// The file at `path` holds no media, but names others.
  /// - Parameter element: the element by which GStreamer wanted to read them; nil if it has none for that.
  init(namingOthers path: String, _ element: RefusedElement? = nil) {
    let reader = element.map { " (\($0.mediaType ?? "text") for GStreamer's \($0.factory))" } ?? ""
    self.init(
      .damagedInput, about: path, "holds no media: it names other files or addresses, which are not opened\(reader)")
  }
}

extension Pipeline {
  /// Streams of FFmpeg's demuxers that no parser takes. parsebin says nothing of them.
  fileprivate func unparsedStreams(besides found: [StreamPath]) -> [MissingPlugin] {
    elements(ofClass: "Demuxer").filter(\.isFFmpegDemuxer).flatMap { demuxer in
      let known = found.flatMap(\.steps).filter { $0.factory == demuxer.factoryName }.map(\.pad)
      return demuxer.sourcePads.filter { !known.contains($0.name) }.compactMap(\.caps).map {
        MissingPlugin(parserOf: $0)
      }
    }
  }
}
