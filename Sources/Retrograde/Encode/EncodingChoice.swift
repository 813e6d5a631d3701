import GStreamer
import MediaTime
import RetrogradeEngine

/// Container and codecs of the output, and the encoding profile for `encodebin`.
struct EncodingChoice: Sendable {
  /// Codec and settings of a video stream.
  struct VideoChoice: Sendable {
    /// Codec; nil for image formats.
    var codec: Codec?
    /// Encoder properties.
    var settings: [(name: String, value: String)] = []
    /// Requested or default bit rate, in bits per second; nil if the quality is constant or
    /// lossless, or if the encoder's bit rate setting is not known.
    var bitrate: Int?
    /// Encoding profile for only this stream, without the container.
    var profile = ""
    /// Pixel format for the encoder; nil: negotiated in the pipeline.
    var format: String?
    /// Crop, rotation and scaling of the frames; nil for copied packets.
    var geometry: FrameGeometry?
    /// True if the pixels have an alpha channel.
    var hasAlpha = false
    /// True if the source has 4:2:0 chroma, and the output need not be lossless. A WebP then stores
    /// 4:2:0 too.
    var isHalved = false
    /// Caps and conversion of packets that are copied; nil if frames are encoded.
    var packets: PacketForm?

    /// True if crop, rotation or scaling requires progressive frames.
    var deinterlaces: Bool { geometry?.deinterlaces ?? false }

    /// Returns the value of the tag GST_TAG_IMAGE_ORIENTATION for the output; nil: no tag.
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
  /// Sample rate, channels and loudspeakers of each audio stream at the encoder.
  var audioForms: [AudioForm] = []
  /// Number of sample frames in each audio stream; nil if unknown.
  var sampleCounts: [Int?] = []
  /// Value of the property `bitrate` of each audio encoder; nil if the property is not set, as for
  /// PCM, lossless codecs and constant quality.
  var audioBitrates: [Int?] = []
  /// Encoding profile for each audio stream, without the container.
  var audioProfiles: [String] = []
  /// Subtitles that are written, in a format that the container accepts.
  var subtitles: [SubtitleTrack] = []
  var warnings: [Warning] = []
  /// Codec changes of streams.
  var changes: [CodecChange] = []
  /// True if interlaced frames are made progressive.
  var deinterlaces = false

  /// Muxer for an output with packets or subtitles, which `encodebin` does not accept.
  var muxer: String {
    container.muxers.first { muxer in
      (videos.compactMap { $0.packets?.taken ?? $0.codec?.caps } + audioCodecs.map(\.caps) + subtitles.map(\.caps))
        .allSatisfy {
          Registry.factory(muxer, takes: $0)
        }
    } ?? container.muxers.first ?? ""
  }

  /// Streams to write, and their order of play.
  struct Streams: Sendable {
    struct Video: Sendable {
      /// Caps of the raw frames, or of the packets that are copied unchanged.
      var raw: Caps
      var index: VideoIndex
      /// Caps and conversion of the packets; nil for frames.
      var packets: PacketForm?
    }

    var videos: [Video] = []
    var audio: [AudioTrack] = []
    var subtitles: [SubtitleTrack] = []
    /// Index of the subtitle track that is also written to a separate file; nil: none.
    var subtitlesApart: Int?
    var legs: PlaybackLegs?
    var audioLegs: PlaybackLegs?
    /// Duration of the source.
    var duration: ClockTime
    /// Average number of frames per second.
    var frameRate: Double
  }

  /// - Parameter container: container to use; nil: selected by the requested format, or by the
  ///   output's name.
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

  /// Checks the profile and the settings for a video encoder. Settings for a video encoder are an
  /// error if the output can't have a video encoder, or if there is a profile, since a profile
  /// contains its own settings. If the settings are unused only because the source has no video,
  /// they cause a warning.
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
      // A warning, not an error, because the source may have video that can't be decoded.
      let names = Message.list(options.forOneEncoder, " and ")
      warnings.append(Warning(.detailLeftOut, "not used: \(names), since there is no video to encode"))
    }
  }

  private mutating func addSubtitles(of streams: Streams, _ options: EncodingOptions) {
    for (number, track) in streams.subtitles.enumerated() {
      if let form = options.profile == nil ? track.form(for: container) : nil {
        subtitles.append(form)
        warnings += [streams.legs.flatMap { form.unreversedEffects($0.all) }].compactMap { $0 }
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

  /// Largest number of cover pictures in the output. Ogg can hold one picture if the audio is
  /// Vorbis or Opus (`METADATA_BLOCK_PICTURE`).
  var mostCovers: Int {
    guard container.isOgg else { return container.mostCovers }
    return audioCodecs.contains { ["audio/x-vorbis", "audio/x-opus"].contains($0.caps.mediaType) } ? 1 : 0
  }

  /// Encoding profile of the file. Each stream's profile needs `presence=1`; otherwise `encodebin`
  /// uses the first video profile for all videos, and the first audio profile for all audio
  /// streams.
  private var profileOfAll: String {
    let streams = videos.map(\.profile) + audioProfiles
    guard let container = container.caps else { return streams.joined(separator: ":") }
    return ([container] + streams.map { $0 + EncodingChoice.presence }).joined(separator: ":")
  }

  /// Returns the profile of a file that holds only PCM audio.
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
