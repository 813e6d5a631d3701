import Containers
import GStreamer
import Quirks
import RetrogradeEngine

/// A supported output container, selected by file name extension.
struct Container: Sendable {
  /// Output caps of the container's muxers; nil if no muxer is needed (MP3, FLAC, images, Y4M), or
  /// if the format is not ``isKnown``.
  var caps: String?
  /// Video codecs to choose from, as caps, best first.
  var videoCodecs: [String]
  /// Audio codecs to choose from, as caps, best first.
  var audioCodecs: [String]
  /// False for a format that Retrograde can't write. The codecs and details that the format can
  /// hold are then unknown.
  var isKnown = true
  /// True if the container holds one audio stream and nothing else.
  var holdsOneStream = false
  /// True if the container can hold at most one video stream.
  var holdsOneVideo = false
  /// Subtitle formats that the container holds, as caps, best first.
  var subtitles: [String] = []
  /// True for MP4 and MOV, since the edit lists of these containers can exclude codec priming from
  /// playback.
  var hasEditLists = false
  /// True if the container has a language field for each stream, separate from the codec's tags.
  var carriesLanguages: Bool {
    ["video/quicktime", "video/x-matroska", "video/webm", "video/mpegts"].contains { caps?.hasPrefix($0) ?? false }
  }
  /// True if the container, or the codec's tags in it, can hold the language of each audio stream.
  var holdsLanguages: Bool { carriesLanguages || isOgg || isFLAC || tagger != nil }
  /// True if the container can store the orientation of video.
  var carriesOrientation = false
  /// Elements that write the header and tags of a stream without a container, in `gst-launch-1.0`
  /// syntax.
  var tagger: String?
  /// True if files with the container's extension may contain only ``audioCodecs``, although the
  /// muxer accepts more codecs.
  var holdsNamedCodecsOnly = false
  /// Largest number of cover pictures that the muxer writes; 0 for Matroska
  /// (`Quirk.matroskamuxCoverArt`). For Ogg, the number depends on the codec
  /// (``EncodingChoice/mostCovers``).
  var mostCovers: Int {
    if tagger != nil || caps == nil && imageFormat == nil && isKnown { return .max }
    // MP4 and MOV: gst_qt_mux_add_mp4_cover writes only the first picture.
    return caps?.hasPrefix("video/quicktime") ?? false ? 1 : 0
  }
  /// True if the container can hold a title for each stream.
  var holdsTitles: Bool {
    ["video/quicktime", "video/x-matroska", "video/webm"].contains { caps?.hasPrefix($0) ?? false }
  }
  /// True for FLAC without a container.
  var isFLAC: Bool { caps == nil && audioCodecs == ["audio/x-flac"] }
  /// True if the container can hold chapters.
  var holdsChapters: Bool { holdsChapterTitles || isFLAC }
  /// True if the container can hold the titles of chapters. The cue sheet of FLAC, also in Ogg, has
  /// none.
  var holdsChapterTitles: Bool { holdsTitles || isWave }
  /// True for JPEG images.
  var isJPEG: Bool {
    switch imageFormat {
    case .sequence(let encoder, _), .file(let encoder, _): encoder == Container.jpeg.encoder
    case .animation, nil: false
    }
  }
  /// True if the container can hold comments with any name.
  var holdsComments: Bool { isOgg || holdsTitles || tagger != nil || isFLAC }
  /// True if the container stores whether video is interlaced, and the field order.
  var holdsFieldOrder: Bool { isMatroska || isY4M || caps == "video/quicktime,variant=apple" }
  var isY4M: Bool { if case .file("y4menc", _)? = imageFormat { true } else { false } }
  /// True if the muxer writes this layout of the two views of stereoscopic video
  /// (`gst_matroska_mux_video_pad_setcaps`, `gst_qt_mux_video_sink_set_caps`).
  func holdsViews(_ layout: String) -> Bool {
    if isMatroska { return ["side-by-side", "top-bottom", "checkerboard", "frame-by-frame"].contains(layout) }
    return hasEditLists && ["side-by-side", "row-interleaved", "frame-by-frame"].contains(layout)
  }
  /// True for Matroska and WebM.
  var isMatroska: Bool { ["video/x-matroska", "video/webm"].contains(caps) }
  /// True if the container has no timestamps for frames (AVI, Y4M). Frames are then stored in
  /// presentation order, and have equal durations.
  var lacksTimes = false
  /// True for Ogg. Theora in Ogg has frame numbers instead of timestamps, so all frames have equal
  /// durations.
  var isOgg: Bool { caps == "application/ogg" }
  /// True for MPEG transport streams, whose muxers name pads after PIDs.
  var isTransportStream: Bool { caps?.hasPrefix("video/mpegts") ?? false }
  var isWave: Bool { caps == "audio/x-wav" }
  /// True if the size of the written PCM buffers does not matter, since demuxers choose other
  /// sizes: WAV has no packets, MOV stores each sample frame separately, and AVI packets are split.
  /// In other containers, each written buffer becomes a packet.
  var hasLooseSamples: Bool { isWave || caps == "video/x-msvideo" || caps == "video/quicktime,variant=apple" }
  /// True if audio in the container has no timestamps. The audio then always starts at time 0 of
  /// the file.
  var needsAudioFromStart = false
  /// Image format of an output that is one image file, or one file per frame. Such an output has no
  /// audio and needs no muxer. nil for other containers.
  var imageFormat: ImageFormat?

