import Containers
package import GStreamer

/// Description of a pipeline that decodes one video stream.
package struct DecodingRecipe: Sendable {
  /// The pipeline in `gst-launch-1.0` syntax.
  package var description: String
  /// Elements from the source to the decoder, if they differ from the path given to the
  /// initializer; nil otherwise.
  private(set) var path: StreamPath?
  /// Part of ``description`` that follows the parser.
  package var tail = ""
  /// Name of the appsink that outputs the frames.
  package var sink = "video"
  /// Name of the source, for messages.
  package var source: String
  /// Caps of the packets, which supplement the decoder's caps; nil if the decoder's caps are
  /// complete.
  package var packetCaps: Caps?
  /// Crop that the packets declare; nil if none is known.
  private(set) var crop: PictureCrop?
  /// True if the decoder outputs no display times or wrong ones. The packets' times are then used.
  package var isTimedByPackets = false
  /// True if the decoder outputs wrong times (`Quirk.avdecGIFTimestamps`). Decoded windows can't be
  /// compared with the index then.
  package var stampsWrongTimes = false
  /// True if all frames are one group of pictures. Reversed output then begins only after all
  /// frames are decoded.
  private(set) var isOneGroup = false
  /// Size of the largest packet in bytes, if the output is undecoded packets; nil if the output is
  /// decoded frames.
  var largestPacket: Int?
  /// Two halves of the pipeline, in `gst-launch-1.0` syntax. `packets` outputs the packets as they
  /// enter the decoder; `decoder` decodes the packets. nil unless all packets go to one decoder.
  private var parts: (packets: String, decoder: String)?
  /// True if most seeks are slow or inexact. Without an index in the file, a demuxer guesses the
  /// file position of a time, or reads everything before that position. Without timestamps, packets
  /// can't be identified after a seek.
  private(set) var estimatesSeekPositions = false
  /// True if the packet durations come from the container, not from a parser.
  private var declaresDurations = false
  /// True if the pipeline outputs all packets and decodes none (``ofPackets``).
  private(set) var readsPackets = false
  /// Called before the pipeline starts.
  package var prepare: @Sendable (Pipeline) -> Void = { _ in }
  /// Replacement for ``prepare`` if the whole source is read; nil to use ``prepare`` in that case
  /// too.
  private var prepareWhole: (@Sendable (Pipeline) -> Void)?

  /// Recipe for reading the source from its beginning to its end.
  var ofWhole: DecodingRecipe {
    var recipe = self
    recipe.prepare = prepareWhole ?? prepare
    return recipe
  }

  /// Recipe for reading all packets, from beginning to end, without decoding; nil unless all
  /// packets go to one decoder.
  var ofPackets: DecodingRecipe? {
    guard let parts else { return nil }
    var recipe = ofWhole
    recipe.description = parts.packets
    recipe.readsPackets = true
    if declaresDurations { recipe = recipe.keepingDurations }
    return recipe
  }

  /// Recipe that keeps the container's packet durations. If an edit-list entry begins within a
  /// frame, the durations show which frame that is.
  private var keepingDurations: DecodingRecipe {
    func keeping(_ prepare: @escaping @Sendable (Pipeline) -> Void) -> @Sendable (Pipeline) -> Void {
      { [sink] pipeline in
        prepare(pipeline)
        pipeline.element(sink).map(pipeline.keepDemuxedDurations)
      }
    }
    var recipe = self
    recipe.prepare = keeping(prepare)
    recipe.prepareWhole = prepareWhole.map(keeping)
    return recipe
  }

  /// Recipe for decoding packets from a ``PacketFeed``; nil unless all packets go to one decoder.
  var ofStore: DecodingRecipe? {
    guard let parts else { return nil }
    var recipe = self
    recipe.description =
      "appsrc name=\(PacketFeed.element) format=time stream-type=seekable max-buffers=2 max-bytes=0 ! \(parts.decoder)"
    recipe.prepare = { _ in }
    recipe.prepareWhole = nil
    return recipe
  }

  package init(
    pipeline description: String, sink: String, source: String, prepare: @escaping @Sendable (Pipeline) -> Void
  ) {
    self.description = description
    self.sink = sink
    self.source = source
    self.prepare = prepare
  }

  /// True if pipelines of both recipes decode in the same way.
  func isSame(as other: DecodingRecipe) -> Bool {
    let areEqual = packetCaps.flatMap { caps in other.packetCaps.map { caps.isEqual($0) } } ?? false
    return areEqual && (description, sink, largestPacket) == (other.description, other.sink, other.largestPacket)
  }

  /// Creates a recipe that outputs the packets of a video as frames, undecoded.
  /// - Parameter name: name of the appsink.
  init(packetsOf video: VideoIndex, _ path: StreamPath, in topology: Topology, name: String) {
    tail = "appsink name=\(name) \(DecodingRecipe.sink)"
    sink = name
    description = topology.description([(path.unparsed, tail)])
    parts = (description, tail)
    estimatesSeekPositions = topology.estimatesSeekPositions(path)
    source = topology.source
    packetCaps = video.caps
    largestPacket = video.largestPacket
    prepare = topology.prepare
    prepareWhole = topology.reading(nil).prepare
    if video.declaresDurations { self = keepingDurations }
  }

  private static let sink = "sync=false async=false enable-last-sample=false max-buffers=2"

  /// Returns the decoder to use instead of the one that GStreamer ranks first, to keep the pixel
  /// format of the packets (`Quirk.jpegdecChroma`, `Quirk.openjpegdecChroma`); nil to use
  /// GStreamer's choice.
  ///
  /// FFmpeg's JPEG 2000 decoder is used only for some formats, because it drops transparency, and
  /// because its pixel format for RGB with more than eight bits has no name in GStreamer.
  ///
  /// - Parameter packet: first packet of the stream.
  static func decoder(of caps: Caps, startingWith packet: UnsafeRawBufferPointer) -> String? {
    switch caps.mediaType {
    case "image/jpeg": "avdec_mjpeg"
    case "image/x-jpc", "image/x-j2c", "image/jp2": JPEG2000Packet(packet)?.decoder
    default: nil
    }
  }

  /// Returns the description of an element that completes the caps of packets for `decoder`,
  /// and of the link after it (` ! `); an empty string if none is needed.
  ///
  /// vp9alphadecodebin accepts packets only if the caps state that the packets are super-frames.
  /// Packets of matroskademux are super-frames, but only vp9parse would add this fact to the caps,
  /// and vp9parse is skipped because of `Quirk.vp9parseAlpha`.
  private static func filter(before decoder: String, _ caps: Caps) -> String {
    decoder == "vp9alphadecodebin" && !caps.has("alignment")
      ? "capssetter caps=\(Description.quoted("video/x-vp9,alignment=(string)super-frame")) ! " : ""
  }

  /// Creates a recipe that decodes a video.
  /// - Parameters:
  ///   - name: name of the appsink.
  ///   - wantsAlpha: true to also decode the second stream of VP8 and VP9, which contains the
  ///     transparency.
  /// - Throws: ``RetrogradeError`` of code `missingPlugin` if no decoder is installed.
  init(
    _ video: VideoIndex, _ path: StreamPath, in topology: Topology, name: String = "video", wantsAlpha: Bool = false
  ) throws {
    let caps = video.caps
    let hasAlpha = caps.holdsAlpha
    let all = Registry.factories(.decoder, sinks: caps)
    let candidates = all.filter { $0.hasSuffix("alphadecodebin") == (hasAlpha && wantsAlpha) }
    let isRaw = caps.mediaType == "video/x-raw"
    let decoder = candidates.first { $0 == video.decoder } ?? candidates.first
    guard isRaw || decoder != nil else {
      throw RetrogradeError(
        .missingPlugin, about: topology.source, "no decoder for \(caps.codecName)", remedy: "\(PackageHint.all)")
    }
    if isRaw { try MisreadVideo.refuseRaw(caps, of: path, source: topology.source) }
    if let decoder, !isRaw { try MisreadVideo.refuse(video, by: decoder, source: topology.source) }
    if let decoder, !isRaw {
      Log.decode.info(
        "\(topology.source): \(caps.codecName): decoded by \(decoder), "
          + (decoder == candidates.first ? "which GStreamer ranks first" : "which gives what colours there are")
          + ", of \(candidates.joined(separator: ", "))")
    }
    tail =
      (isRaw ? "" : decoder.map { "\(DecodingRecipe.filter(before: $0, caps))\(MisreadVideo.safe($0)) ! " } ?? "")
      + "video/x-raw ! "
      + "appsink name=\(name) \(DecodingRecipe.sink)"
    sink = name
    if decoder == "avdec_jpeg2000" { self.path = path.boxed }
    // avdec_mjpeg needs whole images as packets. Before GStreamer 1.24, parsebin leaves out
    // jpegparse, which makes them (`Quirk.jpegparseRank`).
    if decoder == "avdec_mjpeg", !caps.has("parsed") { self.path = path.parsed(by: "jpegparse") }
    description = topology.description([(self.path ?? path, tail)])
    source = topology.source
    if let decoder, !isRaw, !hasAlpha, let taken = Registry.sinkCaps(of: decoder) {
      let packets =
        "capsfilter caps=\(Description.quoted(taken.description)) ! appsink name=\(name) \(DecodingRecipe.sink)"
      parts = (topology.description([(self.path ?? path, packets)]), tail)
      estimatesSeekPositions = topology.estimatesSeekPositions(path)
    }
    packetCaps = caps
    crop = video.crop
    declaresDurations = video.declaresDurations
    isOneGroup = video.keyframes.count == 1
    // The decoder of GIF outputs wrong times (`Quirk.avdecGIFTimestamps`).
    stampsWrongTimes = topology.isGIF
    isTimedByPackets = stampsWrongTimes || path.unstampedTrack != nil
    prepare = topology.prepare
    prepareWhole = topology.reading(nil).prepare
  }
}

extension Topology {
  /// True if no element knows the file position of a time, or packets have no times.
  fileprivate func estimatesSeekPositions(_ path: StreamPath) -> Bool {
    facts.lacksCues || path.unstampedTrack != nil || ["tsdemux", "mpegpsdemux"].contains(where: path.passes)
      || path.steps.allSatisfy { $0.factory.hasSuffix("parse") }
  }
}

extension JPEG2000Packet {
  /// Decoder to use instead of the one that GStreamer ranks first, to keep the pixel format of the
  /// packets; nil to use GStreamer's choice.
  fileprivate var decoder: String? {
    let isEightBits = components.allSatisfy { $0.depth == 8 }
    let isKnown =
      components.count == 1 || components.contains(where: \.isSubsampled) || components.count == 3 && isEightBits
    return isKnown ? "avdec_jpeg2000" : nil
  }
}
