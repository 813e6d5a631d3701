import MediaTime

/// Changed edit of an Opus track, for an edit that starts after the first packet. The changed edit
/// begins earlier, so that the decoder also gets packets before the audible ones.
///
/// Opus predicts from frame to frame. qtdemux outputs packets from the edit's start on (1.22 to
/// 1.28), so the first samples would be wrong: RFC 7845, 4.6, asks for 80 ms of earlier packets.
struct MP4PreRoll {
  /// Field of the edit's duration in the index, and its new value in the movie's timescale.
  let duration: (field: Range<Int>, value: Int)
  /// Field of the edit's start in the index, and its new value in the media's timescale.
  let start: (field: Range<Int>, value: Int)
  /// Time by which the edit begins earlier.
  let length: ClockTime

  /// Longest pre-roll in seconds. After that time, a decoder's output no longer depends on earlier
  /// packets (`StreamPath.preRoll`).
  private static let longest = 4

  /// - Returns: nil if the track is not Opus with a single edit, or if no packet precedes the edit.
  init?(_ track: Range<Int>, in index: MP4Index) {
    let header = index.bytes
    let edits = MP4Edit.all(in: track, of: header)
    guard !index.isFragmented, edits.count == 1, let edit = edits.first, let begin = edit.start, edit.isAtOwnSpeed,
      edit.duration > 0, let table = header.box("mdia", "minf", "stbl", in: track),
      let entries = header.box("stsd", in: table), entries.count >= 16, header.text(entries.lowerBound + 12) == "Opus",
      let packet = header.box("stts", in: table).flatMap({ header.pairs($0).first?.1 }), begin >= packet,
      let media = header.box("mdia", "mdhd", in: track), let timescale = header.timescale(media),
      let (overall, movie) = index.header, header.durationField(overall) != nil,
      (1..<1 << 31).contains(timescale), movie < 1 << 31
    else { return nil }
    // Both fields must change by exactly the same time, in their own timescales.
    let common = timescale.commonDivisor(movie)
    let steps = min(begin, MP4PreRoll.longest * timescale) / (timescale / common)
    let (longer, isOver) = edit.duration.addingReportingOverflow(steps * (movie / common))
    guard steps > 0, !isOver, longer < 0xFFFF_FFFF else { return nil }
    duration = (edit.field, longer)
    start = (edit.startField, begin - steps * (timescale / common))
    length = ClockTime(sampleIndex: steps, rate: common)
  }
}
