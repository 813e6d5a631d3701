package import Containers
package import GStreamer
import MediaTime
import Quirks

/// Choice of the decoder for an audio stream.
package struct AudioDecoder: Sendable {
  /// Name of the decoder's element factory; nil for raw audio.
  package let factory: String?
  /// Reason for the choice, for the log.
  let reason: String

  /// - Returns: nil if `stream` can't be decoded (``init(for:changing:)``).
  init?(for stream: StreamPath) { self.init(for: stream.caps, changing: stream.formChange) }

  /// - Parameter change: format change between packets; nil if there is none.
  /// - Returns: nil if no plugin decodes `caps`, if there are more than ``mostChannels`` channels,
  ///   or for MPEG-4 ALS.
  package init?(for caps: Caps, changing change: FLACChange? = nil) {
    if AudioDecoder.hasTooManyChannels(caps) { return nil }
    guard caps.mediaType != "audio/x-raw" else {
      factory = nil
      reason = "since it is raw audio"
      return
    }
    guard !caps.isALS else { return nil }
    let candidates = Registry.factories(.decoder, sinks: caps)
    // For MPEG audio and AC-3, prefer FFmpeg's decoders: they output one buffer per packet without
    // delay, so the packet of each buffer is known. The decoders that GStreamer ranks first
    // (a52dec, mpg123) drop the first frame or change the level.
    let isMPEG = ["audio/mpeg", "audio/x-ac3", "audio/x-eac3", "audio/x-private1-ac3"].contains(caps.mediaType)
    let isExchanged =
      caps.mediaType == "audio/x-flac" && caps.int("channels").map { 7...8 ~= $0 } ?? false
      && Quirk.flacdecSurround.applies
    // If the rate or the channels change, use FFmpeg's decoder: flacparse outputs caps without
    // `streamheader`, and flacdec 1.26 refuses such caps. If only the depth changes, use flacdec:
    // it works, because the caps do not contain the depth, but FFmpeg's decoder fails.
    let isRefused = change == .rateOrChannels
    guard
      let best = (isMPEG || isExchanged || isRefused ? candidates.first { $0.hasPrefix("avdec_") } : nil)
        ?? candidates.first
    else { return nil }
    factory = best
    reason =
      (best == candidates.first
        ? "which GStreamer ranks first"
        : isExchanged
          ? "which knows the loudspeakers"
          : isRefused ? "which decodes packets of another form" : "which gives one buffer for each packet")
      + ", of \(candidates.joined(separator: ", "))"
  }

  /// Maximum number of channels that audioconvert accepts (`Quirk.audioconvertChannels`).
  static let mostChannels = 63

  static func hasTooManyChannels(_ caps: Caps) -> Bool {
    Quirk.audioconvertChannels.applies && caps.int("channels").map { $0 > mostChannels } ?? false
  }
}

