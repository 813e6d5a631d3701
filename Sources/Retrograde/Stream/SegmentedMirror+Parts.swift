import MediaTime
import RetrogradeEngine

extension SegmentedMirror {
  /// Settings of a segmented output: the playback of the source, and the division into segments.
  package struct Settings: Sendable, Codable {
    package var playback: PlaybackOptions
    /// Requested heights of the video renditions, in pixels. Heights above the source's are reduced
    /// to the source's, and odd heights to even ones. Empty: one rendition with the source's
    /// height, at most ``usualHeight``.
    package var heights: [Int]
    /// Resource limits of one segment. Several segments may be made at the same time.
    package var resources: Resources
    /// Target length of a segment, 1 to 60 seconds. The first two segments are shorter.
    package var target: ClockTime
    /// True for lossless H.264 and ALAC. Few browsers can play these formats, but tests can compare
    /// the output with the source bit by bit.
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

  /// Range of the output that is encoded independently of the other ranges.
  package struct Segment: Sendable, Hashable, Codable {
    /// Start of the segment in the output: an integer number of units of the track's timescale.
    package let start: ClockTime
    package let duration: ClockTime

    package var end: ClockTime { start + duration }

    package init(start: ClockTime, duration: ClockTime) { (self.start, self.duration) = (start, duration) }
  }

  /// One stream of the output in segments: the video in one codec at one size, or one audio stream.
  package struct Rendition: Sendable, Codable {
    package enum Kind: Sendable, Hashable, Codable {
      /// Width and height in square pixels, and average frames per second.
      case video(width: Int, height: Int, frameRate: Double)
      case audio(channels: Int, sampleRate: Int)
    }

    package let kind: Kind
    /// Unique name of letters, digits and `-`: `1080`, `540`, `540-vp9`, `audio`, `audio-1`.
    package let name: String
    /// Codec string of RFC 6381: `avc1.64001F`, `vp09.00.30.08`, `mp4a.40.2`.
    package let codecs: String
    /// Upper bound of the average bit rate of the complete rendition, in bits per second.
    package let averageBandwidth: Int
    /// Upper bound of the peak bit rate (RFC 8216, 4.3.4.2), in bits per second.
    package let peakBandwidth: Int
    /// Segments of the complete output, without gaps. All video renditions have the same segments.
    package let segments: [Segment]
    /// Language of audio as the source names it, in BCP 47 or ISO 639; nil if unknown.
    package let language: String?
    package let title: String?
    /// Name of the codec, such as `VP9`, if this rendition has the source's video codec and is
    /// offered in addition to H.264; nil for H.264 and audio.
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
    /// Complete WebVTT file, with times in the output.
    package let text: String

    package init(language: String?, title: String?, text: String) {
      (self.language, self.title, self.text) = (language, title, text)
    }
  }
}
