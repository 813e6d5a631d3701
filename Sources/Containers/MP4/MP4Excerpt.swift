package import MediaTime

/// Shortened index of a long MP4 or MOV file: the sample tables list only the MP4 samples in some
/// time ranges. The first sample after each of these ranges represents all samples up to the next
/// range or the end of the file, and has their total duration.
///
/// On the first seek of each pipeline, qtdemux parses the table entries of all earlier samples
/// (`qtdemux_parse_samples`): 35 ms for an hour of video. With an excerpt, a seek costs as little
/// as in a short file.
package struct MP4Excerpt: FileCorrection {
  /// Byte range of the index in the file, including the header of the `moov` box.
  private let place: Range<Int>
  /// New bytes for ``place``. They end with the header of a `free` box that covers the rest of
  /// ``place``.
  private let bytes: [UInt8]
  package let ends: [String: ClockTime]

  package var demuxer: String { "qtdemux" }

  /// Minimum number of MP4 samples in the file. With fewer, an excerpt does not pay off.
  package static let least = 1 << 16

  /// Creates the shortened index.
  /// - Parameters:
  ///   - spans: time ranges to keep, in stream time, ascending and disjoint.
  ///   - correction: other correction of the file, applied before the excerpt is computed.
  ///   - least: minimum number of samples in the file.
  /// - Returns: nil if the file has fewer than `least` samples, is fragmented or not an MP4, or has
  ///   unknown data in its tables.
  package init?(
    _ path: String, keeping spans: [Range<ClockTime>], _ correction: (any FileCorrection)? = nil,
    least: Int = MP4Excerpt.least
  ) {
    guard !spans.isEmpty, let file = RandomAccessFile(path), var index = MP4Index(file), !index.isFragmented,
      let timescale = index.header?.timescale
    else { return nil }
    if let correction { index.correct(by: correction) }
    let movie = index.bytes
    var count = 0
    let kept = MP4Excerpt.rewritten(["trak"], 0..<movie.count, of: movie) { track in
      // Keep all samples of other tracks, because a chapter track is needed for the whole file, not
      // only for `spans`.
      guard [.video, .audio].contains(MP4Track.kind(of: track, movie)) else { return Array(movie[track]) }
      guard let media = movie.box("mdia", "mdhd", in: track), let scale = movie.timescale(media), scale > 0,
        let table = movie.box("mdia", "minf", "stbl", in: track),
        let delay = MP4Edit.delay(in: track, of: movie, timescale),
        let samples = SampleExcerpt(
          movie, table, spans.map { $0.lowerBound - delay..<$0.upperBound - delay }, scale)
      else { return nil }
      count += samples.count
      return MP4Excerpt.rewritten(["mdia", "minf", "stbl"], track, of: movie) { _ in samples.boxes }
    }
    guard count >= least, let kept else { return nil }
    // A `moov` header with a 64-bit size has 16 bytes instead of 8.
    let header = file.text(at: index.place.lowerBound - 4) == "moov" ? 8 : 16
    place = index.place.lowerBound - header..<index.place.upperBound
    let short = Box.bytes("moov", kept)
    let rest = place.count - short.count
    guard rest >= 8 else { return nil }
    bytes = short + Box.header("free", rest - 8)
    ends = correction?.ends ?? [:]
  }

  package func changes(_ range: Range<Int>) -> Bool {
    range.overlaps(place.lowerBound..<place.lowerBound + bytes.count)
  }

  package func apply(to target: UnsafeMutableRawBufferPointer, at offset: Int) {
    let common = (place.lowerBound..<place.lowerBound + bytes.count).clamped(to: offset..<offset + target.count)
    guard !common.isEmpty else { return }
    bytes.withUnsafeBytes { source in
      UnsafeMutableRawBufferPointer(rebasing: target[common.lowerBound - offset..<common.upperBound - offset])
        .copyMemory(
          from: UnsafeRawBufferPointer(
            rebasing: source[common.lowerBound - place.lowerBound..<common.upperBound - place.lowerBound]))
    }
  }

  /// Rewrites the boxes in `body`, and replaces the bodies of the boxes at `path`; nil if `change`
  /// fails for any of these bodies.
  /// - Parameter change: returns the new body of a box; nil on failure.
  private static func rewritten(
    _ path: [String], _ body: Range<Int>, of bytes: [UInt8], _ change: (Range<Int>) -> [UInt8]?
  ) -> [UInt8]? {
    guard let type = path.first else { return change(body) }
    var written: [UInt8] = []
    var start = body.lowerBound
    for box in Box.all(in: bytes[body]) {
      defer { start = box.body.upperBound }
      guard box.type == type else {
        written += bytes[start..<box.body.upperBound]
        continue
      }
      guard let inner = rewritten(Array(path.dropFirst()), box.body, of: bytes, change) else { return nil }
      written += Box.bytes(type, inner)
    }
    return written
  }
}

extension MP4Edit {
  /// Returns the delay of a track's presentation relative to the times of the media.
  /// - Parameter timescale: timescale of the movie.
  /// - Returns: nil if the edits reorder or omit ranges of the media, or change the speed.
  fileprivate static func delay(in track: Range<Int>, of header: [UInt8], _ timescale: Int) -> ClockTime? {
    let edits = all(in: track, of: header)
    guard let last = edits.last else { return .zero }
    guard let start = last.start, last.isAtOwnSpeed, edits.dropLast().allSatisfy({ $0.start == nil }),
      let media = header.box("mdia", "mdhd", in: track), let own = header.timescale(media), own > 0,
      edits.allSatisfy({ $0.duration < 1 << 40 }), edits.count < 1 << 16
    else { return nil }
    let empty = edits.dropLast().reduce(0) { $0 + $1.duration }
    return ClockTime(sampleIndex: empty, rate: timescale) - ClockTime(sampleIndex: start, rate: own)
  }
}
