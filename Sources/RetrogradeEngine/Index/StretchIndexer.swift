import Containers
import GStreamer
import MediaTime

/// Indexes stretches of a source without reading the parts before and after them, each as a pass over all of
/// the source would index it.
///
/// It looks at the source's beginning first: for the start of the presentation, and for the anchors of the
/// audio. Then it goes to the last keyframe before a stretch, by the container's own index, with as much
/// before it as the audio decoders need. Where a stretch can't be known to be exact, it says so
/// (``InexactStretch``), and all of the source is to be indexed.
final class StretchIndexer {
  /// The index of its first seconds.
  let beginning: SourceIndex
  /// When the presentation starts, in stream time.
  var start: ClockTime { beginning.presentationStart }
  /// The way to the first video, decoded, as far as its beginning tells; nil where there is none.
  var recipe: DecodingRecipe? { beginning.recipe }
  private let indexer: Indexer
  private let streams: ChosenStreams
  private let gate = StretchGate()
  private let pipeline: IndexingPipeline
  /// Anchor that places each audio stream; nil for one that has not begun in the first seconds.
  private let anchors: [AudioAnchor?]
  /// Length that each audio decoder has to have decoded before its samples are those of a pass from the
  /// beginning on.
  private let preRolls: [ClockTime]
  private let hole: TimeSpan?
  private let placesAudio: Bool
  /// For each audio stream, true if it has begun and has no anchor.
  private let isUnplaced: [Bool]

  /// Length of the part that is read to find out how the source begins.
  private static let head = ClockTime(nanoseconds: 1_500_000_000)
  /// Packets of one time may lie that far apart in a file.
  private static let interleaving = ClockTime(seconds: 1)
  /// Lengths to go further back, if need be, to find where a wanted stream begins.
  private static let steps = [0.0, 8, 24, 56].map { ClockTime(seconds: $0) }
  /// Bounds of the search before and behind a stretch.
  static let reach = (before: ClockTime(seconds: 63), behind: ClockTime(seconds: 12))
  /// Most of a beginning that may be read for it, from its first packet on.
  private static let mostOfHead = ClockTime(seconds: 12)
  /// Demuxers that find a time without reading all that is before it, and give the same times after a seek. tsdemux's
  /// times are other by a nanosecond, and mpegpsdemux's seeks go anywhere.
  private static let demuxers: Set = ["qtdemux", "matroskademux", "avidemux", "oggdemux", "flvdemux"]

  /// - Parameters:
  ///   - hole: the part that is not listed in the tables that are read, in stream time; nil where all is.
  ///   - placesAudio: false if audio may be unplaced (``AudioTrack/isPlaced``).
  /// - Returns: nil where all of the source has to be indexed.
  init?(_ indexer: Indexer, hole: TimeSpan? = nil, placesAudio: Bool = true) throws {
    let streams = try indexer.choose()
    let preRolls = streams.all.compactMap { $0.stream.kind == .audio ? $0.stream.preRoll : .zero }
    guard preRolls.count == streams.all.count,
      !streams.all.isEmpty,
      // A subtitle that is shown during a stretch may have come an hour before.
      streams.texts.isEmpty,
      // An anchor in one edit does not place the audio of another.
      !indexer.topology.facts.tracks.contains(where: \.isEdited),
      streams.all.allSatisfy({ stream in StretchIndexer.demuxers.contains { stream.stream.passes($0) } })
    else { return nil }
    self.indexer = indexer
    self.streams = streams
    self.hole = hole
    self.placesAudio = placesAudio
    self.preRolls = Array(preRolls.suffix(streams.tracks.count))
    pipeline = try IndexingPipeline(indexer, streams, gate: gate)
    gate.open(for: StretchIndexer.head)
    let reading = try pipeline.read()
    let (first, closed) = (gate.firstTimes, gate.closed)
    let isListed = hole.map { hole in
      first.allSatisfy { $0.map { $0 + StretchIndexer.mostOfHead <= hole.start } ?? false }
    }
    anchors = reading.audio.map(\.anchor)
    isUnplaced = zip(reading.audio, anchors).map { $0.track != nil && $1 == nil }
    guard reading.isWhole, !placesAudio || !isUnplaced.contains(true), isListed ?? true, closed.contains(true),
      reading.videos.allSatisfy({ $0.starts?.isEmpty == false && !$0.isUntimed })
    else {
      Log.index.info("\(indexer.topology.source): all of it is indexed: how it begins does not tell enough")
      pipeline.stop()
      return nil
    }
    beginning = try indexer.index(streams, reading)
  }

