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
  /// Gaps between fragments; nil if no fragment is missing.
  private(set) var gaps: ContainerReport.Gaps?

  /// End of the last MP4 sample of all tracks, in decoding time.
  var end: ClockTime? {
    tracks.values.compactMap { track in
      track.end.map { ClockTime(seconds: Double($0) / Double(track.timescale)) }
    }.max()
  }

  init(_ index: MP4Index) {
    let bytes = index.bytes
    var durations: [Int: Int] = [:]
    if let extends = bytes.box("mvex", in: 0..<bytes.count) {
      for box in Box.all(in: bytes[extends]) where box.type == "trex" && box.body.count >= 16 {
        durations[bytes.integer(box.body.lowerBound + 4)] = bytes.integer(box.body.lowerBound + 12)
      }
    }
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
    for part in Box.all(in: fragment[...]) where part.type == "traf" {
      guard let header = fragment.box("tfhd", in: part.body), header.count >= 8 else { continue }
      let identifier = fragment.integer(header.lowerBound + 4)
      guard var track = tracks[identifier] else { continue }
      let start = FragmentChain.start(of: part.body, fragment)
      if track.isSuspect, let end = track.end, let start, start > end,
        // Ignore gaps of up to 10 ms: times may have been rounded to another timescale.
        Double(start - end) / Double(track.timescale) > 0.01
      {
        note(end, start, track.timescale)
      }
      track.isSuspect = false
      let runs = FragmentChain.runs(of: part.body, header, fragment, track.sampleDuration)
      isUnreadable = isUnreadable || !runs.areWhole
      let first = start ?? track.end
      // Limit the end, so that it cannot overflow: if fragments declare no start, the lengths of
      // many damaged fragments add up.
      let end = min((first ?? 0) + runs.length, FragmentChain.longest)
      spans.append((first ?? 0, end, track.timescale))
      if first != nil { track.end = end }
      tracks[identifier] = track
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

  /// Reads the decoding start of a track fragment (`tfdt`); nil if not declared, or not plausible.
  private static func start(of part: Range<Int>, _ fragment: [UInt8]) -> Int? {
    guard let time = fragment.box("tfdt", in: part), time.count >= 8 else { return nil }
    let field = time.lowerBound + 4..<time.lowerBound + (fragment[time.lowerBound] == 1 ? 12 : 8)
    guard field.upperBound <= time.upperBound else { return nil }
    let value = fragment.number(field)
    return value < longest ? value : nil
  }

  /// Returns the total duration of the MP4 samples in a track fragment (`trun`).
  ///
  /// `areWhole` is false if a `trun` box declares more MP4 samples than it lists, or more than
  /// qtdemux accepts.
  private static func runs(
    of part: Range<Int>, _ header: Range<Int>, _ fragment: [UInt8], _ usual: Int
  ) -> (length: Int, areWhole: Bool) {
    let flags = fragment.integer(header.lowerBound) & 0xFF_FFFF
    let place = header.lowerBound + 8 + (flags & 1 != 0 ? 8 : 0) + (flags & 2 != 0 ? 4 : 0)
    let usual = flags & 8 != 0 && place + 4 <= header.upperBound ? fragment.integer(place) : usual
    var sum = (length: 0, areWhole: true)
    for run in Box.all(in: fragment[part]) where run.type == "trun" && run.body.count >= 8 {
      let flags = fragment.integer(run.body.lowerBound) & 0xFF_FFFF
      let declared = fragment.integer(run.body.lowerBound + 4)
      let width = [0x100, 0x200, 0x400, 0x800].count { flags & $0 != 0 } * 4
      let first = run.body.lowerBound + 8 + (flags & 1 != 0 ? 4 : 0) + (flags & 4 != 0 ? 4 : 0)
      let count = min(declared, width > 0 ? max(run.body.upperBound - first, 0) / width : most)
      if count < declared { sum.areWhole = false }
      let length =
        flags & 0x100 == 0 ? count * usual : (0..<count).reduce(0) { $0 + fragment.integer(first + $1 * width) }
      sum.length = min(sum.length + length, longest)
    }
    return sum
  }

  /// Maximum number of MP4 samples that qtdemux accepts in a `trun` box without entries
  /// (`QTDEMUX_MAX_SAMPLE_INDEX_SIZE`).
  private static let most = (200 << 20) / 32

  /// Maximum time in any timescale; a larger value is treated as damage.
  private static let longest = 1 << 56
}
