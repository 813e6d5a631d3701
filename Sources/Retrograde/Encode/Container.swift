import GStreamer
import Quirks
import RetrogradeEngine

/// A container format that can be written, by file name extension.
struct Container: Sendable {
  /// The caps that a muxer for it gives out; nil where the codec's stream is the file (MP3, FLAC).
  var caps: String?
  /// The codecs that are usual in it, best first, as caps.
  var videoCodecs: [String]
  var audioCodecs: [String]
  /// It holds one audio stream, and nothing else.
  var holdsOneStream = false
  /// It holds one video stream.
  var holdsOneVideo = false
  /// The subtitles that it holds, as caps, best first.
  var subtitles: [String] = []
  /// True if it can say that its codec's priming is not to be heard (MP4's edit lists).
  var hasEditLists = false
  /// True if it names the language of each stream: a field of its own, not one that a codec's tags may have.
  var carriesLanguages: Bool {
    ["video/quicktime", "video/x-matroska", "video/webm", "video/mpegts"].contains { caps?.hasPrefix($0) ?? false }
  }
  /// True if it can say which way up the video is.
  var carriesOrientation = false
  /// Element that writes the head and the tags of a stream that is a file by itself, in `gst-launch-1.0`
  /// syntax.
  var tagger: String?
  /// True if files of the name hold ``audioCodecs`` and nothing else, even if the muxer takes more.
  var holdsNamedCodecsOnly = false
  /// How many cover pictures it has room for (`Quirk.matroskamuxCoverArt`). Of Ogg that is said by the codec
  /// (``EncodingChoice/mostCovers``).
  var mostCovers: Int {
    if tagger != nil || caps == nil && imageFormat == nil { return .max }
    // gst_qt_mux_add_mp4_cover writes the first.
    return caps?.hasPrefix("video/quicktime") ?? false ? 1 : 0
  }
  /// True if it can hold a title for each stream.
  var holdsTitles: Bool {
    ["video/quicktime", "video/x-matroska", "video/webm"].contains { caps?.hasPrefix($0) ?? false }
  }
  /// It is FLAC in no container.
  var isFLAC: Bool { caps == nil && audioCodecs == ["audio/x-flac"] }
  /// Its muxer writes chapters.
  var holdsChapters: Bool { holdsTitles || isWave || isFLAC }
  /// It is JPEG images.
  var isJPEG: Bool {
    switch imageFormat {
    case .sequence(let encoder, _), .file(let encoder, _): encoder == Container.jpeg.encoder
    case .animation, nil: false
    }
  }
  /// It holds comments of any name.
  var holdsComments: Bool { isOgg || holdsTitles || tagger != nil || isFLAC }
  /// True if it says whether frames of a video are made of two fields, and which of them comes first.
  var holdsFieldOrder: Bool { isMatroska || caps == "video/quicktime,variant=apple" }
  /// It is Matroska or WebM.
  var isMatroska: Bool { ["video/x-matroska", "video/webm"].contains(caps) }
  /// True if it says nothing of when frames are shown (AVI, Y4M): they must stand in it in the order of play,
  /// and are shown equally long.
  var lacksTimes = false
  /// Its pages say how many frames of Theora there were before: a frame can't be shown longer than another.
  var isOgg: Bool { caps == "application/ogg" }
  /// Its muxers name their pads after the identifiers of the streams' packets.
  var isTransportStream: Bool { caps?.hasPrefix("video/mpegts") ?? false }
  var isWave: Bool { caps == "audio/x-wav" }
  /// Its readers take as much of raw audio at a time as they like (WAV has no packets, MOV says how long a sample is,
  /// AVI's are cut); in others they read the packets that were written.
  var hasLooseSamples: Bool { isWave || caps == "video/x-msvideo" || caps == "video/quicktime,variant=apple" }
  /// Its audio has no timestamps of its own, and starts when the file does.
  var needsAudioFromStart = false
  /// Images without audio, one file or one a frame, for which no muxer is needed.
  var imageFormat: ImageFormat?

  /// Format of a container that holds images and nothing else.
  enum ImageFormat: Sendable {
    /// One file, which players repeat for ever.
    case animation(AnimationFormat)
    /// A file for each frame, written by this encoder; the name has a pattern such as `%05d` for its number.
    /// - Parameter opaque: caps that the encoder takes for frames without transparency.
    case sequence(encoder: String, opaque: String)
    /// One file of all that this encoder gives out: a single image, or raw frames one after the other.
    /// - Parameter opaque: as of a sequence; nil where the encoder knows no transparency.
    case file(encoder: String, opaque: String?)
  }

  /// Which animation it is, if it is one: players repeat those by themselves.
  var animation: AnimationFormat? {
    if case .animation(let format) = imageFormat { format } else { nil }
  }

