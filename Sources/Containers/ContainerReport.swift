package import MediaTime

/// A container's declarations about its content, and whether its bytes are complete.
///
/// Demuxers output the packets of a truncated file and end normally: only the container's own
/// declarations distinguish it from a complete file.
package struct ContainerReport: Equatable, Sendable {
  package struct Stream: Equatable, Sendable {
    package var kind: StreamKind
    /// Number of video frames; nil if not declared.
    package var frames: Int?
    /// End in stream time; nil if not declared.
    package var end: ClockTime?
    /// True if the stream is listed but has no data in the file.
    package var isEmpty = false

    package init(kind: StreamKind, frames: Int?, end: ClockTime?) {
      self.kind = kind
      self.frames = frames
      self.end = end
    }
  }

  /// Gaps in counted packets, or in the bytes between packets.
  package struct Gaps: Equatable, Sendable {
    /// Displayed name of the source of the packets.
    package var of = "the transport stream"
    package var count: Int
    /// Bounds of the gaps in stream time: end of the data before the first gap, and start of the
    /// data after the last one.
    package var start: ClockTime
    package var end: ClockTime
  }

  /// True if the file ends within a structure of declared size, or without the end mark of its
  /// format.
  package var isCut = false
  /// Offset of the first byte that is not valid in the format although valid data follows; nil if
  /// there is none, or the file was not searched.
  package var brokenAt: Int?
  /// End of the presentation in stream time.
  package var end: ClockTime?
  package var streams: [Stream] = []
  /// End of the last fragment of an MP4 file, in decoding time. Unlike ``end``, it is measured, not
  /// declared.
  package var fragmentsEnd: ClockTime?
  /// Numbers of all streams in file order: serial numbers of Ogg, PIDs of transport streams. Empty
  /// for other formats.
  package var streamNumbers: [Int] = []
  /// Time by which the media may end before ``presentationEnd`` without being considered truncated,
  /// if nothing else indicates that. Nil if any difference is allowed, because the declared end is
  /// not exact.
  package var slack: ClockTime?
  /// True if the declared length counts samples: missing samples then mean a truncated end.
  package var countsSamples = false
  /// Number of concatenated files, as allowed by Ogg (RFC 3533, 4). At most two are counted in
  /// other formats.
  package private(set) var links = 1
  /// Offset of the second file in bytes.
  package private(set) var nextFile: Int?

  /// Gaps in the packets; nil if there are none, or if the format does not count packets.
  package var gaps: Gaps?
  /// Number of programs besides the one that is read, as in broadcasts.
  package var furtherPrograms = 0
  /// Number of FLI and FLC frames without content, which prolong the frame before them. `flxdec`
  /// drops them, and their time is lost (seen with 1.22; 1.28 has the same source).
  package var unchangedFrames = 0

  /// Declared end of the last stream; nil if none is declared.
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

  /// Counts another file that begins at `place`.
  mutating func noteFile(at place: Int) {
    links += 1
    nextFile = nextFile ?? place
  }
}
