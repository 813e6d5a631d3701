import Paths

/// Sentence for the user, without a full stop. The program that shows the sentence supplies the
/// names of the settings that the sentence mentions.
public struct Message: Sendable, Hashable, CustomStringConvertible {
  fileprivate enum Part: Hashable, Sendable {
    case text(String)
    case setting(Setting)
  }

  /// Texts and settings, in order. No text is empty, and no two texts are adjacent.
  private var parts: [Part] = []

  public init(_ text: String) { append(.text(text)) }

  /// Text with the settings named as in the Swift library, in backquotes.
  public var description: String { naming { "`\($0.rawValue)`" } }

  /// Returns the text, with the settings named by `name`.
  /// - Parameter name: returns the displayed name of a setting.
  public func naming(_ name: (Setting) -> String) -> String {
    parts.map { part in
      switch part {
      case .text(let text): text
      case .setting(let setting): name(setting)
      }
    }.joined()
  }

  /// Joins settings with `separator`.
  package static func list(_ settings: [Setting], _ separator: String = ", ") -> Message {
    settings.dropFirst().reduce(settings.first.map { "\(setting: $0)" } ?? "") { "\($0)\(separator)\(setting: $1)" }
  }

  public static func + (a: Message, b: Message) -> Message {
    var sum = a
    for part in b.parts { sum.append(part) }
    return sum
  }

  private mutating func append(_ part: Part) {
    guard case .text(let raw) = part else {
      parts.append(part)
      return
    }
    let text = raw.readablePath
    if text.isEmpty { return }
    if case .text(let last)? = parts.last {
      parts[parts.count - 1] = .text(last + text)
    } else {
      parts.append(.text(text))
    }
  }
}

/// Encoded as a list. Each text is a string, and each setting is an object such as
/// `{"setting": "resources.memory"}`.
extension Message: Codable {
  private struct Named: Codable { var setting: String }

  public init(from decoder: any Decoder) throws {
    var parts = try decoder.unkeyedContainer()
    while !parts.isAtEnd {
      if let text = try? parts.decode(String.self) {
        append(.text(text))
      } else {
        append(.setting(Setting(rawValue: try parts.decode(Named.self).setting)))
      }
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for part in parts {
      switch part {
      case .text(let text): try container.encode(text)
      case .setting(let setting): try container.encode(Named(setting: setting.rawValue))
      }
    }
  }
}

extension Message: ExpressibleByStringInterpolation {
  public init(stringLiteral text: String) { self.init(text) }

  public init(stringInterpolation: StringInterpolation) { self = stringInterpolation.message }

  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var message = Message("")

    public init(literalCapacity: Int, interpolationCount: Int) {}

    public mutating func appendLiteral(_ literal: String) { message.append(.text(literal)) }

    public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
      message.append(.text(value.description))
    }

    public mutating func appendInterpolation(_ other: Message) { message = message + other }

    public mutating func appendInterpolation(setting: Setting) { message.append(.setting(setting)) }
  }
}

/// Property of `ReverseOptions`, identified by its Swift key path.
public struct Setting: RawRepresentable, Hashable, Sendable {
  public var rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Last component of the key path.
  package var name: Substring { rawValue.split(separator: ".").last ?? "" }

  public static let work = Setting(rawValue: "work")
  public static let memory = Setting(rawValue: "resources.memory")
  public static let spoolDirectory = Setting(rawValue: "resources.spoolDirectory")
  public static let start = Setting(rawValue: "playback.start")
  public static let end = Setting(rawValue: "playback.end")
  public static let copiesForward = Setting(rawValue: "encoding.copiesForward")
  public static let reencodes = Setting(rawValue: "encoding.reencodes")
  public static let score = Setting(rawValue: "playback.score")
  public static let keepsPitch = Setting(rawValue: "playback.keepsPitch")
  public static let dissolve = Setting(rawValue: "playback.dissolve")
  public static let interpolation = Setting(rawValue: "playback.interpolation")
  public static let soundtrack = Setting(rawValue: "soundtrack")
  public static let subtitles = Setting(rawValue: "subtitles")
  public static let subtitlesOutput = Setting(rawValue: "output.subtitles")
  public static let loop = Setting(rawValue: "playback.loop")
  public static let timing = Setting(rawValue: "playback.timing")
  public static let count = Setting(rawValue: "playback.count")
  public static let frameRate = Setting(rawValue: "playback.frameRate")
  public static let noAudio = Setting(rawValue: "playback.noAudio")
  public static let noVideo = Setting(rawValue: "playback.noVideo")
  public static let streams = Setting(rawValue: "playback.streams")
  public static let isStrict = Setting(rawValue: "output.isStrict")
  public static let place = Setting(rawValue: "output.place")
  public static let isVerified = Setting(rawValue: "output.isVerified")
  public static let overwrites = Setting(rawValue: "output.overwrites")
  public static let caption = Setting(rawValue: "lettering.caption")
  public static let captionStyle = Setting(rawValue: "lettering.captionStyle")
  public static let showsTimecode = Setting(rawValue: "lettering.showsTimecode")
  public static let format = Setting(rawValue: "encoding.format")
  public static let quality = Setting(rawValue: "encoding.quality")
  public static let videoCodec = Setting(rawValue: "encoding.videoCodec")
  public static let encoder = Setting(rawValue: "encoding.encoder")
  public static let encoderOptions = Setting(rawValue: "encoding.encoderOptions")
  public static let audioCodec = Setting(rawValue: "encoding.audioCodec")
  public static let profile = Setting(rawValue: "encoding.profile")
  public static let bitrate = Setting(rawValue: "encoding.bitrate")
  public static let constantRateFactor = Setting(rawValue: "encoding.constantRateFactor")
  public static let maxSize = Setting(rawValue: "encoding.maxSize")
  public static let colors = Setting(rawValue: "encoding.colors")
  public static let dither = Setting(rawValue: "encoding.dither")
  public static let preset = Setting(rawValue: "encoding.preset")
  public static let framing = Setting(rawValue: "encoding.framing")
  public static let crop = Setting(rawValue: "encoding.framing.crop")
  public static let rotation = Setting(rawValue: "encoding.framing.rotation")
  public static let flip = Setting(rawValue: "encoding.framing.flip")
  public static let width = Setting(rawValue: "encoding.width")
  public static let height = Setting(rawValue: "encoding.framing.scale.height")
  public static let fit = Setting(rawValue: "encoding.framing.scale.fit")
  public static let keepsAlpha = Setting(rawValue: "encoding.keepsAlpha")
  public static let deinterlaces = Setting(rawValue: "encoding.deinterlaces")
}
