import Containers
import GStreamer
import MediaTime

/// Indexes parts of a source exactly as a full pass would, without reading the rest of the source.
///
/// The indexer first reads the beginning of the source, to find the start of the presentation and
/// the audio anchors. For each part, the indexer then seeks, by the container's index, to the last
/// keyframe that leaves enough pre-roll for the audio decoders. If the index of a part may be
/// inexact, ``InexactRange`` is thrown, and the caller indexes the whole source.
final class RangeIndexer {
  /// Index of the source's first seconds.
  let beginning: SourceIndex
  /// Start of the presentation, in stream time.
  var start: ClockTime { beginning.presentationStart }
  /// Recipe for decoding the first video stream, from the index of the beginning; nil without
  /// video.
  var recipe: DecodingRecipe? { beginning.recipe }
  private let indexer: Indexer
  private let streams: ChosenStreams
  private let gate = RangeGate()
  private let pipeline: IndexingPipeline
  /// Known sample position of each audio stream, from which later positions are computed; nil if no
  /// position is known, for example because the stream begins after the first seconds.
  private let anchors: [AudioAnchor?]
  /// Length of the pre-roll of each audio stream. Samples decoded after the pre-roll equal the
  /// samples of a full pass.
  private let preRolls: [ClockTime]
  private let hole: TimeSpan?
  private let placesAudio: Bool
  /// True for each audio stream that begins in the first seconds but has no anchor.
  private let isUnplaced: [Bool]

  /// Length of the range at the source's beginning that is indexed first.
  private static let head = ClockTime(nanoseconds: 1_500_000_000)
  /// Largest distance in a file, measured as media time, between packets of two streams that have
  /// the same timestamp.
  private static let interleaving = ClockTime(seconds: 1)
  /// Extra time to seek back, for each attempt. Attempts stop when the packets of all streams begin
  /// early enough.
  private static let steps = [0.0, 8, 24, 56].map { ClockTime(seconds: $0) }
  /// Longest time spans that may be read before and after a part.
  static let reach = (before: ClockTime(seconds: 63), behind: ClockTime(seconds: 12))
  /// Longest time span that is read at the source's beginning, counted from the first packet of
  /// each stream.
  private static let mostOfHead = ClockTime(seconds: 12)
  /// Demuxers that seek without reading all earlier data, and output the same timestamps after a
  /// seek. tsdemux is not listed, because timestamps from tsdemux differ by a nanosecond after a
  /// seek. mpegpsdemux is not listed, because its seeks are inaccurate.
  private static let demuxers: Set = ["qtdemux", "matroskademux", "avidemux", "oggdemux", "flvdemux"]