  deinit { pipeline.stop() }

  /// How many audio streams are read.
  var trackCount: Int { streams.audio.count }

  /// The index of all that is shown and heard from `start` to `end`, in stream time; a nil end is that of the source.
  /// - Throws: ``InexactStretch``.
  func index(from start: ClockTime, to end: ClockTime?) throws -> SourceIndex {
    var before: [ClockTime?]?
    let preRoll = (preRolls.max() ?? .zero) + StretchIndexer.interleaving
    for step in StretchIndexer.steps {
      let target = start - preRoll - step
      if let hole, target < hole.end { throw InexactStretch(reason: "no more is listed of what comes before \(start)") }
      if target < self.start + StretchIndexer.head { return try index(to: end) }
      gate.open(until: end)
      guard try pipeline.seek(toKeyframeBefore: target) else { throw InexactStretch(reason: "it can't be sought in") }
      var reading = try pipeline.read(
        anchors.map { anchor in
          AudioFit(
            origin: anchor, start: start, end: end.map { $0 + ClockTime(nanoseconds: 250_000_000) },
            isExact: placesAudio)
        })
      guard reading.isWhole else { throw InexactStretch(reason: "a part of it can't be read by itself") }
      for (number, isUnplaced) in isUnplaced.enumerated() where isUnplaced {
        reading.audio[number].track?.isPlaced = false
      }
      let (first, closed) = (gate.firstTimes, gate.closed)
      if let hole, first.contains(where: { $0.map { $0 < hole.end } ?? false }) {
        throw InexactStretch(reason: "what comes before \(start) is not listed")
      }
      let isCovered = isCovered(start, reading, first, closed, before)
      before = first
      guard isCovered else { continue }
      for number in reading.videos.indices {
        reading.videos[number] = reading.videos[number].complete(until: closed[number] ? end : nil)
      }
      return try finish(reading, first, closed)
    }
    throw InexactStretch(reason: "what comes before \(start) is not found")
  }

  /// Whether all that is wanted from `start` on has come.
  /// - Parameters:
  ///   - first: when the first packet of each stream begins.
  ///   - before: the same of the pass before this one, which began later.
  private func isCovered(
    _ start: ClockTime, _ reading: IndexingPipeline.Reading, _ first: [ClockTime?], _ closed: [Bool],
    _ before: [ClockTime?]?
  ) -> Bool {
    let videos = reading.videos.enumerated().allSatisfy { number, video in
      guard let keyframe = video.firstKeyframe, keyframe <= start else { return false }
      // How long the last frame of all is shown follows from the frames before it.
      return closed[number] || video.complete(until: nil).starts.map { $0.count > FrameRhythm.length } ?? false
    }
    let audios = preRolls.enumerated().allSatisfy { number, preRoll in
      let stream = streams.videos.count + number
      if let time = first[stream], time <= start - preRoll { return true }
      // From further back it was no other: this is where the stream begins; or it has ended.
      return before.map { $0[stream] == first[stream] && (anchors[number] == nil || first[stream] == nil) } ?? false
    }
    return videos && audios
  }

  /// The index of all up to `end`.
  private func index(to end: ClockTime?) throws -> SourceIndex {
    let gate = StretchGate()
    let pipeline = try IndexingPipeline(indexer, streams, gate: gate)
    defer { pipeline.stop() }
    gate.open(until: end)
    let fit = AudioFit(end: end.map { $0 + ClockTime(nanoseconds: 250_000_000) })
    var reading = try pipeline.read(streams.tracks.map { _ in fit })
    guard reading.isWhole else { throw InexactStretch(reason: "its beginning can't be read by itself") }
    for (number, isClosed) in gate.closed.prefix(reading.videos.count).enumerated() where isClosed {
      reading.videos[number] = reading.videos[number].ended(at: end)
    }
    return try finish(reading, gate.firstTimes, gate.closed)
  }