  /// The container that a file name asks for.
  /// - Parameter format: its extension in place of the name's own; nil: that.
  static func of(_ path: String, format: String? = nil) throws -> Container {
    if ImageSequence.isPattern(path) {
      guard format == nil else {
        throw RetrogradeError(
          .usage, about: path, "the extension sets the format of numbered images",
          remedy: "leave out \(setting: .format)")
      }
      return try images(path)
    }
    guard path != "-" || format != nil else {
      throw RetrogradeError(
        .usage, about: "standard output", "has no file extension that sets the format",
        remedy: "add \(setting: .format) mkv, or another one")
    }
    let suffix = format ?? fileExtension(path)
    guard let container = named(suffix) else {
      guard format == nil else {
        throw RetrogradeError(
          .usage,
          "\(setting: .format) \(suffix): there is no such format; there are \(extensions.joined(separator: ", "))")
      }
      let stem = path.dropLast(suffix.count + 1)
      let advice =
        sequenceEncoders[suffix.lowercased()] != nil
        ? "; images are numbered: \(stem)-%05d.\(suffix); `retrograde frame` writes a single one" : ""
      throw RetrogradeError(
        .usage,
        about: path,
        "no container has the extension “\(suffix)”; there are "
          + "\(extensions.joined(separator: ", "))\(advice)")
    }
    if container.caps != nil && container.muxers.isEmpty {
      throw RetrogradeError(
        .missingPlugin, about: path, "no muxer for .\(suffix) is installed", remedy: "\(PackageHint.all)")
    }
    return container
  }

  /// One image, or as many as have numbers where the name is a pattern, of the format that the extension asks for.
  static func images(_ path: String) throws -> Container {
    let suffix = fileExtension(path)
    guard let (encoder, opaque) = sequenceEncoders[suffix.lowercased()] else {
      throw RetrogradeError(
        .usage,
        about: path,
        "no images have the extension “\(suffix)”; there are "
          + "\(sequenceEncoders.keys.sorted().joined(separator: ", "))")
    }
    return Container(
      caps: nil, videoCodecs: [], audioCodecs: [], holdsOneVideo: true,
      imageFormat: ImageSequence.isPattern(path)
        ? .sequence(encoder: encoder, opaque: opaque) : .file(encoder: encoder, opaque: opaque))
  }

  private static func fileExtension(_ path: String) -> String {
    let name = path.split(separator: "/").last ?? ""
    return name.contains(".") ? name.split(separator: ".").last.map(String.init) ?? "" : ""
  }

  private static func named(_ fileExtension: String) -> Container? {
    let name = fileExtension.lowercased()
    return byExtension[otherNames[name] ?? name]
  }

  /// A file name with the extension of the format that is written.
  /// - Parameter format: as of ``of(_:format:)``.
  static func fileName(_ path: String, format: String?) -> String {
    format.map { "\(path).\(otherNames[$0.lowercased()] ?? $0.lowercased())" } ?? path
  }

  /// Names that other programs give to our formats.
  private static let otherNames = ["matroska": "mkv", "mpegts": "ts"]

  static var extensions: [String] { byExtension.keys.sorted() }

  private static let h264 = "video/x-h264"
  private static let aac = "audio/mpeg,mpegversion=4"
  private static let mp3 = "audio/mpeg,mpegversion=1,layer=3"
  private static let text = "text/x-raw,format=utf8"
  private static let pcm = "audio/x-raw"
  private static let mpeg2 = "video/mpeg,mpegversion=2,systemstream=false"

  private static let mp4 = Container(
    caps: "video/quicktime,variant=iso", videoCodecs: [h264, "video/x-h265", "video/x-vp9"], audioCodecs: [aac],
    subtitles: [text], hasEditLists: true, carriesOrientation: true)
  /// Container of a stream's segments, which is played in browsers: pictures lie upright in it.
  static let segments = Container(
    caps: "video/quicktime,variant=iso", videoCodecs: [h264], audioCodecs: [aac], hasEditLists: true)
  private static let mov = Container(
    caps: "video/quicktime,variant=apple", videoCodecs: [h264, "video/x-h265", "video/x-prores"],
    audioCodecs: [aac, pcm], subtitles: [text], hasEditLists: true, carriesOrientation: true)
  private static let matroska = Container(
    caps: "video/x-matroska", videoCodecs: [h264, "video/x-h265", "video/x-ffv"],
    audioCodecs: [aac, "audio/x-opus", pcm],
    subtitles: [text, "application/x-ass", "application/x-ssa"])
  private static let webm = Container(
    caps: "video/webm", videoCodecs: ["video/x-vp9", "video/x-vp8"], audioCodecs: ["audio/x-opus", "audio/x-vorbis"])
  private static let avi = Container(
    caps: "video/x-msvideo", videoCodecs: ["image/jpeg"], audioCodecs: [pcm], holdsOneVideo: true, lacksTimes: true,
    needsAudioFromStart: true)
  private static let ts = Container(
    caps: "video/mpegts,systemstream=true,packetsize=188", videoCodecs: [h264, mpeg2], audioCodecs: [aac, mp3])
  private static let ogg = Container(
    caps: "application/ogg", videoCodecs: ["video/x-theora"], audioCodecs: ["audio/x-vorbis", "audio/x-opus"],
    holdsOneVideo: true, needsAudioFromStart: true)

