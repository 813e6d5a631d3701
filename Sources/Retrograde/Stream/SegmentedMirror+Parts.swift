import MediaTime
import RetrogradeEngine

extension SegmentedMirror {
  /// How a source is played and made into segments.
  package struct Settings: Sendable, Codable {
    package var playback: PlaybackOptions
    /// The heights of the picture, in pixels, one rendition each; none: the source's own, and no more than ``usualHeight``. None is higher
    /// than the source.
    package var heights: [Int]
    /// For each segment that is made at a time.
    package var resources: Resources
    /// How long a segment is, about; at least a second.
    package var target: ClockTime
    /// True if H.264 and ALAC lose nothing: no browser plays that, but the output can be compared.
    var isLossless = false

    package static let usualHeight = 1080
    package static let usualTarget = ClockTime(seconds: 4)

    package init(
      playback: PlaybackOptions = PlaybackOptions(), heights: [Int] = [], resources: Resources = Resources(),
      target: ClockTime = usualTarget
    ) {
      (self.playback, self.heights, self.resources, self.target) = (playback, heights, resources, target)
    }
  }

  /// A stretch of the output that is made by itself.
  package struct Segment: Sendable, Hashable, Codable {
    /// Since the output's start, exact to the unit of the track's time.
    package let start: ClockTime
    package let duration: ClockTime

    package var end: ClockTime { start + duration }

    package init(start: ClockTime, duration: ClockTime) { (self.start, self.duration) = (start, duration) }
  }

  /// One way in which the output is had: the picture at one size in one codec, or one audio stream.
  package struct Rendition: Sendable, Codable {
    package enum Kind: Sendable, Hashable, Codable {
      /// In pixels, which are square, and frames per second on average.
      case video(width: Int, height: Int, frameRate: Double)
      case audio(channels: Int, sampleRate: Int)
    }

    package let kind: Kind
    /// Name that no other rendition has, of letters, digits and `-`: `1080`, `540`, `540-vp9`, `audio`,
    /// `audio-1`.
    package let name: String
    /// As RFC 6381 has it: `avc1.64001F`, `vp09.00.30.08`, `mp4a.40.2`.
    package let codecs: String
    /// Bits per second of all of it on average, and of its largest segment: no more than that.
    package let averageBandwidth: Int
    package let peakBandwidth: Int
    /// One after the other, from the output's start to its end. Those of all videos are the same.
    package let segments: [Segment]
    /// Language of audio, as the source names it: BCP 47 or ISO 639; nil: it does not.
    package let language: String?
    package let title: String?
    /// The codec of a video that is had in the source's own as well as in H.264, by its name, `VP9`; nil: H.264, or audio.
    package let sourceCodec: String?

    package init(
      kind: Kind, name: String, codecs: String, averageBandwidth: Int, peakBandwidth: Int, segments: [Segment],
      language: String? = nil, title: String? = nil, sourceCodec: String? = nil
    ) {
      (self.kind, self.name, self.codecs) = (kind, name, codecs)
      (self.averageBandwidth, self.peakBandwidth, self.segments) = (averageBandwidth, peakBandwidth, segments)
      (self.language, self.title, self.sourceCodec) = (language, title, sourceCodec)
    }
  }

  /// Subtitles in the order of play.
  package struct Subtitles: Sendable, Codable {
    package let language: String?
    package let title: String?
    /// A whole WebVTT file, in the time of the output.
    package let text: String

    package init(language: String?, title: String?, text: String) {
      (self.language, self.title, self.text) = (language, title, text)
    }
  }
}
