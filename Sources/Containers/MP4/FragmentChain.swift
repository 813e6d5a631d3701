import MediaTime

/// Finds missing and unreadable fragments in an MP4 file (ISO/IEC 14496-12, 8.8).
///
/// A fragment is unreadable if it declares more samples than its tables list: qtdemux skips such a
/// fragment without an error.
///
/// A fragment counts as missing only if both the sequence numbers and the times of a track jump,
/// because the numbers alone may jump in a file that was split, and the times alone in a recording
/// with pauses.
struct FragmentChain {
  private struct Track {
    /// Timescale: units per second.
    var timescale: Int
    /// Default duration of an MP4 sample (`trex`).
    var sampleDuration: Int
    /// Decoding end of the last MP4 sample so far; nil before the first one.
    var end: Int?
    /// True if a fragment is missing after ``end``. The missing fragment may have contained MP4
    /// samples of this track.
    var isSuspect = false
  }

  private var tracks: [Int: Track] = [:]
  /// Sequence number of the previous fragment.
  private var number: Int?
  /// Gaps due to missing or unreadable fragments; nil if there are none.
  private(set) var gaps: ContainerReport.Gaps?

  /// End of the last MP4 sample of all tracks, in decoding time.
  var end: ClockTime? {
    tracks.values.compactMap { track in
      track.end.map { ClockTime(seconds: Double($0) / Double(track.timescale)) }
    }.max()
  }

  init(_ index: MP4Index) {
    let bytes = index.bytes
    let durations = index.sampleDurations
    for track in index.tracks {
      guard let header = bytes.box("tkhd", in: track), let media = bytes.box("mdia", "mdhd", in: track),
        let identifier = MP4Track.identifier(in: header, of: bytes), let timescale = bytes.timescale(media),
        timescale > 0
      else { continue }
      tracks[identifier] = Track(timescale: timescale, sampleDuration: durations[identifier] ?? 0, end: nil)
    }
  }

  /// Adds the next fragment.
  /// - Parameter fragment: body of the `moof` box.
  mutating func add(_ fragment: [UInt8]) {
    guard let header = fragment.box("mfhd", in: 0..<fragment.count), header.count >= 8 else { return }
    let own = fragment.integer(header.lowerBound + 4)
    if let number, own > number + 1 { for identifier in tracks.keys { tracks[identifier]?.isSuspect = true } }
    number = own
    var isUnreadable = false
    var spans: [(start: Int, end: Int, timescale: Int)] = []
    for part in TrackFragment.all(in: fragment) {
      guard var track = tracks[part.track] else { continue }
      let start = part.start(fragment)
      if track.isSuspect, let end = track.end, let start, start > end,
        // Ignore gaps of up to 10 ms: times may have been rounded to another timescale.
        Double(start - end) / Double(track.timescale) > 0.01
      {
        note(end, start, track.timescale)
      }
      track.isSuspect = false
      isUnreadable = isUnreadable || part.runs.contains { $0.count < $0.declared }
      let first = start ?? track.end
      // Limit the end, so that it cannot overflow: if fragments declare no start, the lengths of
      // many damaged fragments add up.
      let end = part.runs.reduce(first ?? 0) { end, run in
        min(end + run.length(usual: part.sampleDuration ?? track.sampleDuration, fragment), TrackFragment.longest)
      }
      spans.append((first ?? 0, end, track.timescale))
      if first != nil { track.end = end }
      tracks[part.track] = track
    }
    guard isUnreadable else { return }
    for span in spans { note(span.start, span.end, span.timescale) }
  }

  private mutating func note(_ end: Int, _ start: Int, _ timescale: Int) {
    let times = [end, start].map { ClockTime(seconds: Double($0) / Double(timescale)) }
    // A gap that overlaps the last one is the same gap in another track.
    if let known = gaps, times[0] < known.end {
      gaps?.start = min(known.start, times[0])
      gaps?.end = max(known.end, times[1])
      return
    }
    gaps = ContainerReport.Gaps(
      of: "the fragmented MP4", count: (gaps?.count ?? 0) + 1, start: gaps?.start ?? times[0], end: times[1])
  }
}
