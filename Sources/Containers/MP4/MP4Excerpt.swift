package import MediaTime

/// The index of a long MP4 or MOV file with tables that list the samples of some stretches only. Between two
/// stretches the first sample stands for all: it is as long as they are.
///
/// qtdemux goes through all samples before the one that it is sent to (`qtdemux_parse_samples`), in each
/// pipeline anew: 35 ms for an hour of film. Of an excerpt it reads as much as of a short file.
package struct MP4Excerpt: FileCorrection {
  /// The place of the index in the file, its header included.
  private let place: Range<Int>
  /// Bytes in that place, up to a free box that takes the rest.
  private let bytes: [UInt8]
  package let ends: [String: ClockTime]

  package var demuxer: String { "qtdemux" }

  /// Least number of samples: for fewer nothing is gained.
  package static let least = 1 << 16

  /// - Parameters:
  ///   - spans: the stretches to keep, in stream time, ascending, apart from each other.
  ///   - correction: another correction of the file.
  ///   - least: how many samples the file has, at the least.
  /// - Returns: nil where the file is no such one, or has anything in its tables that is not known here.
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
      // Chapters are read wherever in the film they are.
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
    // A box of 2³² bytes and more has a longer header, and so has one that was written as if it could be that.
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

  /// The boxes in `body`, with other bodies in those under `path`.
  /// - Parameter change: the new body of one of them; nil: there is none, and so none of all.
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
  /// Delay of a track's presentation against the media's own times.
  /// - Parameter timescale: the movie's.
  /// - Returns: nil where parts of it change places, or are left out.
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
