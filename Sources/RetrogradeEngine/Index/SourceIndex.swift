package import Containers
package import GStreamer
package import MediaTime

/// One packet of a video stream.
package struct VideoPacket: Hashable, Sendable {
  /// Presentation time in stream time; nil if the container does not state it.
  var time: ClockTime?
  /// Decoding time in stream time. AVI packets have only this time.
  var decodingTime: ClockTime?
  var duration: ClockTime?
  var isKeyframe: Bool
  var bytes: Int
  /// Bytes that a decoder turns into pictures (`PictureBytes`); nil if not counted.
  var pictureBytes: Int?
  /// True if the packet decodes to no frame, or to a frame outside the presentation.
  var isHidden: Bool
  /// True if an edit (of an edit list) begins within the frame; ``time`` is then the start of the
  /// edit.
  var isCut = false

  /// - Parameter caps: caps of the stream.
  /// - Throws: ``GStreamerError`` if the buffer's memory cannot be read.
  package init(_ buffer: Buffer, _ segment: Segment, _ caps: Caps) throws {
    // Decoding may start before an edit and continue after its end; the frames outside the edit are
    // hidden. Byte 0 of a VP8 packet states whether the frame is shown (RFC 6386, 9.1).
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

/// Result of one pass over a video stream's packets, without decoding any frame.
package struct VideoIndex: Sendable {
  package var caps: Caps
  package var tags: TagList?
  package var disposition: Disposition?
  /// Packets in decoding order.
  var packets: [VideoPacket]
  /// End of the stream's GStreamer segment; nil if the segment has no end.
  var segmentEnd: ClockTime?

  /// True if the container states only decoding times, as AVI does. The n-th frame in display order
  /// is then shown at the n-th decoding time. Timestamps from decoders are not used, because in
  /// video with B-frames these timestamps jump back at keyframes (`Quirk.avidemuxKeyframeTimes`).
  let isUntimed: Bool
  /// Start times in display order; nil unless every shown packet has a distinct time. Without these
  /// times, the video cannot be decoded backwards in windows (``Window``).
  package let starts: [ClockTime]?
  /// Position in ``packets`` of each frame in ``starts``.
  private let places: [Int32]
  /// Numbers of the keyframes, counted in display order.
  package let keyframes: [Int]
  /// True if the packet durations come from the container, not from a parser.
  let declaresDurations: Bool
  /// Spacing of the frames.
  let rhythm: FrameSpacing
  /// Duration of the last frame in display order.
  let lastDuration: ClockTime
  /// Total size of all packets, in bytes.
  package let bytes: Int
  /// Reason, for messages, why the packets can't be reversed without decoding; nil if they can.
  package var obstacle: String? = "its packets were not examined"
  /// Decoder to use instead of the one that GStreamer ranks first, to keep the pixel format of the
  /// packets; nil to use GStreamer's choice.
  var decoder: String?
  /// Pixel format of FFV1, which its caps do not state; nil if unknown or for other codecs.
  var pixelFormat: FFV1PixelFormat?
  /// Name, for messages, of a kind of video that GStreamer decodes incorrectly; nil if the first
  /// packet is not of such a kind.
  var misreadKind: String?
  /// True if the first packet contains a single HEVC field.
  var isFields = false
  /// True if only the container describes the colours. The packets alone would be decoded with
  /// wrong colours.
  package var needsItsContainer = false
  /// Names of per-picture metadata in the first packet that no decoder passes on, such as HDR10+.
  var dynamicMetadata: [String] = []
  /// Crop that the first packet or the stream's configuration declares; nil if none is known.
  var crop: PictureCrop?
  /// True if the first packet itself declares the layout of the two views of stereoscopic video.
  package var declaresViews = false
  /// True if the first packet has a timecode that no decoder passes on.
  var hasTimecode = false
  /// Details in the packets that the result cannot keep.
  var details: [ContainerDetail] = []
  /// Size of the largest packet, in bytes.
  var largestPacket: Int { packets.map(\.bytes).max() ?? 0 }
  /// True if the decoder supplied the frame times (`DecodedTimes`).
  var isTimedByDecoder = false
  /// True if the packets include the stream's first packet.
  var isFromStart = true

  /// Total duration of the indexed frames; nil if their times are unknown.
  package var duration: ClockTime? {
    starts.flatMap { starts in starts.first.map { end(afterLast: starts) - $0 } }
  }

  /// Time and size of each packet, sorted by time. A packet without a presentation time has its
  /// decoding time here; a packet without any time is left out.
  package var sizes: [(time: ClockTime, bytes: Int)] {
    packets.compactMap { packet in (packet.time ?? packet.decodingTime).map { ($0, packet.bytes) } }
      .sorted { $0.time < $1.time }
  }

  /// Returns the packets needed to decode `frames`.
  /// - Parameters:
  ///   - frames: frame numbers in display order.
  ///   - keyframe: number, in display order, of the keyframe at which decoding begins.
  ///   - tolerance: largest allowed difference between a packet's time when it is read again and
  ///     its time in the index.
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

  /// Returns the number of the last keyframe before frame number `frame`, in display order; 0 if
  /// there is no such keyframe.
  func keyframe(before frame: Int) -> Int { keyframes[..<keyframes.endOfPrefix { $0 < frame }].last ?? 0 }

  /// Returns the position in ``packets`` at which decoding begins for a frame. For the first frame,
  /// this is the first packet, so that packets before the first keyframe are included.
  /// - Parameter frame: a keyframe or the first frame, in display order.
  func packetPlace(ofFrame frame: Int) -> Int {
    frame > 0 && places.indices.contains(frame) ? Int(places[frame]) : 0
  }

  /// True if each packet is a shown frame with a presentation time.
  package var isPlain: Bool { starts != nil && !isUntimed && !packets.contains { $0.isHidden } }
  /// Presentation times in decoding order.
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
      // Exclude program streams: in them, the first frame of each PES packet has a PTS, but no DTS.
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
    rhythm = FrameSpacing(timed.map(\.time))
    var own = timed.last?.packet.duration
    // In MP4, a packet's duration is the time until the next packet in decoding order, so the
    // packet decoded last has the remaining time as its duration. If this is longer than the
    // duration of the frame shown last, that frame lasts until the end of the GStreamer segment.
    if declaresDurations, let end = segmentEnd, let last = timed.last?.time, last < end,
      let left = shown.last?.duration, left > (own ?? .zero) + FrameSpacing.rounding
    {
      own = end - last
    }
    lastDuration = rhythm.lastDuration(own, isDeclared: declaresDurations)
    self.caps = rhythm.withPlausibleRate(caps)
  }
}

/// Result of one pass over a source, with its audio decoded into the spool (a temporary file).
package struct SourceIndex: Sendable {
  /// Facts about a source that was indexed only in part.
  struct Part: Sendable {
    /// Start of the whole presentation, in stream time.
    var start: ClockTime
    /// True if the indexed part ends at the end of the source.
    var reachesEnd: Bool
  }

  /// Pipeline that decodes all streams, in `gst-launch-1.0` syntax.
  package var decoding = ""
  /// Pipeline, without its sink, that reads the video's packets, in `gst-launch-1.0` syntax.
  package var packets: String?
  /// Recipe for decoding the video.
  var recipe: DecodingRecipe?
  var video: VideoIndex?
  /// Video streams after the first, each with its decoding recipe.
  package var furtherVideos: [(index: VideoIndex, recipe: DecodingRecipe)] = []
  package var audio: [AudioTrack]
  package var subtitles: [SubtitleTrack] = []
  package var chapters: [Chapter] = []
  /// Tags of the file as a whole: title, artist, date.
  package var tags: TagList?
  /// Number of times that players show the animation; 0 for an endless loop; nil if the source is
  /// not an animation.
  package var plays: Int?
  package var warnings: [Warning]
  /// Facts about the source if only a part was indexed; nil if the whole source was indexed.
  var part: Part?
  /// End of the source as the container declares it; nil unless data before this end is missing.
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

  /// Prepares a pipeline that reads the video's packets. Call this before the pipeline starts.
  package func prepareReading(_ pipeline: Pipeline) { recipe?.prepare(pipeline) }
}
