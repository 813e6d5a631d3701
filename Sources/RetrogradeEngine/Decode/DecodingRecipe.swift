import Containers
package import GStreamer

/// How to make a pipeline that decodes one video stream.
package struct DecodingRecipe: Sendable {
  /// In `gst-launch-1.0` syntax.
  package var description: String
  /// Path to the stream that it decodes, if that is not the video's own.
  private(set) var path: StreamPath?
  /// The part of the description that follows the parser.
  package var tail = ""
  /// The name of the appsink that the frames are taken from.
  package var sink = "video"
  /// Name of the source that is being read, for messages.
  package var source: String
  /// The caps of the packets, of which the container knows more than the decoder; nil where the frames are as they
  /// are to be.
  package var packetCaps: Caps?
  /// Whether the decoder does not say when frames are shown, so that their packets must.
  package var isTimedByPackets = false
  /// True if the decoder gives frames wrong times (`Quirk.avdecGIFTimestamps`): windows cannot be checked.
  package var stampsWrongTimes = false
  /// Whether all frames are one group of pictures: none is given out before all are decoded.
  private(set) var isOneGroup = false
  /// Bytes of the largest packet, if packets are given out as they are; nil where they are decoded.
  var largestPacket: Int?
  /// A pipeline that gives the packets as they go into the decoder, and the rest of one that decodes them, in
  /// `gst-launch-1.0` syntax; nil if it is not one decoder that all packets go to.
  private var parts: (packets: String, decoder: String)?
  /// True for files without an index, in which a demuxer guesses where a time is, or reads all before it: nearly
  /// every seek is slow, or leads elsewhere. And for packets without timestamps, of which none tells whether it is
  /// the one.
  private(set) var seeksByGuess = false
  /// See ``VideoIndex/declaresDurations``.
  private var declaresDurations = false
  /// True if it gives all packets and decodes none (``ofPackets``).
  private(set) var readsPackets = false
  /// Called before the pipeline starts.
  package var prepare: @Sendable (Pipeline) -> Void = { _ in }
  /// In its place, to read the source from its beginning to its end; nil: it is the same.
  private var prepareWhole: (@Sendable (Pipeline) -> Void)?

  /// To read the source from its beginning to its end.
  var ofWhole: DecodingRecipe {
    var recipe = self
    recipe.prepare = prepareWhole ?? prepare
    return recipe
  }

  /// To read the packets from the beginning to the end, and decode none.
  var ofPackets: DecodingRecipe? {
    guard let parts else { return nil }
    var recipe = ofWhole
    recipe.description = parts.packets
    recipe.readsPackets = true
    if declaresDurations { recipe = recipe.keepingDurations }
    return recipe
  }

  /// The same, with packets as long as the container says: by that it is known which frame an edit begins within.
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

  /// To decode packets that come from a ``PacketFeed``.
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

  /// Whether a pipeline made by `other` decodes as one made by this does.
  func isSame(as other: DecodingRecipe) -> Bool {
    let areEqual = packetCaps.flatMap { caps in other.packetCaps.map { caps.isEqual($0) } } ?? false
    return areEqual && (description, sink, largestPacket) == (other.description, other.sink, other.largestPacket)
  }

  /// Gives out the packets of a video as if they were frames: nothing decodes them.
  /// - Parameter name: of the appsink.
  init(packetsOf video: VideoIndex, _ path: StreamPath, in topology: Topology, name: String) {
    tail = "appsink name=\(name) \(DecodingRecipe.sink)"
    sink = name
    description = topology.description([(path.unparsed, tail)])
    parts = (description, tail)
    seeksByGuess = topology.seeksByGuess(path)
    source = topology.source
    packetCaps = video.caps
    largestPacket = video.largestPacket
    prepare = topology.prepare
    prepareWhole = topology.reading(nil).prepare
    if video.declaresDurations { self = keepingDurations }
  }

  private static let sink = "sync=false async=false enable-last-sample=false max-buffers=2"

  /// Decoder that keeps the format of such packets, if GStreamer ranks others first
  /// (`Quirk.jpegdecChroma`, `Quirk.openjpegdecChroma`).
  ///
  /// FFmpeg's decoder of JPEG 2000 leaves transparency out, and gives RGB of more than eight bits in a pixel
  /// format that has no name in GStreamer.
  ///
  /// - Parameter packet: the first.
  static func decoder(of caps: Caps, startingWith packet: UnsafeRawBufferPointer) -> String? {
    switch caps.mediaType {
    case "image/jpeg": "avdec_mjpeg"
    case "image/x-jpc", "image/x-j2c", "image/jp2": JPEG2000Packet(packet)?.decoder
    default: nil
    }
  }

  /// The element that completes the caps of packets for `decoder`, with a ` ! `; "" if none is needed.
  ///
  /// vp9alphadecodebin takes only packets that are called super-frames. Those of matroskademux are,
  /// but only vp9parse says so, which is skipped for `Quirk.vp9parseAlpha`.
  private static func filter(before decoder: String, _ caps: Caps) -> String {
    decoder == "vp9alphadecodebin" && !caps.has("alignment")
      ? "capssetter caps=\(Description.quoted("video/x-vp9,alignment=(string)super-frame")) ! " : ""
  }

  /// - Throws: ``RetrogradeError`` of code `missingPlugin` where no decoder is installed.
  /// - Parameter name: of the appsink.
  /// - Parameter wantsAlpha: decode also the transparency in a second stream beside the video (VP8 and VP9).
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
    // Quirk.jpegparseRank: avdec_mjpeg takes packets that were parsed.
    if decoder == "avdec_mjpeg", !caps.has("parsed") { self.path = path.parsed(by: "jpegparse") }
    description = topology.description([(self.path ?? path, tail)])
    source = topology.source
    if let decoder, !isRaw, !hasAlpha, let taken = Registry.sinkCaps(of: decoder) {
      let packets =
        "capsfilter caps=\(Description.quoted(taken.description)) ! appsink name=\(name) \(DecodingRecipe.sink)"
      parts = (topology.description([(self.path ?? path, packets)]), tail)
      seeksByGuess = topology.seeksByGuess(path)
    }
    packetCaps = caps
    declaresDurations = video.declaresDurations
    isOneGroup = video.keyframes.count == 1
    // Quirk.avdecGIFTimestamps
    stampsWrongTimes = topology.isGIF
    isTimedByPackets = stampsWrongTimes || path.unstampedTrack != nil
    prepare = topology.prepare
    prepareWhole = topology.reading(nil).prepare
  }
}

extension Topology {
  /// True if nothing on the way knows where a time is in the file, or packets come without their times.
  fileprivate func seeksByGuess(_ path: StreamPath) -> Bool {
    facts.lacksCues || path.unstampedTrack != nil || ["tsdemux", "mpegpsdemux"].contains(where: path.passes)
      || path.steps.allSatisfy { $0.factory.hasSuffix("parse") }
  }
}

extension JPEG2000Packet {
  /// Decoder that keeps the stream's content, if that is not the first by rank.
  fileprivate var decoder: String? {
    let isEightBits = components.allSatisfy { $0.depth == 8 }
    let isKnown =
      components.count == 1 || components.contains(where: \.isSubsampled) || components.count == 3 && isEightBits
    return isKnown ? "avdec_jpeg2000" : nil
  }
}