  /// Format of an output that holds only images.
  enum ImageFormat: Sendable {
    /// One animated image, which players loop.
    case animation(AnimationFormat)
    /// One file for each frame, written by `encoder`; the output's name has a pattern for the
    /// number, such as `%05d`.
    /// - Parameter opaque: caps of the encoder's input if frames have no transparency.
    case sequence(encoder: String, opaque: String)
    /// One file with the complete output of `encoder`: a single image, or all raw frames.
    /// - Parameter opaque: like `opaque` of `sequence`; nil if the encoder has no transparency.
    case file(encoder: String, opaque: String?)
  }

  /// Format of an animation, which players loop; nil if the output is no animation.
  var animation: AnimationFormat? {
    if case .animation(let format) = imageFormat { format } else { nil }
  }

  /// Returns the container for a file name.
  /// - Parameter format: extension that selects the container; nil: the extension of the file name.
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
        .usage, about: "standard output", "has no file extension to set the format",
        remedy: "add \(setting: .format) mkv, for example")
    }
    let suffix = format ?? fileExtension(path)
    guard let container = named(suffix) else {
      guard format == nil else {
        throw RetrogradeError(
          .usage,
          "\(setting: .format) \(suffix): there is no such format; choose one of \(extensions.joined(separator: ", "))")
      }
      let stem = path.dropLast(suffix.count + 1)
      let advice =
        sequenceEncoders[suffix.lowercased()] != nil
        ? "; for numbered images, write \(stem)-%05d.\(suffix); `retrograde frame` writes a single image" : ""
      throw RetrogradeError(
        .usage,
        about: path,
        (suffix.isEmpty ? "the file name has no extension" : "no container has the extension “\(suffix)”")
          + "; use one of \(extensions.joined(separator: ", "))\(advice)")
    }
    if container.caps != nil && container.muxers.isEmpty {
      throw RetrogradeError(
        .missingPlugin, about: path, "no muxer for .\(suffix) is installed", remedy: "\(PackageHint.all)")
    }
    return container
  }

  /// Returns the container of a finished file, which another program may have written. The name's
  /// extension selects the container, as in ``of(_:format:)``. If no output format has this
  /// extension, the file's content selects the container.
  static func of(finished path: String, name: String, format: String?) throws -> Container {
    let isSelected =
      format != nil || name == "-" || ImageSequence.isPattern(name) || named(fileExtension(name)) != nil
    if isSelected { return try of(name, format: format) }
    return ContainerFacts.writtenExtension(of: path).flatMap(named) ?? unknown
  }

  /// Returns the container for an image, or for numbered images if `path` is a pattern. The
  /// extension selects the format.
  static func images(_ path: String) throws -> Container {
    let suffix = fileExtension(path)
    guard let (encoder, opaque) = sequenceEncoders[suffix.lowercased()] else {
      throw RetrogradeError(
        .usage,
        about: path,
        (suffix.isEmpty ? "the file name has no extension" : "no image format has the extension “\(suffix)”")
          + "; use one of \(sequenceEncoders.keys.sorted().joined(separator: ", "))")
    }
    return Container(
      caps: nil, videoCodecs: [], audioCodecs: [], holdsOneVideo: true,
      imageFormat: ImageSequence.isPattern(path)
        ? .sequence(encoder: encoder, opaque: opaque) : .file(encoder: encoder, opaque: opaque))
  }

  /// Extension of the last part of a path; empty if that part has no dot.
  static func fileExtension(_ path: String) -> String {
    let name = path.split(separator: "/").last ?? ""
    return name.contains(".") ? name.split(separator: ".").last.map(String.init) ?? "" : ""
  }

  private static func named(_ fileExtension: String) -> Container? {
    let name = fileExtension.lowercased()
    return byExtension[otherNames[name] ?? name]
  }

  /// Returns a file name with the extension of the output format.
  /// - Parameter format: see ``of(_:format:)``.
  static func fileName(_ path: String, format: String?) -> String {
    format.map { "\(path).\(otherNames[$0.lowercased()] ?? $0.lowercased())" } ?? path
  }

  /// Extension for each format name that other programs use.
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
  /// Container of streaming segments for browsers. The orientation is not stored, so the frames
  /// themselves are rotated.
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

  /// Container of a format that Retrograde can't write. In a verification, the file must have all
  /// video and audio streams of the source, but may lack all other details.
  private static let unknown = Container(videoCodecs: [h264], audioCodecs: [aac], isKnown: false)

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
    // Use RGB, because libwebp converts RGB to WebP's YUV range and matrix. webpenc would store YUV
    // frames of another range or matrix unconverted.
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
    // RFC 7845, 9: players expect Opus in files with this extension.
    "opus": Container(
      caps: "application/ogg", videoCodecs: [], audioCodecs: ["audio/x-opus"], holdsNamedCodecsOnly: true,
      needsAudioFromStart: true),
    "oga": audio("application/ogg", "audio/x-vorbis", "audio/x-opus"),
    "mka": Container(caps: "video/x-matroska", videoCodecs: [], audioCodecs: [aac, pcm]),
  ]

  /// Returns the container that a user's pipeline writes, determined from the pipeline's muxer, or
  /// from the element in place of a muxer; nil if the container is unknown.
  static func written(by pipeline: Pipeline) -> Container? {
    let known = byExtension.sorted { $0.key < $1.key }.map(\.value).filter { $0.caps != nil }
    let muxed = known.filter { !$0.videoCodecs.isEmpty } + known.filter { $0.videoCodecs.isEmpty }
    if let found = muxed.first(where: { $0.caps.map(pipeline.hasMuxer) ?? false }) { return found }
    // xingmux only adds a header to MP3.
    guard pipeline.elements(ofClass: "Muxer").allSatisfy({ $0.factoryName == "xingmux" }) else { return nil }
    let alone = [("flacenc", "flac"), ("xingmux", "mp3"), ("id3v2mux", "mp3"), ("id3mux", "mp3")]
    return alone.first { !pipeline.elements(ofFactory: $0.0).isEmpty }.flatMap { byExtension[$0.1] }
  }

  /// Names of the installed muxers for the container, best first; `encodebin` uses the first muxer
  /// that accepts all streams. Empty if no muxer is needed or installed.
  var muxers: [String] {
    guard let caps, let parsed = Caps(caps) else { return [] }
    return Registry.factories(.muxer, sources: parsed)
  }

  /// True if the container can hold `codec`.
  func takes(_ codec: Caps) -> Bool {
    guard caps != nil, !holdsNamedCodecsOnly else {
      return audioCodecs.compactMap { Caps($0) }.contains { $0.intersects(codec) }
    }
    if isTransportStream, ["video/x-vp9", "video/x-av1"].contains(codec.mediaType),
      Quirk.mpegtsmuxCustomMappings.applies
    {
      return false
    }
    // GStreamer could not read TTA back from Matroska.
    if isMatroska, codec.mediaType == "audio/x-tta", Quirk.matroskademuxTTA.applies { return false }
    return muxers.contains { Registry.factory($0, takes: codec) }
  }
}