  /// - Parameters:
  ///   - hole: range whose packets the ``MP4Excerpt`` omits, in stream time; nil if no packets are
  ///     omitted.
  ///   - placesAudio: false if audio without an exact position is allowed
  ///     (``AudioTrack/isPlaced``).
  /// - Returns: nil if the whole source has to be indexed.
  init?(_ indexer: Indexer, hole: TimeSpan? = nil, placesAudio: Bool = true) throws {
    let streams = try indexer.choose()
    let preRolls = streams.all.compactMap { $0.stream.kind == .audio ? $0.stream.preRoll : .zero }
    guard preRolls.count == streams.all.count,
      !streams.all.isEmpty,
      // A subtitle shown during a part may start an hour before that part.
      streams.texts.isEmpty,
      // An audio anchor in one edit does not give the position of the audio in another edit.
      // Pre-roll would also shift the times at which a part's packets are read.
      !indexer.topology.facts.tracks.contains(where: { $0.isEdited || $0.preRoll > .zero }),
      streams.all.allSatisfy({ stream in RangeIndexer.demuxers.contains { stream.stream.passes($0) } })
    else { return nil }
    self.indexer = indexer
    self.streams = streams
    self.hole = hole
    self.placesAudio = placesAudio
    self.preRolls = Array(preRolls.suffix(streams.tracks.count))
    pipeline = try IndexingPipeline(indexer, streams, gate: gate)
    gate.open(for: RangeIndexer.head)
    let reading = try pipeline.read()
    let (first, closed) = (gate.firstTimes, gate.closed)
    let isListed = hole.map { hole in
      first.allSatisfy { $0.map { $0 + RangeIndexer.mostOfHead <= hole.start } ?? false }
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

  /// Number of audio streams that are read.
  var trackCount: Int { streams.audio.count }

  /// Indexes the part from `start` to `end`, in stream time; a nil `end` means the end of the
  /// source.
  /// - Throws: ``InexactRange`` and all other errors of indexing.
  func index(from start: ClockTime, to end: ClockTime?) throws -> SourceIndex {
    var before: [ClockTime?]?
    let preRoll = (preRolls.max() ?? .zero) + RangeIndexer.interleaving
    for step in RangeIndexer.steps {
      let target = start - preRoll - step
      if let hole, target < hole.end { throw InexactRange(reason: "no more is listed of what comes before \(start)") }
      if target < self.start + RangeIndexer.head { return try index(to: end) }
      gate.open(until: end)
      guard try pipeline.seek(toKeyframeBefore: target) else { throw InexactRange(reason: "it can't be sought in") }
      var reading = try pipeline.read(
        anchors.map { anchor in
          AudioFit(
            origin: anchor, start: start, end: end.map { $0 + ClockTime(nanoseconds: 250_000_000) },
            isExact: placesAudio)
        })
      guard reading.isWhole else { throw InexactRange(reason: "a part of it can't be read by itself") }
      for (number, isUnplaced) in isUnplaced.enumerated() where isUnplaced {
        reading.audio[number].track?.isPlaced = false
      }
      let (first, closed) = (gate.firstTimes, gate.closed)
      if let hole, first.contains(where: { $0.map { $0 < hole.end } ?? false }) {
        throw InexactRange(reason: "what comes before \(start) is not listed")
      }
      let isCovered = isCovered(start, reading, first, closed, before)
      before = first
      guard isCovered else { continue }
      for number in reading.videos.indices {
        reading.videos[number] = reading.videos[number].complete(until: closed[number] ? end : nil)
      }
      return try finish(reading, first, closed)
    }
    throw InexactRange(reason: "what comes before \(start) is not found")
  }

  /// True if `reading` contains all packets that are needed to decode the source from `start` on.
  /// - Parameters:
  ///   - first: start of the first packet of each stream.
  ///   - before: value of `first` in the previous attempt, which began reading at a later time.
  private func isCovered(
    _ start: ClockTime, _ reading: IndexingPipeline.Reading, _ first: [ClockTime?], _ closed: [Bool],
    _ before: [ClockTime?]?
  ) -> Bool {
    let videos = reading.videos.enumerated().allSatisfy { number, video in
      guard let keyframe = video.firstKeyframe, keyframe <= start else { return false }
      // If the stream was read to its end, the duration of its last frame is computed from the last
      // ``FrameSpacing/length`` frame intervals. All of these intervals must have been read.
      return closed[number] || video.complete(until: nil).starts.map { $0.count > FrameSpacing.length } ?? false
    }
    let audios = preRolls.enumerated().allSatisfy { number, preRoll in
      let stream = streams.videos.count + number
      if let time = first[stream], time <= start - preRoll { return true }
      // This attempt began earlier than the previous one. If both found the same first packet, the
      // stream begins with that packet (unless the stream has an anchor, which shows that it begins
      // earlier). If neither found a packet, the stream ended earlier.
      return before.map { $0[stream] == first[stream] && (anchors[number] == nil || first[stream] == nil) } ?? false
    }
    return videos && audios
  }

  /// Indexes the source from its start to `end`.
  private func index(to end: ClockTime?) throws -> SourceIndex {
    let gate = RangeGate()
    let pipeline = try IndexingPipeline(indexer, streams, gate: gate)
    defer { pipeline.stop() }
    gate.open(until: end)
    let fit = AudioFit(end: end.map { $0 + ClockTime(nanoseconds: 250_000_000) })
    var reading = try pipeline.read(streams.tracks.map { _ in fit })
    guard reading.isWhole else { throw InexactRange(reason: "its beginning can't be read by itself") }
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
      throw InexactRange(reason: "its packets don't say when they are shown")
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
  /// True if nothing failed, and each stream was read to its end or to the end of the range.
  fileprivate var isWhole: Bool { end == .streamsEnded && failure == nil }
}

extension VideoIndex {
  /// Presentation time of the first keyframe in decoding order.
  fileprivate var firstKeyframe: ClockTime? { packets.first { $0.isKeyframe && !$0.isHidden }?.time }

  /// Returns the index without frames that may be undecodable or incomplete. The frames shown
  /// before the first keyframe are removed. Among the frames at `end` or later, only the first is
  /// kept, because its start gives the duration of the previous frame.
  fileprivate func complete(until end: ClockTime?) -> VideoIndex {
    guard let first = packets.firstIndex(where: { $0.isKeyframe && !$0.isHidden }), let start = packets[first].time
    else { return self }
    let whole = packets[first...].filter { packet in packet.time.map { $0 >= start } ?? false }
    return replacing(whole, isFromStart: false).ended(at: end)
  }

  /// Returns the index up to and including the first frame that starts at `end` or later; the
  /// complete index if `end` is nil.
  fileprivate func ended(at end: ClockTime?) -> VideoIndex {
    guard let end, let next = packets.compactMap({ $0.isHidden ? nil : $0.time }).filter({ $0 >= end }).min() else {
      return self
    }
    return replacing(packets.filter { packet in packet.time.map { $0 <= next } ?? true }, isFromStart: isFromStart)
  }

  /// Returns an index of the same stream with other packets.
  func replacing(_ packets: [VideoPacket], isFromStart: Bool = true) -> VideoIndex {
    var index = VideoIndex(
      caps: caps, tags: tags, packets: packets, segmentEnd: segmentEnd, declaresDurations: declaresDurations)
    index.disposition = disposition
    index.obstacle = obstacle
    index.decoder = decoder
    index.needsItsContainer = needsItsContainer
    index.pixelFormat = pixelFormat
    index.misreadKind = misreadKind
    index.isFields = isFields
    index.dynamicMetadata = dynamicMetadata
    index.crop = crop
    index.declaresViews = declaresViews
    index.hasTimecode = hasTimecode
    index.details = details
    index.isFromStart = isFromStart
    return index
  }
}

extension StreamPath {
  /// Pre-roll after which decoded samples equal the samples decoded from the beginning; nil if
  /// unknown.
  ///
  /// - A frame of AAC, AC-3, Vorbis or Opus overlaps the previous frame.
  /// - Opus and SBR predict from frame to frame, so the error from a missing start decays slowly.
  ///   RFC 7845, 4.6, asks for 80 ms for listening; bit-exact output takes longer.
  ///
  /// AAC and AC-3 may fill bands with the decoder's own noise (ISO/IEC 14496-3, 4.6.13, PNS; ATSC
  /// A/52, 7.3.4, dither). The noise depends on the position in a random sequence, so it differs
  /// after a seek, just as it differs between decoders. This difference is accepted. FFmpeg's
  /// integer decoders of MPEG-1 audio carry rounding errors from sample to sample. After a seek,
  /// samples may differ by one forever, so no pre-roll is long enough, and the value is nil.
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