/// Decodes one audio stream into the spool, during the indexing pass.
package final class AudioIndexer: Sendable {
  /// Name of the appsink at the end of the audio branch.
  package let name: String
  /// Caps of the packets; nil if unknown.
  private let codec: Caps?
  private let tags: TagList?
  private let spoolDirectory: String?
  private let trim: GaplessInfo
  private let disposition: Disposition?
  private let changesForm: Bool
  /// True if each GStreamer segment is one entry of an edit list (ISO/IEC 14496-12, 8.6.6).
  private let hasEdits: Bool
  private let isOgg: Bool
  private let ownClock: PacketTimestamps

  /// - Parameter spoolDirectory: nil to count sample frames without storing them.
  package init(
    name: String, codec: Caps?, tags: TagList?, spoolDirectory: String?, trim: GaplessInfo = GaplessInfo(),
    disposition: Disposition? = nil, changesForm: Bool = false, hasEdits: Bool = false,
    isOgg: Bool = false, clock: PacketTimestamps = PacketTimestamps()
  ) {
    self.hasEdits = hasEdits
    self.isOgg = isOgg
    ownClock = clock
    self.trim = trim
    self.changesForm = changesForm
    self.disposition = disposition
    self.name = name
    self.codec = codec
    self.tags = tags
    self.spoolDirectory = spoolDirectory
  }

  /// Creates an indexer of the same stream as `known`. Adds facts from `path`, such as tags, that
  /// were unknown when the pipeline was created.
  package convenience init(_ known: AudioIndexer, of path: StreamPath) {
    self.init(
      name: known.name, codec: path.caps, tags: path.tags, spoolDirectory: known.spoolDirectory, trim: path.trim,
      disposition: path.disposition, hasEdits: path.passes("qtdemux"), isOgg: path.passes("oggdemux"),
      clock: known.ownClock)
  }

  /// Returns the last elements of a stream's branch in the description of an indexing pipeline.
  static func tail(_ number: Int, _ stream: StreamPath, _ decoder: AudioDecoder) -> String {
    let isChanged = decoder.factory == "opusdec" && Quirk.opusdecPhaseInversion.applies
    let setting = isChanged ? " phase-inversion=true" : ""
    let decode = decoder.factory.map { "\($0) name=decoder\(number)\(setting) ! " } ?? ""
    // An Opus header contains the rate of the encoder's input. Opus itself always has 48 kHz, and
    // decoding to a lower rate loses samples.
    let isOpus = stream.caps.mediaType == "audio/x-opus"
    let rate = isOpus ? ",rate=48000" : ""
    // Raw audio needs no queue, because the appsink stores enough data to keep the demuxer running.
    // A decoder that reads the file directly can't follow a queue, because queues don't support
    // pull mode.
    let queue = stream.isFile || decoder.factory == nil ? "" : "queue name=queue\(number) ! "
    let loudspeakers = stream.loudspeakers ?? (stream.caps.lacksChannelMask ? 0 : nil)
    // With more than two channels, a channel mask of 0 means that no loudspeakers are assigned
    // (`Quirk.wavparseChannelMask`).
    let named = [loudspeakers.map { Caps.field(channelMask: $0) }, stream.sampleFormat.map { "format=\($0)" }]
      .compactMap { $0 }.joined(separator: ",")
    let placed = named.isEmpty ? "" : "capssetter caps=\"audio/x-raw,\(named)\" ! "
    // Without `capssetter`, linking limits the caps of a parser to those that the decoder's pad
    // template declares. opusdec also decodes streams whose header states a rate that Opus does not
    // have (44.1 kHz), although the template of opusdec excludes such rates.
    // `capssetter` also sets the media type, which the template of the demuxer may lack.
    let open =
      stream.hasUndeclaredCaps || isOpus ? "capssetter join=false caps=\(stream.caps.mediaType) ! " : ""
    return "\(open)\(queue)\(decode)\(placed)audioconvert dithering=none ! audio/x-raw,layout=interleaved\(rate) ! "
      + "appsink name=audio\(number) sync=false async=false enable-last-sample=false max-buffers=64"
  }

  /// Returns the elements upstream of `sink`, nearest first, with the decoder and the parser among
  /// them. The decoder is nil for raw audio, or if an element between the decoder and `sink` may
  /// merge or split buffers. In the latter case, the packet of each buffer is unknown, so the
  /// buffers' own timestamps are used.
  /// - Returns: nil if there is an element that may merge or split buffers, and no parser.
  package static func chain(before sink: Element) -> (decoder: Element?, parser: Element?, rest: [Element])? {
    let plain: Set = ["audioconvert", "capsfilter", "capssetter", "queue"]
    let chain = sink.upstream.dropFirst()
    let rest = Array(chain.drop { element in element.factoryName.map(plain.contains) ?? false })
    let decoder = rest.first.flatMap { $0.isOfClass("Decoder") ? $0 : nil }
    let parser = rest.first { $0.isOfClass("Parser") }
    return decoder != nil || rest.isEmpty || parser != nil ? (decoder, parser, Array(chain)) : nil
  }

  /// Watches the packets that enter the decoder, and the audio that leaves it.
  package func watch(_ pipeline: Pipeline) {
    guard let chain = pipeline.element(name).flatMap(AudioIndexer.chain) else { return }
    let entry =
      chain.parser ?? chain.rest.last { $0.factoryName == "queue" } ?? chain.decoder
      ?? chain.rest.last { $0.factoryName == "audioconvert" }
    if let entry { ownClock.openSegments(before: entry) }
    if let decoder = chain.decoder { ownClock.watch(decoder) }
  }

  /// - Parameters:
  ///   - first: sample that was already pulled; nil if none was.
  ///   - watched: packet timestamps of the decoder; nil to use those recorded since ``watch(_:)``.
  package func run(
    _ reader: StreamReader, first: Sample? = nil, watched: PacketTimestamps? = nil
  ) throws -> (track: AudioTrack?, warnings: [Warning]) {
    let found = try run(reader, AudioFit(), first: first, watched: watched)
    return (found.track, found.warnings)
  }

  /// - Parameter fit: the wanted part of the stream.
  /// - Throws: ``InexactRange`` and all other errors of indexing.
  func run(
    _ reader: StreamReader, _ fit: AudioFit, first: Sample? = nil, watched: PacketTimestamps? = nil
  ) throws -> (track: AudioTrack?, anchor: AudioAnchor?, warnings: [Warning]) {
    let clock = watched ?? ownClock
    var collector = try AudioCollector(spoolDirectory: spoolDirectory)
    var segment = Segment()
    var early = first
    while let sample = early.take() ?? reader.next() {
      segment = sample.segment
      let time =
        changesForm ? collector.length : sample.buffer.pts.map { (clock.segment ?? segment).streamTime(of: $0) }
      try collector.add(sample, packet: clock.takePacket(), at: time)
      if let time { reader.reach(time) }
    }
    try collector.finish()
    guard !collector.decoded.isEmpty else {
      return (
        nil, nil,
        [
          Warning(
            .streamLeftOut, "left out: an audio stream from which nothing can be decoded (\(codec?.codecName ?? name))")
        ]
      )
    }
    let isLPCM = ["audio/x-private-ts-lpcm", "audio/x-private1-lpcm"].contains(codec?.mediaType)
    if isLPCM, collector.caps?.string("format")?.hasPrefix("S24") ?? false, Quirk.dvdlpcmdecDepth.applies {
      let reason = "which GStreamer decodes wrongly; convert the audio to FLAC first (ffmpeg -c:a flac)"
      return (nil, nil, [Warning(.streamLeftOut, "left out: LPCM audio with more than 16 bits per sample, \(reason)")])
    }
    // The demuxer may have posted tags after the pad was examined.
    let late = reader.sink.pad?.tags(global: false)
    let (track, anchor) = try track(collector, segment, clock, fit, tags.merging(late))
    let held = track.flatMap { heldBack(rate: $0.rate) }.map { [$0] } ?? []
    return (track, anchor, collector.warnings + clock.warnings + held)
  }

  /// Returns a warning about the end of WMA audio, which the decoder does not output
  /// (`Quirk.avdecWMAEnd`); nil for other audio.
  private func heldBack(rate: Int) -> Warning? {
    guard let codec, codec.mediaType == "audio/x-wma", let version = codec.int("wmaversion"), version < 3,
      Quirk.avdecWMAEnd.applies
    else { return nil }
    // Frame length as in `ff_wma_get_frame_len_bits` of FFmpeg.
    let count = rate <= 16_000 ? 512 : rate <= 22_050 || rate <= 32_000 && version == 1 ? 1024 : 2048
    return Warning(
      .detailLeftOut,
      "left out: the last \(count) samples (\(ClockTime(sampleIndex: count, rate: rate).inSeconds)) of the WMA audio, "
        + "which GStreamer's decoder does not output", count: count)
  }

  private func track(
    _ audio: AudioCollector, _ segment: Segment, _ clock: PacketTimestamps, _ fit: AudioFit,
    _ tags: TagList?
  ) throws -> (AudioTrack?, AudioAnchor?) {
    guard let caps = audio.caps, let rate = caps.int("rate"), rate > 0 else { return (nil, nil) }
    let decoded = audio.decoded
    if hasEdits, case let edits = clock.edits(of: audio.decoded), edits.count > 1 {
      return (try track(audio, edits, clock, caps, rate, tags), nil)
    }
    var segment = clock.segment ?? segment
    let trim = self.trim.applying(toDecoded: decoded.reduce(0) { $0 + $1.count })
    segment.start = segment.start + trim.delay
    if let duration = trim.duration { segment.stop = segment.start + duration }
    if let end = trim.end.map({ $0 - segment.time + segment.start }) { segment.stop = min(segment.stop ?? end, end) }
    var layout = AudioLayout(rate: rate, segment: segment, packetCount: clock.packetCount)
    layout.fillsGaps = clock.fillsGaps
    layout.cutPriming = trim.cut
    layout.countsFromZero = isOgg && codec?.mediaType != "audio/x-opus"
    // FLAC timestamps count samples at the rate of the current packet. After a rate change, the
    // timestamps therefore differ from the sum of the durations, and must be ignored.
    layout.ignoresTimestamps = changesForm
    let (chunks, anchor, isPlaced) = try layout.place(decoded, fit)
    var found = track(audio, chunks, clock, caps, rate, tags)
    found?.isPlaced = isPlaced
    return (found, anchor)
  }

  /// Returns a track with the audio of all entries of an edit list, one after the other.
  private func track(
    _ audio: AudioCollector, _ edits: [(segment: Segment, audio: ArraySlice<DecodedAudio>)], _ clock: PacketTimestamps,
    _ caps: Caps, _ rate: Int, _ tags: TagList?
  ) throws -> AudioTrack? {
    var chunks: [AudioChunk] = []
    var (offset, packets) = (0, 0)
    for edit in edits {
      let last = edit.audio.last?.packet
      var layout = AudioLayout(rate: rate, segment: edit.segment, packetCount: last.map { $0 - packets })
      layout.fillsGaps = clock.fillsGaps
      chunks = AudioLayout.append(try layout.place(Array(edit.audio)).chunks, offset: offset, to: chunks)
      offset += edit.audio.reduce(0) { $0 + $1.count }
      packets = last ?? packets
    }
    return track(audio, chunks, clock, caps, rate, tags)
  }

  private func track(
    _ audio: AudioCollector, _ chunks: [AudioChunk], _ clock: PacketTimestamps, _ caps: Caps, _ rate: Int,
    _ tags: TagList?
  ) -> AudioTrack? {
    // Compute the bit rate from the length of all decoded audio: `packetBytes` counts all packets,
    // but the track may contain only a part of their audio.
    let length = ClockTime(sampleIndex: audio.decoded.reduce(0) { $0 + $1.count }, rate: rate).seconds
    let bits = Double(clock.packetBytes) * 8
    var track = AudioTrack(
      caps: caps, codec: codec ?? caps, tags: tags, chunks: chunks,
      bitrate: bits > 0 && length > 0 ? Int(exactly: (bits / length).rounded()) : nil, store: audio.spool)
    track?.disposition = disposition
    return track
  }

  /// Clears the recorded packet timestamps, for another pass. Call this only while no data flows in
  /// the pipeline.
  func resetNotes() { ownClock.reset() }
}
