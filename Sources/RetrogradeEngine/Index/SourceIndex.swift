package import Containers
package import GStreamer
package import MediaTime

/// One packet of a video stream.
package struct VideoPacket: Hashable, Sendable {
  /// When its frame is shown, in stream time; nil where the container does not say.
  var time: ClockTime?
  /// When it is decoded, in stream time, which is all that AVI says.
  var decodingTime: ClockTime?
  var duration: ClockTime?
  var isKeyframe: Bool
  var bytes: Int
  /// Bytes of it that a decoder makes pictures of (`PictureBytes`); nil if they were not counted.
  var pictureBytes: Int?
  /// True if it decodes to no frame of its own, or to one outside the presentation.
  var isHidden: Bool
  /// True if an edit begins within its frame: ``time`` is that of the edit.
  var isCut = false

  /// - Parameter caps: of the stream.
  /// - Throws: ``GStreamerError`` if the buffer's memory cannot be read.
  package init(_ buffer: Buffer, _ segment: Segment, _ caps: Caps) throws {
    // Decoding starts before an edit does, and may go on after it; frames that are decoded only for that are not shown.
    // VP8 packets say in their first byte whether their frame is shown (RFC 6386, 9.1).
    let isInvisible = try caps.mediaType == "video/x-vp8" && buffer.withBytes { !$0.isEmpty && $0[0] & 0x10 == 0 }
    self.init(
      time: buffer.presentationTime(in: segment), decodingTime: buffer.dts.map { segment.streamTime(of: $0) },
      duration: buffer.duration, isKeyframe: buffer.isKeyframe, bytes: buffer.size,
      isHidden: isInvisible || buffer.isOutside(segment))
    isCut = !isHidden && buffer.pts.map { !segment.presents($0) } ?? false
  }

  package init(
    time: ClockTime?, decodingTime: ClockTime? = nil, duration: ClockTime?, isKeyframe: Bool,
    bytes: Int, pictureBytes: Int? = nil, isHidden: Bool
  ) {
    self.time = time
    self.decodingTime = decodingTime
    self.duration = duration
    self.isKeyframe = isKeyframe
    self.bytes = bytes
    self.pictureBytes = pictureBytes
    self.isHidden = isHidden
  }
}

