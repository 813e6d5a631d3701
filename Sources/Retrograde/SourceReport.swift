public import Containers
import GStreamer
public import RetrogradeEngine

/// Content of a source, and the plan to read it backwards. `Codable` represents times as seconds.
public struct SourceReport: Sendable, Codable {
  public struct Stream: Sendable, Codable {
    public var kind: StreamKind
    /// Codec in words, such as `H.264 (High Profile)`.
    public var codec: String
    /// Presentation time at which the stream starts.
    public var start: ClockTime
    /// Presentation time at which the stream ends.
    public var end: ClockTime
    /// Number of video frames, audio sample frames, or subtitle cues.
    public var count: Int
    /// Format in a few words, such as `1920x1080`, `29.97 fps`, `10 bit`, or `48 kHz`, `5.1`.
    public var summary: [String]
    /// Caps of the decoded stream: frame size and pixel format, or sample rate and channels. For
    /// subtitles, the caps of the packets.
    public var format: String
    /// ISO 639 code; nil if the source declares no language.
    public var language: String?
    public var title: String?
    /// Value of GST_TAG_IMAGE_ORIENTATION; nil if the source has none.
    public var orientation: String?
    /// Field order of interlaced video, in words; nil for other streams.
    public var fieldOrder: String?
    /// True if the container marks the stream as default; nil if the container does not declare
    /// this.
    public var isDefault: Bool?
    /// True if the container marks the stream as forced: players show it whatever the viewer
    /// chooses. nil if the container does not declare this.
    public var isForced: Bool?
    /// File name extensions of the containers in which the video's packets can be reversed without
    /// decoding or encoding; nil for audio and subtitles.
    public var turnsAsPacketsIn: [String]?
    /// Reason why no container allows the video to be reversed without decoding; nil if a container
    /// allows it. Also nil for audio and subtitles.
    public var whyDecoded: String?
  }

  public struct ChapterReport: Sendable, Codable {
    public var title: String
    public var start: ClockTime
    public var end: ClockTime
    public var chapters: [ChapterReport]

    init(_ chapter: Chapter) {
      title = chapter.title
      start = chapter.span.start
      end = chapter.span.end
      chapters = chapter.children.map { ChapterReport($0) }
    }
  }

  /// Details that the mirror (the reversed file) would lack in one container.
  public struct MirrorReport: Sendable, Codable {
    /// File name extension of the container.
    public var container: String
    /// Codecs of the video and audio streams, in words.
    public var codecs: [String]
    public var leftOut: [Warning]
  }

  /// Step in the order of play: a part of the source, played in one direction.
  public struct Played: Sendable, Codable {
    /// Start of the part in the output.
    public var start: ClockTime
    /// End of the part in the output.
    public var end: ClockTime
    /// Position in the presentation where playback starts. The part is played backwards if `to` is
    /// before `from`.
    public var from: ClockTime
    /// Position in the presentation where playback ends.
    public var to: ClockTime
    public var speed: Speed
    public var audio: Score.Audio
    /// How long the first frame is shown before playback starts.
    public var heldBefore: ClockTime
    /// How long the last frame is shown after playback ends.
    public var heldAfter: ClockTime

    fileprivate init(_ leg: PlaybackLeg, from beginning: ClockTime) {
      let ends = [leg.span.start - beginning, leg.span.end - beginning]
      (from, to) = leg.direction == .forward ? (ends[0], ends[1]) : (ends[1], ends[0])
      (start, end, speed, audio) = (leg.start, leg.end, leg.speed, leg.audio)
      (heldBefore, heldAfter) = (leg.heldBefore, leg.heldAfter)
    }
  }

  public var input: String
  public var duration: ClockTime
  /// Duration that the container declares; nil unless data before the declared end is missing.
  public var declaredDuration: ClockTime?
  public var streams: [Stream]
  public var chapters: [ChapterReport]
  /// Tags of the whole file, in GstTagList's syntax.
  public var tags: String?
  /// True if the source has cover art.
  public var hasCoverArt: Bool
  /// Descriptions of the mirror (the reversed file) in Matroska, MP4 and WebM. A container that
  /// can't store the streams is left out.
  public var mirrors: [MirrorReport]
  /// Times of the first video stream's keyframes.
  public var keyframes: [ClockTime]
  /// Parts of the source, in the order of play. Where the direction changes, the frame on screen is
  /// not repeated: the next part begins after that frame.
  public var order: [Played]
  public var plan: Plan?
  /// Largest number of bytes of decoded frames in memory at once, as planned for the first video
  /// stream; 0 without video.
  public var memoryBytes: Int
  /// Largest number of bytes of decoded media in temporary files (the spool) at once.
  public var spoolBytes: Int
  /// Description of the first video stream's decoding pipeline, in `gst-launch-1.0` syntax; nil
  /// without video.
  public var decoding: String?
  public var warnings: [Warning]
  /// Version numbers of GStreamer and its plugins on this machine.
  public var gstreamer: GStreamerReleases

