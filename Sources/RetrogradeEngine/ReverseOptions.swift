import Glibc
import GStreamer
public import MediaTime

/// How to turn a source round. The defaults are those of `retrograde reverse`.
public struct ReverseOptions: Sendable {
  /// The most bytes of decoded media to hold at once. 512 MiB unless said otherwise.
  public var memory = ByteCount(512 << 20)
  /// Where the spool files live; they have no name, and are gone with the process.
  public var spoolDirectory = ReverseOptions.temporaryDirectory
  public var timing = Timing.mirror
  /// The order of play.
  public var loop = Loop.reverse
  /// How often the loop is played; at least 1.
  public var count = 1
  /// Whether the last frame of all is left out where it is the first one again: for files that players repeat. Nil: as
  /// players treat the output; of those that can be written, GIF, WebP and APNG are repeated.
  public var dropsSeam: Bool?
  /// What of the source to mirror; nil: from its start, to its end.
  public var start: SourcePosition?
  public var end: SourcePosition?
  /// Whether what is played forwards is carried as it is, without decoding and encoding: see docs/limits.md for where that can
  /// be done.
  public var copiesForward = false
  /// The most frames per second to show; nil: all. Where there are more, those between are left out, the same ones
  /// forwards and backwards.
  public var frameRate: FrameRate?
  /// How fast the frames of an image sequence (`frames/%05d.png`) are shown.
  public var sequenceRate = FrameRate.usual
  /// Whether the output can hold transparency.
  package var wantsAlpha = false
  /// More frames per second than this are thinned out; what the output can hold.
  package var fastest: FrameRate?
  public var noAudio = false
  public var noVideo = false
  /// Which streams to mirror; nil: all.
  public var streams: StreamSelection?
  /// A file of subtitles to mirror with the source; nil: none.
  public var subtitles: String?
  /// Where to write the mirrored subtitles of text as a file of their own, .srt or .vtt; nil: nowhere.
  public var subtitlesOutput: String?
  /// Whether everything that the mirror would lack is an error of code `damagedInput` rather than a ``Warning``.
  public var isStrict = false
  /// Whether the finished mirror is compared with its source before it gets its name; one that differs never gets it.
  public var isVerified = false
  /// Whether an existing output may be replaced.
  public var overwrites = false
  public var encoding = EncodingOptions()

  public init() {}

  /// `TMPDIR`, or `/var/tmp` where it is not set: `/tmp` is often in memory, which the spool is there to spare.
  public static var temporaryDirectory: String {
    if let name = getenv("TMPDIR"), name.pointee != 0 { return String(cString: name) }
    return "/var/tmp"
  }
}

/// How the output is encoded.
public struct EncodingOptions: Sendable {
  /// How near to the source the output is to be.
  public enum Quality: String, Sendable, CaseIterable {
    /// Hard to tell from the source, at about its bit rate.
    case source
    /// Hard to tell from the source under a magnifying glass, at whatever bit rate that takes.
    case high
    /// Bit-exact frames and samples.
    case lossless
  }

  public var quality = Quality.source
  /// A codec's short name, such as `h264`, or caps, such as `video/x-h264`; nil: the source's own, if possible.
  public var videoCodec: String?
  public var audioCodec: String?
  /// A `GstEncodingProfile` in GStreamer's serialised syntax, or the name of an encoding target. It replaces everything
  /// else here.
  public var profile: String?
  /// Bits per second of the video.
  public var bitrate: Int?
  /// A constant rate factor or quantizer, on the encoder's own scale.
  public var constantRateFactor: Int?
  /// One of the encoder's own speed presets.
  public var preset: String?
  /// The width of the video as it is shown, in pixels; its height follows. Nil: the source's own.
  public var width: Int?

  /// Whether video in FFV1 keeps the transparency that lies beside the frames of VP8 and VP9; WebP, APNG and
  /// PNG always do. Few video players show it.
  public var keepsAlpha = false
  /// Whether interlaced frames are made whole ones, one of each frame.
  public var deinterlaces = false

  public init() {}
}

/// A place in the source.
public enum SourcePosition: Sendable, Hashable, CustomStringConvertible {
  case time(ClockTime)
  /// The start of a frame, counted from 0.
  case frame(Int)

  /// As ``init(parsing:)`` reads it.
  public var description: String {
    switch self {
    case .time(let time): "\(time.seconds)"
    case .frame(let frame): "\(frame)f"
    }
  }

  /// Reads seconds (`2.5`), minutes and seconds (`1:02.5`), hours (`1:00:00`) or a frame (`250f`).
  public init?(parsing text: String) {
    if text.hasSuffix("f") || text.hasSuffix("F") {
      guard let frame = Int(text.dropLast()), frame >= 0 else { return nil }
      self = .frame(frame)
      return
    }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count) else { return nil }
    var seconds = 0.0
    for (index, part) in parts.enumerated() {
      guard let value = Double(part), value >= 0, value.isFinite, index == 0 || value < 60,
        part.first?.isNumber == true || part.first == "."
      else { return nil }
      seconds = seconds * 60 + value
    }
    self = .time(ClockTime(seconds: seconds))
  }
}