  private func finish(
    _ reading: IndexingPipeline.Reading, _ first: [ClockTime?], _ closed: [Bool]
  ) throws -> SourceIndex {
    var reading = reading
    guard reading.videos.allSatisfy({ $0.starts?.isEmpty == false && !$0.isUntimed }) else {
      throw InexactStretch(reason: "its packets don't say when they are shown")
    }
    for (number, time) in first.suffix(streams.tracks.count).enumerated() where time == nil {
      reading.audio[number].warnings = []
    }
    var index = try indexer.index(streams, reading)
    index.part = SourceIndex.Part(start: start, reachesEnd: !closed.contains(true))
    return index
  }
}

extension IndexingPipeline.Reading {
  /// True if nothing failed, and all streams came to their ends, or those of the stretch.
  fileprivate var isWhole: Bool { end == .streamsEnded && failure == nil }
}

extension VideoIndex {
  /// When the first keyframe in decoding order is shown.
  fileprivate var firstKeyframe: ClockTime? { packets.first { $0.isKeyframe && !$0.isHidden }?.time }

  /// The index without packets that can't be decoded, or may not be all there: frames shown before the first
  /// keyframe, and those from `end` on, but for the first of them, which says how long the one before it is
  /// shown.
  fileprivate func complete(until end: ClockTime?) -> VideoIndex {
    guard let first = packets.firstIndex(where: { $0.isKeyframe && !$0.isHidden }), let start = packets[first].time
    else { return self }
    let whole = packets[first...].filter { packet in packet.time.map { $0 >= start } ?? false }
    return replacing(whole, isFromStart: false).ended(at: end)
  }

  /// The index without the frames from `end` on, but for the first of them.
  fileprivate func ended(at end: ClockTime?) -> VideoIndex {
    guard let end, let next = packets.compactMap({ $0.isHidden ? nil : $0.time }).filter({ $0 >= end }).min() else {
      return self
    }
    return replacing(packets.filter { packet in packet.time.map { $0 <= next } ?? true }, isFromStart: isFromStart)
  }

  /// The same of the stream, with other packets of it.
  func replacing(_ packets: [VideoPacket], isFromStart: Bool = true) -> VideoIndex {
    var index = VideoIndex(
      caps: caps, tags: tags, packets: packets, segmentEnd: segmentEnd, declaresDurations: declaresDurations)
    index.disposition = disposition
    index.obstacle = obstacle
    index.decoder = decoder
    index.needsItsContainer = needsItsContainer
    index.pixelFormat = pixelFormat
    index.misreadKind = misreadKind
    index.dynamicMetadata = dynamicMetadata
    index.details = details
    index.isFromStart = isFromStart
    return index
  }
}

extension StreamPath {
  /// Length that has to be decoded before samples equal those of decoding from the beginning on; nil where
  /// that is not known.
  ///
  /// - A frame of AAC, AC-3, Vorbis and Opus overlaps the one before.
  /// - Opus and SBR predict from frame to frame; the effect of a missing start fades away. RFC 7845, 4.6,
  ///   asks for 80 ms for the ear; to the bit it takes longer.
  ///
  /// AAC and AC-3 may leave bands to noise of the decoder's own (ISO/IEC 14496-3, 4.6.13, PNS; ATSC A/52,
  /// 7.3.4, dither): decoders take it from where they are in a random sequence, and so it is another one, as
  /// it is in every decoder. FFmpeg's decoders of MPEG audio to whole numbers carry their rounding errors
  /// from sample to sample: a value may be off by one for ever.
  fileprivate var preRoll: ClockTime? {
    if caps.mediaType == "audio/mpeg", caps.int("mpegversion") == 1 { return nil }
    return switch caps.mediaType {
    case "audio/x-raw", "audio/x-mulaw", "audio/x-alaw", "audio/x-flac", "audio/x-alac":
      ClockTime(nanoseconds: 300_000_000)
    case "audio/mpeg", "audio/x-ac3", "audio/x-eac3", "audio/x-vorbis": ClockTime(nanoseconds: 1_000_000_000)
    case "audio/x-opus": ClockTime(seconds: 4)
    default: nil
    }
  }
}
