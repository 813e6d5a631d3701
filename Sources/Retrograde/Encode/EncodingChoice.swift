import GStreamer
import MediaTime
import RetrogradeEngine

/// Container and codecs of the output, and the encoding profile that names them to `encodebin`.
struct EncodingChoice: Sendable {
  /// How a video stream is written.
  struct VideoChoice: Sendable {
    /// nil in formats of images.
    var codec: Codec?
    /// The properties of its encoder.
    var settings: [(name: String, value: String)] = []
    /// The bits per second that its encoder is asked for; nil where it keeps to a quality instead.
    var bitrate: Int?
    /// The encoding profile of the stream by itself.
    var profile = ""
    /// The pixel format that the encoder needs, where it can't take the source's own.
    var format: String?
    /// Change of its frames' shape; nil for packets.
    var geometry: FrameGeometry?
    /// Whether the pixels say how much of them is seen.
    var hasAlpha = false
    /// Whether an encoder of images gets them with the halved colour that they have.
    var isHalved = false
    /// The form in which packets are written that are not encoded; nil where frames are encoded.
    var packets: PacketForm?

    /// True if the change of shape needs whole frames, made of interlaced ones.
    var deinterlaces: Bool { geometry?.deinterlaces ?? false }

    /// How the output has to be turned to be shown: GST_TAG_IMAGE_ORIENTATION.
    /// - Parameter own: the source's.
    func orientation(_ own: String?, in container: Container) -> String? {
      guard let geometry else { return container.carriesOrientation ? own : nil }
      return geometry.orientation
    }
  }

  /// In GStreamer's serialised syntax for encoding profiles.
  var profile = ""
  var container: Container
  var videos: [VideoChoice] = []
  var audioCodecs: [Codec] = []
  /// Rate, channels and loudspeakers in which each audio stream reaches its encoder.
  var audioForms: [AudioForm] = []
  /// How many sample frames of each audio stream there are to encode; nil where that is not known.
  var sampleCounts: [Int?] = []
  /// The bits per second that the encoder of each audio stream is asked for; nil where it keeps to a quality.
  var audioBitrates: [Int?] = []
  /// The encoding profile of each audio stream by itself.
  var audioProfiles: [String] = []
  /// The subtitles that are written, as the container takes them.
  var subtitles: [SubtitleTrack] = []
  var warnings: [Warning] = []
  /// Streams that change to another codec.
  var changes: [CodecChange] = []
  /// Whether interlaced frames are made whole ones.
  var deinterlaces = false

  /// The muxer for streams that `encodebin` has no way to take: packets, and subtitles.
  var muxer: String {
    container.muxers.first { muxer in
      (videos.compactMap { $0.packets?.taken ?? $0.codec?.caps } + audioCodecs.map(\.caps) + subtitles.map(\.caps))
        .allSatisfy {
          Registry.factory(muxer, takes: $0)
        }
    } ?? container.muxers.first ?? ""
  }

  /// Streams to write, in the order of play.
  struct Streams: Sendable {
    struct Video: Sendable {
      /// Caps of the raw frames, or of the packets that are written unchanged.
      var raw: Caps
      var index: VideoIndex
      /// Form of the packets; nil for frames.
      var packets: PacketForm?
    }

    var videos: [Video] = []
    var audio: [AudioTrack] = []
    var subtitles: [SubtitleTrack] = []
    /// Place of the subtitles that also get a file of their own.
    var subtitlesApart: Int?
    var legs: PlaybackLegs?
    var audioLegs: PlaybackLegs?
    /// Duration of the source.
    var duration: ClockTime
    /// Average number of frames per second.
    var frameRate: Double
  }