  private static let m4a = Container(
    caps: "video/quicktime,variant=iso", videoCodecs: [], audioCodecs: [aac], hasEditLists: true)

  private static func audio(_ caps: String?, _ codecs: String...) -> Container {
    Container(
      caps: caps, videoCodecs: [], audioCodecs: codecs, holdsOneStream: caps != "application/ogg",
      needsAudioFromStart: true)
  }

  private static func animation(_ format: AnimationFormat) -> Container {
    Container(caps: nil, videoCodecs: [], audioCodecs: [], holdsOneVideo: true, imageFormat: .animation(format))
  }

  private static let jpeg = (
    encoder: "jpegenc quality=95", opaque: opaque(JPEGFrames.formats.joined(separator: ","))
  )

  private static func opaque(_ formats: String) -> String { "video/x-raw,format={\(formats)}" }

  private static let y4m = Container(
    caps: nil, videoCodecs: [], audioCodecs: [], holdsOneVideo: true, lacksTimes: true,
    imageFormat: .file(encoder: "y4menc", opaque: nil))

  private static let sequenceEncoders = [
    "png": (encoder: "pngenc", opaque: opaque("RGB,GRAY8,GRAY16_BE")), "jpg": jpeg, "jpeg": jpeg,
    // libwebp makes the YUV of RGB that WebP has; webpenc takes other YUV for that.
    "webp": (encoder: "webpenc quality=95", opaque: opaque("RGB")),
    "tiff": (encoder: "avenc_tiff", opaque: opaque("RGB,GRAY8,GRAY16_LE")),
    "bmp": (encoder: "avenc_bmp", opaque: opaque("BGR,GRAY8")),
  ]

  private static let byExtension: [String: Container] = [
    "gif": animation(.gif), "webp": animation(.webp), "apng": animation(.apng),
    "mp4": mp4, "m4v": mp4, "mov": mov, "mkv": matroska, "webm": webm, "avi": avi, "ts": ts, "ogg": ogg, "ogv": ogg,
    "y4m": y4m,
    "wav": audio("audio/x-wav", pcm),
    "flac": audio(nil, "audio/x-flac"),
    "mp3": Container(
      videoCodecs: [], audioCodecs: [mp3], holdsOneStream: true, tagger: "xingmux ! id3v2mux", needsAudioFromStart: true
    ),
    "m4a": m4a, "m4b": m4a,
    // RFC 7845, 9: players take a file of that name for Opus.
    "opus": Container(
      caps: "application/ogg", videoCodecs: [], audioCodecs: ["audio/x-opus"], holdsNamedCodecsOnly: true,
      needsAudioFromStart: true),
    "oga": audio("application/ogg", "audio/x-vorbis", "audio/x-opus"),
    "mka": Container(caps: "video/x-matroska", videoCodecs: [], audioCodecs: [aac, pcm]),
  ]

  /// The container that a user's pipeline writes, by its muxer or, without one, by the element in its place;
  /// nil if none of these writes it.
  static func written(by pipeline: Pipeline) -> Container? {
    let known = byExtension.sorted { $0.key < $1.key }.map(\.value).filter { $0.caps != nil }
    let muxed = known.filter { !$0.videoCodecs.isEmpty } + known.filter { $0.videoCodecs.isEmpty }
    if let found = muxed.first(where: { $0.caps.map(pipeline.hasMuxer) ?? false }) { return found }
    guard pipeline.elements(ofClass: "Muxer").isEmpty else { return nil }
    let alone = [("flacenc", "flac"), ("xingmux", "mp3"), ("id3v2mux", "mp3"), ("id3mux", "mp3")]
    return alone.first { !pipeline.elements(ofFactory: $0.0).isEmpty }.flatMap { byExtension[$0.1] }
  }

  /// The muxers that write it, best first; `encodebin` takes the first that holds all streams. None where none is
  /// needed.
  var muxers: [String] {
    guard let caps, let parsed = Caps(caps) else { return [] }
    return Registry.factories(.muxer, sources: parsed)
  }

  /// Whether the container can hold `codec`.
  func takes(_ codec: Caps) -> Bool {
    guard caps != nil, !holdsNamedCodecsOnly else {
      return audioCodecs.compactMap { Caps($0) }.contains { $0.intersects(codec) }
    }
    if isTransportStream, ["video/x-vp9", "video/x-av1"].contains(codec.mediaType),
      Quirk.mpegtsmuxCustomMappings.applies
    {
      return false
    }
    return muxers.contains { Registry.factory($0, takes: codec) }
  }
}