  init(_ inputs: [String], _ options: ReverseOptions, _ work: Work) throws {
    let playable = try PlayableSource.open(inputs, options, work, purpose: .description)
    let index = playable.index
    input = Reverser.name(of: inputs)
    gstreamer = GStreamerReleases()
    duration = playable.sourceEnd - index.presentationStart
    declaredDuration = index.declaredEnd.map { $0 - index.presentationStart }
    order = playable.legs.all.map { Played($0, from: index.presentationStart) }
    streams = []
    keyframes = []
    warnings = index.warnings
    var spool = index.audio.reduce(0) { $0 + $1.spoolBytes }
    memoryBytes = 0
    chapters = index.chapters.map { ChapterReport($0) }
    let texts = index.tags?.removing(EncodingPipeline.technical + ["image", "preview-image", "attachment"])
    tags = texts.flatMap { $0.isEmpty ? nil : $0.description }
    hasCoverArt = index.tags?.has("image") ?? false
    mirrors = ["mkv", "mp4", "webm"].compactMap { container in
      guard let output = try? OutputPlan("mirror.\(container)", playable, options) else { return nil }
      let choice = output.choice
      let packets = PacketOutput(choice.container, options)
      let videos = zip(playable.videos, choice.videos).compactMap { source, chosen in
        packets.refusal(of: source.video) == nil
          ? "\(source.video.caps.codecName) as it is" : chosen.codec?.caps.codecName
      }
      return MirrorReport(
        container: container, codecs: videos + choice.audioCodecs.map(\.caps.codecName), leftOut: choice.warnings)
    }
    if let source = playable.video {
      plan = source.plan
      decoding = source.description
      memoryBytes = source.plan.peakBytes
      if let starts = source.video.starts { keyframes = source.video.keyframes.map { starts[$0] } }
    }
    for source in playable.videos {
      spool += source.spoolBytes
      warnings += source.warnings
      let (containers, why) = PacketOutput.containers(for: source.video, options)
      streams.append(
        Stream(
          kind: .video, codec: source.video.caps.codecName, start: source.timeline.starts.first ?? .zero,
          end: source.timeline.end, count: source.timeline.count, format: source.caps,
          tags: source.video.tags, disposition: source.video.disposition,
          fieldOrder: source.isTopFieldFirst.map { $0 ? "top field first" : "bottom field first" },
          turnsAsPacketsIn: containers, whyDecoded: why))
    }
    spoolBytes = spool
    streams += index.audio.map { track in
      Stream(
        kind: .audio, codec: track.codec.codecName, start: track.span.start, end: track.span.end,
        count: track.frames.count, format: track.caps, tags: track.tags,
        disposition: track.disposition)
    }
    streams += index.subtitles.map { track in
      Stream(
        kind: .subtitles, codec: track.caps.codecName, start: track.cues.first?.span.start ?? .zero,
        end: track.cues.map(\.span.end).max() ?? .zero, count: track.cues.count, format: track.caps,
        tags: track.tags, disposition: track.disposition)
    }
  }
}

extension SourceReport.Stream {
  fileprivate init(
    kind: StreamKind, codec: String, start: ClockTime, end: ClockTime, count: Int, format: Caps, tags: TagList?,
    disposition: Disposition?, fieldOrder: String? = nil, turnsAsPacketsIn: [String]? = nil,
    whyDecoded: String? = nil
  ) {
    self.init(
      kind: kind, codec: codec, start: start, end: end, count: count,
      summary: format.summary, format: format.description,
      language: tags?.string("language-code"), title: tags?.string("title"),
      orientation: tags?.string("image-orientation"), fieldOrder: fieldOrder,
      isDefault: disposition?.isDefault, isForced: disposition?.isForced, turnsAsPacketsIn: turnsAsPacketsIn,
      whyDecoded: whyDecoded)
  }
}