/// Result of one pass over a video stream's packets. No frame was decoded for it.
package struct VideoIndex: Sendable {
  package var caps: Caps
  package var tags: TagList?
  package var disposition: Disposition?
  /// In decoding order.
  var packets: [VideoPacket]
  /// End of the stream's segment, if it says so.
  var segmentEnd: ClockTime?

  /// Whether the container only says when packets are decoded, as AVI does. Frames are shown at those times too, in their own
  /// order; those that decoders give go back at keyframes where there are B-frames (`Quirk.avidemuxKeyframeTimes`).
  let isUntimed: Bool
  /// Start times in display order, if every shown packet has one of its own: only then can windows be planned on them.
  package let starts: [ClockTime]?
  /// For each of `starts`, the place of its packet in decoding order.
  private let places: [Int32]
  /// The keyframes' places in display order.
  package let keyframes: [Int]
  /// True if the packets' durations are the container's own, not made up by a parser.
  let declaresDurations: Bool
  /// How its frames follow each other.
  let rhythm: FrameRhythm
  /// How long the frame shown last is shown.
  let lastDuration: ClockTime
  /// The bytes of all packets.
  package let bytes: Int
  /// Reason why its packets can't be given out in another order as they are, for people; nil where they can.
  package var obstacle: String? = "its packets were not examined"
  /// The decoder that takes its packets where the first by rank does not.
  var decoder: String?
  /// Pixel format of FFV1, whose caps do not say it; nil for other codecs, and if it is not known.
  var pixelFormat: FFV1PixelFormat?
  /// The kind of its first packet, for people, if GStreamer decodes that kind wrong; nil of others.
  var misreadKind: String?
  /// True if the description of the colours lies in the container, beside the packets: without it they are
  /// taken for others.
  package var needsItsContainer = false
  /// Names of metadata in the first packet that go with each picture, such as HDR10+, and that no decoder hands on.
  var dynamicMetadata: [String] = []
  /// Labels that its packets have and no mirror does.
  var details: [ContainerDetail] = []
  /// The bytes of the largest packet.
  var largestPacket: Int { packets.map(\.bytes).max() ?? 0 }
  /// Whether the decoder was asked when frames are shown (`DecodedTimes`).
  var isTimedByDecoder = false
  /// Whether the packets are the stream's from its first one on.
  var isFromStart = true

  /// How long the frames are shown whose packets are here; nil where those don't say when.
  package var duration: ClockTime? {
    starts.flatMap { starts in starts.first.map { end(afterLast: starts) - $0 } }
  }

  /// When each packet's frame is shown, and its bytes, by those times.
  package var sizes: [(time: ClockTime, bytes: Int)] {
    packets.compactMap { packet in (packet.time ?? packet.decodingTime).map { ($0, packet.bytes) } }
      .sorted { $0.time < $1.time }
  }

  /// The packets that frames are decoded from.
  /// - Parameters:
  ///   - frames: in display order.
  ///   - keyframe: the keyframe that decoding begins with, in display order.
  ///   - tolerance: how far times may be off the index.
  func packets(
    of frames: Range<Int>, from keyframe: Int, _ tolerance: ClockTime
  ) -> WindowPackets.Wanted {
    var wanted = WindowPackets.Wanted(tolerance: tolerance)
    if let end = starts?.last { wanted.end = end }
    if places.indices.contains(keyframe), let last = places[frames].max(), places[keyframe] <= last {
      wanted.packets = packets[Int(places[keyframe])...Int(last)]
    }
    return wanted
  }

  /// The last keyframe before frame `frame`, in display order; the first frame if there is none.
  func keyframe(before frame: Int) -> Int { keyframes[..<keyframes.endOfPrefix { $0 < frame }].last ?? 0 }

  /// Place in ``packets`` at which decoding begins for frame `frame`, a keyframe or the first. Packets before
  /// the first keyframe belong to that.
  func packetPlace(ofFrame frame: Int) -> Int {
    frame > 0 && places.indices.contains(frame) ? Int(places[frame]) : 0
  }

  /// Whether each packet is a frame that is shown, and says when.
  package var isPlain: Bool { starts != nil && !isUntimed && !packets.contains { $0.isHidden } }
  /// When the frames are shown, in decoding order.
  package var timesInDecodingOrder: [ClockTime] { packets.compactMap(\.time) }

  package init(
    caps: Caps, tags: TagList?, packets: [VideoPacket], segmentEnd: ClockTime?, declaresDurations: Bool = false
  ) {
    self.declaresDurations = declaresDurations
    self.tags = tags
    self.packets = packets
    self.segmentEnd = segmentEnd
    bytes = packets.reduce(0) { $0 + $1.bytes }
    let shown = packets.filter { !$0.isHidden }
    let isUntimed =
      shown.count(where: { $0.time == nil }) * 2 > shown.count && shown.allSatisfy { $0.decodingTime != nil }
      // A program stream says of the first frame in a packet of its own when it is shown, and not when it is decoded.
      && shown.allSatisfy { $0.time == nil || $0.time == $0.decodingTime }
    let timed = packets.enumerated().compactMap { place, packet in
      packet.isHidden
        ? nil
        : (isUntimed ? packet.decodingTime : packet.time).map {
          (time: $0, packet: packet, place: place)
        }
    }.sorted { $0.time < $1.time }
    self.isUntimed = isUntimed
    let isUsable = timed.count == shown.count && zip(timed, timed.dropFirst()).allSatisfy { $0.time < $1.time }
    starts = isUsable ? timed.map(\.time) : nil
    places = isUsable ? timed.map { Int32(clamping: $0.place) } : []
    keyframes = isUsable ? timed.indices.filter { timed[$0].packet.isKeyframe } : []
    rhythm = FrameRhythm(timed.map(\.time))
    var own = timed.last?.packet.duration
    // MP4 says how long it is until the next packet is decoded. If a frame that is shown earlier is decoded
    // last, its packet has the remaining time at the end.
    if declaresDurations, let end = segmentEnd, let last = timed.last?.time, last < end,
      let left = shown.last?.duration, left > (own ?? .zero) + FrameRhythm.rounding
    {
      own = end - last
    }
    lastDuration = rhythm.lastDuration(own, isDeclared: declaresDurations)
    self.caps = rhythm.believing(caps)
  }
}

/// Result of one pass over a source, with its audio decoded into the spool.
package struct SourceIndex: Sendable {
  /// Known facts of a source of which only a stretch was indexed.
  struct Part: Sendable {
    /// When the presentation starts, in stream time.
    var start: ClockTime
    /// Whether the stretch ends where the source does.
    var reachesEnd: Bool
  }

  /// A pipeline that decodes all streams, in `gst-launch-1.0` syntax.
  package var decoding = ""
  /// A pipeline that reads the video's packets, but for its end, in `gst-launch-1.0` syntax.
  package var packets: String?
  /// The way to the video's packets, decoded.
  var recipe: DecodingRecipe?
  var video: VideoIndex?
  /// The video streams after the first, each with the way to its packets, decoded.
  package var furtherVideos: [(index: VideoIndex, recipe: DecodingRecipe)] = []
  package var audio: [AudioTrack]
  package var subtitles: [SubtitleTrack] = []
  package var chapters: [Chapter] = []
  /// Tags of the file as a whole: title, artist, date.
  package var tags: TagList?
  /// How often players show the animation; 0: without end. nil: it is none.
  package var plays: Int?
  package var warnings: [Warning]
  /// Known facts of the rest of the source, if only a stretch of it was indexed.
  var part: Part?
  /// When the source ends by its container's account, where it does not hold all of that.
  package internal(set) var declaredEnd: ClockTime?

  package init(
    decoding: String = "", packets: String? = nil, recipe: DecodingRecipe?, video: VideoIndex?, audio: [AudioTrack],
    tags: TagList?,
    warnings: [Warning]
  ) {
    self.decoding = decoding
    self.packets = packets
    self.recipe = recipe
    self.video = video
    self.audio = audio
    self.tags = tags
    self.warnings = warnings
  }

  /// To be called before a pipeline that reads the video's packets starts.
  package func prepareReading(_ pipeline: Pipeline) { recipe?.prepare(pipeline) }
}