  /// - Parameter container: nil: the container by the output's name, or by the format that is asked for.
  /// - Throws: ``RetrogradeError`` of code `usage` or `missingPlugin`, if the output can't hold the streams, or the
  ///   options contradict each other.
  init(output: String, in container: Container? = nil, _ streams: Streams, options: EncodingOptions) throws {
    let container = try container ?? Container.of(output, format: options.format)
    self.container = container
    deinterlaces = options.deinterlaces
    var streams = streams
    if container.holdsOneVideo && streams.videos.count > 1 {
      warnings.append(
        Warning(
          .streamLeftOut, "left out: all video but the first stream; this format holds one",
          count: streams.videos.count - 1))
      streams.videos = [streams.videos[0]]
    }
    try checkEncoderOptions(options, output, hasVideo: !streams.videos.isEmpty)
    try checkSize(options, output)
    guard container.imageFormat == nil else {
      try addImages(of: streams, options, output)
      return
    }
    try addVideos(of: streams, options, output)
    try addAudio(of: streams, options, output)
    guard !videos.isEmpty || !audioProfiles.isEmpty else {
      throw RetrogradeError(.usage, about: output, "this container holds only audio, and there is none to write")
    }
    addSubtitles(of: streams, options)
    for warning in warnings { Log.encode.info("\(output): \(warning.message)") }
    profile = options.profile ?? profileOfAll
  }

  /// Refuses settings of a video encoder if there is none, or if a profile holds its settings.
  /// - Throws: ``RetrogradeError`` of code `usage`.
  private mutating func checkEncoderOptions(_ options: EncodingOptions, _ output: String, hasVideo: Bool) throws {
    if let profile = options.profile, !Registry.isEncodingProfile(profile) {
      throw RetrogradeError(
        .usage,
        "\(setting: .profile) \(profile): is neither an encoding profile in GStreamer's syntax nor an encoding target's name"
      )
    }
    guard let option = options.forOneEncoder.first else { return }
    if options.profile != nil {
      throw RetrogradeError(
        .usage, "\(setting: option): \(setting: .profile) holds all encoding settings",
        remedy: "put it into the profile")
    }
    if container.animation != nil {
      throw RetrogradeError(
        .usage, about: output, "\(setting: option): animations have no such setting",
        remedy: "\(setting: .maxSize), \(setting: .width) and \(setting: .frameRate) make it smaller"
          + (container.animation == .gif ? ", and \(setting: .colors)" : ""))
    }
    if container.videoCodecs.isEmpty {
      throw RetrogradeError(.usage, "\(setting: option): no video is encoded into \(output)")
    }
    if !hasVideo {
      // The source may have videos that can't be read, which is no mistake of the user who asks for this.
      let names = Message.list(options.forOneEncoder, " and ")
      warnings.append(Warning(.detailLeftOut, "left out: \(names), since there is no video to encode"))
    }
  }

  private mutating func addSubtitles(of streams: Streams, _ options: EncodingOptions) {
    for (number, track) in streams.subtitles.enumerated() {
      if let form = options.profile == nil ? track.form(for: container) : nil {
        subtitles.append(form)
      } else if number != streams.subtitlesApart {
        let title = track.tags?.string("language-code").map { " (\($0))" } ?? ""
        warnings.append(
          Warning(
            .streamLeftOut,
            "left out: subtitles\(title), which this container can't hold; .mkv holds all, .mp4 text", count: 1))
      }
    }
  }

  /// How many cover pictures the output has room for: in Ogg one, beside Vorbis or Opus (`METADATA_BLOCK_PICTURE`).
  var mostCovers: Int {
    guard container.isOgg else { return container.mostCovers }
    return audioCodecs.contains { ["audio/x-vorbis", "audio/x-opus"].contains($0.caps.mediaType) } ? 1 : 0
  }

  /// Encoding profile of the file. Each stream's own profile is for one stream: without a presence,
  /// `encodebin` takes the first of its kind for all streams of that kind.
  private var profileOfAll: String {
    let streams = videos.map(\.profile) + audioProfiles
    guard let container = container.caps else { return streams.joined(separator: ":") }
    return ([container] + streams.map { $0 + EncodingChoice.presence }).joined(separator: ":")
  }

  /// Profile of a file that holds samples as they are, and nothing else.
  static func profile(ofSamplesIn container: Container) -> String {
    "\(container.caps ?? ""):audio/x-raw\(presence)"
  }

  private static let presence = "|presence=1"

  mutating func note(_ change: CodecChange?) { changes += [change].compactMap { $0 } }

  static func stream(_ caps: String, _ properties: [(name: String, value: String)]) -> String {
    guard !properties.isEmpty else { return caps }
    return caps + "|element-properties," + properties.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
  }
}
