package import MediaTime

/// Promises of a container about its content, whether or not that is there, and whether its bytes end before
/// it does.
///
/// Demuxers give the packets there are and end, as if those were all: only the container's own words tell a
/// file that was cut from a whole one.
package struct ContainerReport: Equatable, Sendable {
  package struct Stream: Equatable, Sendable {
    package var kind: StreamKind
    /// Frames of video; nil where that is not said.
    package var frames: Int?
    /// When it ends, in stream time; nil where that is not said.
    package var end: ClockTime?
    /// True if the stream is listed, and nothing of it is in the file.
    package var isEmpty = false

    package init(kind: StreamKind, frames: Int?, end: ClockTime?) {
      self.kind = kind
      self.frames = frames
      self.end = end
    }
  }

  /// Gaps of packets that are counted, or of bytes between them.
  package struct Gaps: Equatable, Sendable {
    /// Whose packets they are, in words.
    package var of = "the transport stream"
    package var count: Int
    /// Bounds of the gaps, in stream time: the end of the data before the first, and the start of the data
    /// after the last.
    package var start: ClockTime
    package var end: ClockTime
  }

  /// The file ends inside something that says how long it is, or without the mark that the format ends with.
  package var isCut = false
  /// The first byte that is nothing that the format has, though more of it follows; nil where there is none,
  /// or the file was not searched.
  package var brokenAt: Int?
  /// When the whole ends, in stream time.
  package var end: ClockTime?
  package var streams: [Stream] = []
  /// When the last fragment of an MP4 ends, in the time of decoding. Unlike ``end``, it is no promise.
  package var fragmentsEnd: ClockTime?
  /// Numbers of all streams in the order of the file: Ogg's serial numbers, PIDs of transport streams. Of others none.
  package var streamNumbers: [Int] = []
  /// Time by which the media may end earlier than ``presentationEnd`` where nothing else shows that something
  /// is missing; nil: any time, since the declared end is not exact.
  package var slack: ClockTime?
  /// True if its length is a count of samples: where some are missing, the end was cut off.
  package var countsSamples = false
  /// How many whole files there are one after the other, as Ogg allows (RFC 3533, 4); of others no more than two are
  /// counted.
  package private(set) var links = 1
  /// Start of the second of them, in bytes.
  package private(set) var nextFile: Int?

  /// nil where nothing is missing, or nothing is counted.
  package var gaps: Gaps?
  /// How many programs there are besides the one that is read, as broadcasts may have them.
  package var furtherPrograms = 0
  /// Frames of FLI and FLC without content, which show the frame before them for longer. `flxdec`
  /// drops them, and gives their time to no frame (seen with 1.22; 1.28 has the same source).
  package var unchangedFrames = 0

  /// When the last stream ends, as far as anything is said of that.
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

  /// Another file begins at `place`.
  mutating func noteFile(at place: Int) {
    links += 1
    nextFile = nextFile ?? place
  }
}
