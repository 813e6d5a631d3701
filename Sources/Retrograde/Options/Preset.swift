import GStreamer
public import MediaTime
public import RetrogradeEngine

/// Requirements of a destination, such as a video service: a GStreamer encoding target, with limits
/// of duration, size and aspect ratio.
///
/// A preset is a file whose name ends in `.gep`. In addition to GStreamer's groups, the file has a
/// group `[Retrograde]`, with any of the keys `extensions` (`mp4;mov`), `crop` (`9:16`), `fit` or
/// `pad` (`1080x1920`), `max-seconds`, `max-size` (`16MB`) and `date` (day on which the limits were
/// looked up).
public struct Preset: Sendable, Hashable {
  public var name: String
  public var description: String
  /// Date when the limits were looked up, in ISO 8601, such as `2026-01` or `2026-01-31`; nil if
  /// the file has no date.
  public var date: String?
  /// File name extensions that the destination accepts; empty: any.
  public var extensions: [String]
  public var crop: Framing.Crop?
  public var scale: Framing.Scale?
  public var longest: ClockTime?
  public var maxSize: ByteCount?
  /// Video codec as caps; nil: any.
  public var videoCodec: String?
  public var audioCodec: String?

  private static let group = "Retrograde"
  private static let keys = ["crop", "date", "extensions", "fit", "max-seconds", "max-size", "pad"]

  /// Reads a preset from a file.
  /// - Throws: ``RetrogradeError`` of code `usage`; the message names the value that can't be
  ///   parsed.
  public init(path: String) throws {
    func refused(_ why: String) -> RetrogradeError { RetrogradeError(.usage, about: path, "\(why)") }
    let target: EncodingTarget
    do {
      target = try EncodingTarget(file: path, group: Preset.group)
    } catch let error as GStreamerError {
      throw refused("is not an encoding target: \(error.message)")
    }
    if let unknown = target.keys.first(where: { !Preset.keys.contains($0) }) {
      let known = Preset.keys.joined(separator: ", ")
      throw refused("\(unknown)= in [\(Preset.group)] is not a known key; the keys are \(known)")
    }
    func value<Value>(_ key: String, _ read: (String) -> Value?) throws -> Value? {
      guard let text = target[key] else { return nil }
      guard let value = read(text) else { throw refused("\(key)=\(text) in [\(Preset.group)] is not a valid value") }
      return value
    }
    func size(_ text: String) -> (Int, Int)? {
      Framing.pair(text[...], "x") { Int($0).flatMap { (1...16_384).contains($0) ? $0 : nil } }
    }
    (name, description, date) = (target.name, target.description, target["date"])
    extensions = (target["extensions"] ?? "").split(separator: ";").map { $0.lowercased() }
    crop = try value("crop", Framing.Crop.init(parsing:))
    let padded = try value("pad", size).map { Framing.Scale.pad(width: $0.0, height: $0.1) }
    let fitted = try value("fit", size).map { Framing.Scale.limit(width: $0.0, height: $0.1) }
    scale = padded ?? fitted
    longest = try value("max-seconds") { Double($0).flatMap { (0.001...1e6).contains($0) ? .seconds($0) : nil } }
    maxSize = try value("max-size", ByteCount.init(decimal:))
    (videoCodec, audioCodec) = (target.video, target.audio)
  }

  /// Makes this preset the destination (`output.place`) of `options`, and copies its other values,
  /// except those that `options` sets or excludes. An encoding profile excludes the codecs and the
  /// maximum size. An encoder excludes the video codec. A bit rate, a constant rate factor or
  /// lossless quality excludes the maximum size.
  public func apply(to options: inout ReverseOptions) {
    var encoding = options.encoding
    if encoding.framing.crop == nil { encoding.framing.crop = crop }
    if encoding.framing.scale == nil { encoding.framing.scale = scale }
    if encoding.profile == nil {
      if encoding.videoCodec == nil, encoding.encoder == nil {
        (encoding.videoCodec, encoding.isVideoCodecOfPlace) = (videoCodec, true)
      }
      if encoding.audioCodec == nil { (encoding.audioCodec, encoding.isAudioCodecOfPlace) = (audioCodec, true) }
      if encoding.bitrate == nil, encoding.constantRateFactor == nil, encoding.quality != .lossless {
        encoding.maxSize = encoding.maxSize ?? maxSize
      }
    }
    options.encoding = encoding
    options.output.place = OutputOptions.Place(name: name, extensions: extensions, longest: longest)
  }
}

extension OutputOptions {
  /// Video service, or other destination, whose limits the output must meet.
  public struct Place: Sendable, Codable, Hashable {
    public var name: String
    /// File name extensions in lower case; empty: any.
    public var extensions: [String]
    /// Longest duration; nil: unlimited.
    public var longest: ClockTime?

    public init(name: String, extensions: [String] = [], longest: ClockTime? = nil) {
      self.name = name
      self.extensions = extensions
      self.longest = longest
    }

    /// - Throws: ``RetrogradeError`` of code `usage` if the place does not accept the file name
    ///   extension of `output`.
    func check(_ output: String) throws {
      guard extensions.isEmpty || extensions.contains(Container.fileExtension(output).lowercased()) else {
        throw RetrogradeError(
          .usage, about: output,
          "\(setting: .place) \(name) accepts only \(extensions.map { ".\($0)" }.joined(separator: ", "))",
          remedy: "change the extension")
      }
    }

    /// Returns a warning if the duration of a recording exceeds ``longest``; otherwise nil.
    func warning(_ duration: ClockTime?) -> Warning? {
      guard let longest, let duration, duration > longest else { return nil }
      return Warning(
        .tooLong, "the output is \(duration) long, but \(setting: .place) \(name) allows at most \(longest)")
    }

    /// - Throws: ``RetrogradeError`` of code `usage` if `duration` exceeds ``longest``.
    func check(_ output: String, _ duration: ClockTime?) throws {
      guard let longest, let duration, duration > longest else { return }
      throw RetrogradeError(
        .usage, about: output,
        "the output would be \(duration) long, but \(setting: .place) \(name) allows at most \(longest)",
        remedy:
          "select a part with \(setting: .start) and \(setting: .end), or make it faster with \(setting: .score)")
    }
  }
}
