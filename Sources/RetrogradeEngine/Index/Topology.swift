package import Containers
package import GStreamer
import Glibc
import MediaTime
import Quirks
import Synchronization
import Paths

/// Streams of a file and the GStreamer elements that lead to each stream, found by running
/// `parsebin`.
package struct Topology: Sendable {
  let source: String
  /// GStreamer element that reads the source, in `gst-launch-1.0` syntax.
  private let sourceDescription: String
  /// Facts in the file's bytes that GStreamer does not report.
  let facts: ContainerFacts
  /// Excerpt of a long MP4 file's tables, which the demuxer reads instead of the full tables; nil
  /// if the demuxer reads the whole file.
  private var excerpt: MP4Excerpt?
  private(set) var streams: [StreamPath]
  /// Streams of the file for which no plugin is installed.
  let missing: [MissingPlugin]
  /// Streams of a transport stream that have packets but no pad of `tsdemux`.
  let skippedStreams: [ContainerDetail]
  /// Chapters from the demuxer.
  let contents: TableOfContents?

  /// Describes a pipeline that reads the file and ends each chosen stream in its `tail`.
  /// A tail is, for example, `avdec_h264 ! appsink`. Other streams stay unlinked, and the demuxer
  /// only skips them.
  func description(_ chosen: [(stream: StreamPath, tail: String)]) -> String {
    var text = sourceDescription
    var known: Set<Int> = []
    for (stream, tail) in chosen {
      for (index, step) in stream.steps.enumerated() where known.insert(step.element).inserted {
        let link = index == 0 ? " ! " : " \(reference(stream.steps[index - 1])) ! "
        text += "\(link)\(step.factory) name=e\(step.element)"
        // wavparse reads the wrong number of bytes from a file with more than 2³¹ - 1 bytes of
        // audio (`Quirk.wavparseSize`). So read to the end of the file; `trim` cuts the excess.
        if step.factory == "wavparse", facts.wave?.isCutShort == true { text += " ignore-length=true" }
      }
      text += "\(stream.steps.last.map { " \(reference($0))" } ?? "") ! \(tail)"
    }
    return text
  }

  /// Tags of the file, including tags that the demuxer does not read. If an Ogg file or a file
  /// without a container has only one stream, that stream's tags are included
  /// (`Quirk.mpegaudioparseFileTags`).
  var fileTags: TagList? {
    var tags = streams.compactMap(\.globalTags).reduce(nil as TagList?) { $0?.merging($1) ?? $1 }
    if streams.count == 1, let stream = streams.first,
      stream.steps.allSatisfy({ $0.factory.hasSuffix("parse") || Topology.readersOfFileTags.contains($0.factory) })
    {
      tags = tags.merging(stream.tags)
    }
    return (tags?.removing(facts.misreadTags)).adding(facts.tags + apeTags(besides: tags))?
      .withKnownComments.withoutInventedDate
  }

  /// Returns the items of the file's APE tag that are not in `known`. apedemux reads no items from
  /// some APE tags that lack a header. Releases of avdemux_tta report different items.
  private func apeTags(besides known: TagList?) -> [NamedTag] {
    facts.apeTags.filter { tag in
      TagList.tag(named: tag.name).map { known?.has($0) != true } ?? !streams.contains { $0.passes("apedemux") }
    }
  }

  /// GStreamer elements that report the file's tags as tags of the only stream, or forward such
  /// tags.
  private static let readersOfFileTags: Set = ["id3demux", "apedemux", "oggdemux", "avdemux_tta"]

  /// Returns the topology with an excerpt of the MP4 tables for the demuxer; if `excerpt` is nil,
  /// the demuxer reads the whole file.
  func reading(_ excerpt: MP4Excerpt?) -> Topology {
    var topology = self
    topology.excerpt = excerpt
    return topology
  }

  /// Returns the topology of numbered images with the tags of their first image.
  func labelled(_ tags: TagList) -> Topology {
    var topology = self
    topology.streams = streams.map { $0.labelled(tags) }
    return topology
  }

  /// Sets the frame rates in the caps to the rates that were found in the whole file. qtdemux
  /// computes a rate from the number and duration of a track's packets
  /// (`gst_qtdemux_configure_stream`), so it would compute other rates from an excerpt, which has
  /// fewer packets.
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

  /// Sets two values that the demuxer does not set: the pixel aspect ratio, and the field order of
  /// codecs that do not mark fields. See `Quirk.qtdemuxPixelAspect`, `Quirk.qtdemuxFieldOrder` and
  /// `Quirk.matroskademuxFieldOrder`. Parsers such as `pngparse` drop both values, so both are also
  /// set after the parser.
  private func nameShapes(_ pipeline: Pipeline) {
    let tracks = facts.tracks.filter { $0.kind == .video }
    for stream in streams where stream.kind == .video {
      guard let demuxer = stream.steps.first(where: { ["qtdemux", "matroskademux"].contains($0.factory) }),
        let number = demuxer.pad.split(separator: "_").last.flatMap({ Int($0) }), tracks.indices.contains(number)
      else { continue }
      let shape = tracks[number].pixelAspect
      let order = Topology.marksFields(stream.caps) ? nil : tracks[number].fieldOrder
      guard shape != nil || order != nil else { continue }
      @Sendable func name(_ pad: Pad?) {
        pad?.onCaps { caps, _ in
          let shaped =
            shape.map { caps.setting("pixel-aspect-ratio", "(fraction)\($0.width)/\($0.height)") } ?? caps
          return order.map { shaped.setting("interlace-mode", "interleaved").setting("field-order", $0) } ?? shaped
        }
      }
      pipeline.element("e\(demuxer.element)")?.onPadAdded { pad in if pad.name == demuxer.pad { name(pad) } }
      if let parser = stream.steps.last, parser.factory == "pngparse" || order != nil,
        parser.element != demuxer.element
      {
        name(pipeline.element("e\(parser.element)")?.staticPad(parser.pad))
      }
    }
  }

  /// True if the packets themselves may mark interlaced frames.
  private static func marksFields(_ caps: Caps) -> Bool {
    // FFV1 marks interlaced frames from version 3 on. These versions have a configuration record,
    // which becomes `codec_data`.
    if caps.mediaType == "video/x-ffv" { return caps.has("codec_data") }
    let unmarked: Set = [
      "video/x-raw", "image/png", "video/x-huffyuv", "video/x-vp8", "video/x-vp9", "video/x-av1", "video/x-theora",
    ]
    return !unmarked.contains(caps.mediaType)
  }

  /// Sets the field order in the caps of Y4M video, if the file declares it
  /// (`Quirk.y4mdecFieldOrder`).
  private func nameFieldOrder(_ pipeline: Pipeline) {
    guard let order = facts.y4mFieldOrder, Quirk.y4mdecFieldOrder.applies else { return }
    for decoder in pipeline.elements(ofFactory: "y4mdec") {
      decoder.staticPad("src")?.onCaps { caps, _ in caps.setting("field-order", order) }
    }
  }

  /// True if FFmpeg's GIF demuxer, which needs several corrections, reads the file.
  var isGIF: Bool { streams.contains { $0.steps.contains { $0.factory == "avdemux_gif" } } }

  /// Applies the workarounds for the file to a pipeline from `description(_:)`, so that the
  /// pipeline outputs all data. Call this before the pipeline starts.
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
    // The GStreamer segment may start after the first packets in FLV, in program streams, and in
    // fragmented MP4 (`Quirk.flvdemuxEarlyAudio`, `Quirk.mpegpsdemuxStart`). The GStreamer segments
    // of other files do not change.
    pipeline.keepEarlyPackets()
    pipeline.preferColorsOfStreams()
  }

  /// Watches a pipeline from `description(_:)` for streams that appear late.
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
    /// GStreamer elements that were refused because they would open the other files that this file
    /// names.
    var refused: [RefusedElement] = []
  }

  /// Finds the streams of the file at `path`.
  /// - Throws: ``RetrogradeError`` of code `damagedInput` if the file is not media, or of code
  ///   `missingPlugin` if no stream of the file can be read.
  init(probing path: String, _ sourceDescription: String, _ facts: ContainerFacts, _ cancellation: Cancellation) throws
  {
    // The path to a stream begins after typefind, so an added typefind is not part of the path.
    let id3 = "application/x-id3"
    let any = facts.beginsWithID3 ? "typefind force-caps=\(id3) ! parsebin sink-caps=\(id3)" : "parsebin"
    let reader = facts.demuxer.map { "typefind ! \($0)" } ?? any
    let pipeline = try Pipeline("\(sourceDescription) ! \(reader) name=parse")
    guard let parse = pipeline.element("parse") else {
      throw RetrogradeError(
        .missingPlugin, "the GStreamer element parsebin is missing", remedy: "install gstreamer1.0-plugins-base")
    }
    if let correction = facts.correction, correction.isForProbing { pipeline.correct(correction) }
    let shared = Shared(pipeline)
    parse.onPadAdded { pad in shared.add(pad) }
    pipeline.plugOnlyMedia { element in shared.refuse(element) }
    if Quirk.avdemuxEnd.applies { pipeline.endFFmpegDemuxers(withFile: path) }
    defer {
      pipeline.set(.null)
      // Break the reference cycle: the pipeline keeps the signals' closures, and the closures keep
      // `shared`.
      shared.releaseElements()
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
      // An element may continue after an error and still add streams, so wait until no thread is
      // running.
      if failure != nil, !pipeline.isStreaming { break }
      switch pipeline.nextMessage(timeout: step) {
      case .failed(let error):
        Log.index.warning("\(path): an element failed: \(error.cause); what it finds all the same is taken")
        failure = failure ?? error
        disk.noteFailure()
      case .endOfStream: break waiting
      case .missingPlugin(let plugin): missing.append(plugin)
      // All threads had paused, and the bus is still empty. Stop waiting, because an error may
      // never arrive: parsebin drops an error that an element posts while parsebin connects that
      // element (1.22 to 1.28: `remove_error_filter` in `connect_pad`).
      case nil where hasStopped:
        Log.index.warning("\(path): all elements stopped without an error")
        if shared.pads.contains(where: { $0.caps != nil }) { break waiting }
        throw RetrogradeError(.damagedInput, about: path, "too damaged to read: no streams can be found")
      case nil where disk.isReading: break
      case nil:
        hasStopped = !pipeline.isStreaming
        idle.add(step, count: 0)
        // No data is being read, so an element waits for data that will never arrive.
        if idle.length > ClockTime(seconds: 10) {
          Log.index.warning("\(path): nothing more is found")
          if shared.pads.contains(where: { $0.caps != nil }) { break waiting }
          throw RetrogradeError(
            .damagedInput, about: path,
            "too damaged to read, or its header is too large: GStreamer read nothing of the file for 10 s"
          )
        }
      default: break
      }
    }
    if let refused = shared.refused { throw RetrogradeError(namingOthers: path, refused) }
    // Streams found before a failure can be reversed; the index shows how far they reach.
    if let failure, !shared.pads.contains(where: { $0.caps != nil }) { throw facts.error(reading: path, failure) }
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
    // Since 1.24 (095356b67e) parsebin outputs streams for which no decoder is installed; earlier
    // releases announce a missing plugin.
    missing += found.filter { !$0.isDecodable }.map { MissingPlugin(decoderOf: $0.caps) }
    missing += pipeline.unparsedStreams(besides: found)
    streams = found.filter(\.isDecodable).inOrder(of: facts.report?.streamNumbers ?? [])
      .map { $0.completed(from: facts) }
    let demuxed = pipeline.elements(ofFactory: "tsdemux").flatMap(\.sourcePads)
      .compactMap { StreamPath.numberInFile(ofPad: $0.name) }
    skippedStreams = (facts.report?.dataStreams ?? []).filter { !demuxed.contains($0.number) }.map(\.detail)
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
        ? RetrogradeError(.damagedInput, about: path, "not media, or too damaged to read: no streams can be found")
        : RetrogradeError(
          .missingPlugin,
          about: path,
          "no GStreamer plugin is installed for it (\(missing.map(\.description).unique.joined(separator: ", ")))",
          remedy: PackageHint.decoding(missing.first?.mediaType).map { "\($0)" })
    }
  }

  /// State shared between GStreamer's threads and the thread that waits for the streams.
  private final class Shared: Sendable {
    private let found: Mutex<Found>

    init(_ pipeline: Pipeline) { found = Mutex(Found(pipeline: pipeline)) }

    func releaseElements() { found.withLock { $0 = Found() } }

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
      // FLV has at most one video stream and one audio stream, so no pads follow.
      if elements.contains("flvdemux"), pads.count == 2 { return complete() }
      let isSole = element.factoryName.map(Shared.sole.contains) ?? false
      guard isSole || elements.contains(where: Shared.prompt.contains) else { return }
      // If another program of the transport stream follows, parsebin removes the elements of the
      // current program. A blocked pad prevents this during the inspection, and avoids reading all
      // of a long recording.
      let isLast = isSole || elements.contains("tsdemux")
      pad.watchBuffers { [self] _, pad in
        complete()
        if isLast, isReady { pad.block() }
      }
    }

    /// Demuxers that know all streams before they output the first packet. At that packet, parsebin
    /// has all pads, but does not announce that no further pads follow (gst_parse_bin_expose).
    /// Other demuxers may find streams later.
    private static let prompt: Set = ["tsdemux", "qtdemux", "matroskademux", "avidemux"]

    /// Elements that never output more than one stream: `wavparse`, and `typefind` for a file that
    /// is itself the stream. Reading to the end would find no further stream.
    private static let sole: Set = ["wavparse", "typefind"]

    func refuse(_ element: RefusedElement) { found.withLock { $0.refused.append(element) } }

    /// First refused element; nil if audio or video was found.
    var refused: RefusedElement? {
      found.withLock { found in
        found.pads.contains { $0.caps.map { StreamKind(mediaType: $0.mediaType) != .other } ?? false }
          ? nil : found.refused.first
      }
    }

    func complete() { found.withLock { $0.isComplete = true } }

    var pads: [Pad] { found.withLock { $0.pads } }

    /// True if all pads exist and have caps.
    var isReady: Bool {
      found.withLock { found in
        guard !found.pads.isEmpty, found.pads.allSatisfy({ $0.caps != nil }) else { return false }
        // A GIF has one stream, and its demuxer never announces that no streams follow.
        return found.isComplete || found.pads.contains { $0.origin?.element.factoryName == "avdemux_gif" }
      }
    }
  }
}

extension RetrogradeError {
  /// Creates the error for a file that contains no media but refers to other files.
  /// - Parameter element: the element that would read those files; nil if GStreamer has no such
  ///   element.
  init(namingOthers path: String, _ element: RefusedElement? = nil) {
    let reader = element.map { " (\($0.mediaType ?? "text") for GStreamer's \($0.factory))" } ?? ""
    self.init(
      .damagedInput, about: path,
      "contains no media, only the names of other files or URLs, which are not opened\(reader)")
  }
}

extension Pipeline {
  /// Returns the streams of FFmpeg's demuxers for which no parser is installed. parsebin does not
  /// report such streams.
  fileprivate func unparsedStreams(besides found: [StreamPath]) -> [MissingPlugin] {
    elements(ofClass: "Demuxer").filter(\.isFFmpegDemuxer).flatMap { demuxer in
      let known = found.flatMap(\.steps).filter { $0.factory == demuxer.factoryName }.map(\.pad)
      return demuxer.sourcePads.filter { !known.contains($0.name) }.compactMap(\.caps).map {
        MissingPlugin(parserOf: $0)
      }
    }
  }
}
