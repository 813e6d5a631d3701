import GStreamer
import MediaTime
import RetrogradeEngine

/// Container and codecs of the output, and the encoding profile for `encodebin`.
struct EncodingChoice: Sendable {
  /// Codec and settings of a video stream.
  struct VideoChoice: Sendable {
    /// nil in image formats.
    var codec: Codec?
    /// Properties of its encoder.
    var settings: [(name: String, value: String)] = []
    /// Requested bit rate, in bits per second; nil if the encoder uses constant quality.
    var bitrate: Int?
    /// Encoding profile of this stream alone.
    var profile = ""
    /// Pixel format for the encoder; nil if it takes the source's.
    var format: String?
    /// Crop, rotation and scaling of its frames; nil for packets.
    var geometry: FrameGeometry?
    /// True if the pixels have an alpha channel.
    var hasAlpha = false
    /// True if an image encoder gets the source's 4:2:0 chroma.
    var isHalved = false
    /// Form of packets that are not encoded; nil if frames are encoded.
    var packets: PacketForm?

    /// True if the change of geometry requires progressive frames.
    var deinterlaces: Bool { geometry?.deinterlaces ?? false }

    /// Returns the output's GST_TAG_IMAGE_ORIENTATION.
    /// - Parameter own: the source's orientation.
    func orientation(_ own: String?, in container: Container) -> String? {
      guard let geometry else { return container.carriesOrientation ? own : nil }
      return geometry.orientation
    }
  }

  /// Encoding profile in GStreamer's serialised syntax.
  var profile = ""
  var container: Container
  var videos: [VideoChoice] = []
  var audioCodecs: [Codec] = []
  /// Rate, channels and loudspeakers of each audio stream at its encoder.
  var audioForms: [AudioForm] = []
  /// Number of sample frames in each audio stream; nil if unknown.
  var sampleCounts: [Int?] = []
  /// Bit rate of each audio encoder, in bits per second; nil if it uses constant quality.
  var audioBitrates: [Int?] = []
  /// Encoding profile of each audio stream alone.
  var audioProfiles: [String] = []
  /// Subtitles that are written, in a form that the container takes.
  var subtitles: [SubtitleTrack] = []
  var warnings: [Warning] = []
  /// Codec changes of streams.
  var changes: [CodecChange] = []
  /// True if interlaced frames are made progressive.
  var deinterlaces = false

  /// Muxer for streams that `encodebin` can't take: packets and subtitles.
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
      /// Caps of the raw frames, or of the packets that are copied unchanged.
      var raw: Caps
      var index: VideoIndex
      /// Form of the packets; nil for frames.
      var packets: PacketForm?
    }

    var videos: [Video] = []
    var audio: [AudioTrack] = []
    var subtitles: [SubtitleTrack] = []
    /// Index of the subtitles that are also written to a separate file.
    var subtitlesApart: Int?
    var legs: PlaybackLegs?
    var audioLegs: PlaybackLegs?
    /// Duration of the source.
    var duration: ClockTime
    /// Average number of frames per second.
    var frameRate: Double
  }

  /// - Parameter container: nil: the container for the requested format, or for the output's name.
  /// - Throws: ``RetrogradeError`` of code `usage` or `missingPlugin` if the output can't hold the
  ///   streams, or if options contradict each other.
  init(output: String, in container: Container? = nil, _ streams: Streams, options: EncodingOptions) throws {
    let container = try container ?? Container.of(output, format: options.format)
    self.container = container
    deinterlaces = options.deinterlaces
    var streams = streams
    if container.holdsOneVideo && streams.videos.count > 1 {
      warnings.append(
        Warning(
          .streamLeftOut, "left out: all video streams but the first; this format can hold only one",
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
      throw RetrogradeError(.usage, about: output, "this container can hold only audio, but there is none to write")
    }
    addSubtitles(of: streams, options)
    for warning in warnings { Log.encode.info("\(output): \(warning.message)") }
    profile = options.profile ?? profileOfAll
  }

  /// Refuses invalid profiles, and video encoder settings if the output has no such encoder or a
  /// profile holds them. If only the source has no video, it adds a warning.
  /// - Throws: ``RetrogradeError`` of code `usage`.
  private mutating func checkEncoderOptions(_ options: EncodingOptions, _ output: String, hasVideo: Bool) throws {
    if let profile = options.profile, !Registry.isEncodingProfile(profile) {
      throw RetrogradeError(
        .usage,
        "\(setting: .profile) \(profile): this is neither an encoding profile in GStreamer's syntax nor the name of an "
          + "encoding target"
      )
    }
    guard let option = options.forOneEncoder.first else { return }
    if options.profile != nil {
      throw RetrogradeError(
        .usage, "\(setting: option) can't be used with \(setting: .profile), which contains all encoding settings",
        remedy: "put the setting into the profile")
    }
    if container.animation != nil {
      throw RetrogradeError(
        .usage, about: output, "\(setting: option) can't be used for animations",
        remedy: "to make the file smaller, use \(setting: .maxSize), \(setting: .width)"
          + (container.animation == .gif ? ", \(setting: .colors)" : "") + " or \(setting: .frameRate)")
    }
    if container.videoCodecs.isEmpty {
      throw RetrogradeError(.usage, "\(setting: option) can't be used: no video is encoded into \(output)")
    }
    if !hasVideo {
      // A warning, not an error: the source may have video that can't be decoded.
      let names = Message.list(options.forOneEncoder, " and ")
      warnings.append(Warning(.detailLeftOut, "not used: \(names), since there is no video to encode"))
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
            "left out: subtitles\(title), which this container can't hold; .mkv can hold all subtitles, .mp4 only text",
            count: 1))
      }
    }
  }

  /// Largest number of cover pictures in the output: one in Ogg with Vorbis or Opus
  /// (`METADATA_BLOCK_PICTURE`).
  var mostCovers: Int {
    guard container.isOgg else { return container.mostCovers }
    return audioCodecs.contains { ["audio/x-vorbis", "audio/x-opus"].contains($0.caps.mediaType) } ? 1 : 0
  }

  /// Encoding profile of the file. Each stream profile needs a presence of one: without it,
  /// `encodebin` uses the first of a kind for all streams of that kind.
  private var profileOfAll: String {
    let streams = videos.map(\.profile) + audioProfiles
    guard let container = container.caps else { return streams.joined(separator: ":") }
    return ([container] + streams.map { $0 + EncodingChoice.presence }).joined(separator: ":")
  }

  /// Returns the profile of a file that holds only unencoded samples.
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
