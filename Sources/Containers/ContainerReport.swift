package import MediaTime

/// A container's declarations about its content, and its structural damage.
///
/// Demuxers output the packets of a truncated file and end normally, so only the container's own
/// declarations distinguish a truncated file from a complete one.
package struct ContainerReport: Equatable, Sendable {
  package struct Stream: Equatable, Sendable {
    package var kind: StreamKind
    /// Number of video frames; nil if the container does not declare their number.
    package var frames: Int?
    /// End of the stream in stream time; nil if the container does not declare it.
    package var end: ClockTime?
    /// True if the stream is listed but has no data in the file.
    package var isEmpty = false

    package init(kind: StreamKind, frames: Int?, end: ClockTime?) {
      self.kind = kind
      self.frames = frames
      self.end = end
    }
  }

  /// Gaps in the file: missing packets in a format that numbers its packets, or damaged bytes
  /// between packets.
  package struct Gaps: Equatable, Sendable {
    /// Displayed name of the format that contains the packets.
    package var of = "the transport stream"
    package var count: Int
    /// Bounds of the gaps in stream time: end of the data before the first gap, and start of the
    /// data after the last gap.
    package var start: ClockTime
    package var end: ClockTime
  }

  /// Stream of a transport stream that is neither video nor audio, such as subtitles or metadata.
  package struct DataStream: Equatable, Sendable {
    /// PID of the stream.
    package let number: Int
    /// Detail to report if the demuxer skips the stream.
    package let detail: ContainerDetail
  }

  /// True if the file is truncated: it ends within a structure of declared size, or without the end
  /// mark of its format.
  package var isCut = false
  /// Offset of the first damage other than a truncation; nil if there is none, or if the file was
  /// not searched.
  package var brokenAt: Int?
  /// Declared end of the presentation in stream time; nil if the container declares none.
  package var end: ClockTime?
  package var streams: [Stream] = []
  /// End of the last fragment of an MP4 file, in decoding time. This end is measured, whereas
  /// ``end`` is declared.
  package var fragmentsEnd: ClockTime?
  /// Identifiers of all streams in file order: serial numbers in Ogg, PIDs in transport streams.
  /// Empty for other formats.
  package var streamNumbers: [Int] = []
  /// End of each Vorbis stream in Ogg, by serial number. A stream without a last page, as in a
  /// truncated file, is omitted.
  package var vorbisEnds: [Int: ClockTime] = [:]
  /// Streams that have packets, but are neither video nor audio. Transport streams only.
  package var dataStreams: [DataStream] = []
  /// Tolerance: a file whose media ends at most this long before ``presentationEnd`` is not
  /// considered truncated, unless something else indicates truncation. Nil tolerates any
  /// difference, because the declared end is not exact.
  package var slack: ClockTime?
  /// True if the declared length is a number of audio samples. If audio is then missing (by more
  /// than ``slack``) without other damage, the file is truncated.
  package var countsSamples = false
  /// Number of concatenated files. Ogg allows several (RFC 3533, 4). At most 2 in other formats,
  /// because reading stops at the second file.
  package private(set) var links = 1
  /// Offset of the second concatenated file in bytes; nil if there is none.
  package private(set) var nextFile: Int?

  /// Gaps in the packets; nil if there are none, or if the format does not number its packets.
  package var gaps: Gaps?
  /// Number of additional programs, as in broadcasts; only one program is read.
  package var furtherPrograms = 0
  /// Number of FLI and FLC frames without content. Such a frame prolongs the previous one, but
  /// `flxdec` drops it, so its time is lost (seen with 1.22; the code of 1.28 is the same).
  package var unchangedFrames = 0

  /// Declared end of the presentation, or else of the last stream; nil if neither is declared.
  package var presentationEnd: ClockTime? { end ?? streams.compactMap(\.end).max() }

  package init(
    isCut: Bool = false, end: ClockTime? = nil, streams: [Stream] = [], slack: ClockTime? = nil,
    countsSamples: Bool = false
  ) {
    self.isCut = isCut
    self.end = end
    self.streams = streams
    self.slack = slack
    self.countsSamples = countsSamples
  }

  /// Counts another concatenated file, which begins at `place`.
  mutating func noteFile(at place: Int) {
    links += 1
    nextFile = nextFile ?? place
  }
}
