import MediaTime

/// Corrections to an MP4 or MOV file, for qtdemux:
/// - With longer durations of the file, its tracks and edits, qtdemux outputs all samples
///   (`Quirk.qtdemuxPrimingEnd`, `Quirk.qtdemuxEditEnd`, `Quirk.qtdemuxTrackEnd`,
///   `Quirk.qtdemuxShortTracks`).
/// - With renamed tags, qtdemux does not trim the priming and padding that the edit list or
///   ``gapless`` already excludes (`Quirk.qtdemuxGaplessTwice`, `Quirk.qtdemuxGapless`).
/// - With an earlier start of its edit, Opus is output with its pre-roll (``MP4PreRoll``).
/// - With other composition offsets, the frames of fragments are output at the right times
///   (``FragmentCorrections``).
struct MP4Corrections: FileCorrection {
  private var patches: [MP4Patch] = []
  /// Patches of fragments, ascending: there may be many.
  private var fragments: [MP4Patch] = []
  /// Priming and padding, if the corrections hide them from qtdemux; otherwise nil.
  private(set) var gapless: GaplessInfo?
  private(set) var ends: [String: ClockTime] = [:]

  /// True if qtdemux does not find some streams without the corrections.
  private(set) var isForProbing = false

  var demuxer: String { "qtdemux" }

  /// - Parameter fragments: changes to the fragments; nil if the file is not fragmented.
  /// - Returns: nil if no change is needed.
  init?(_ index: MP4Index, _ fragments: FragmentCorrections?) {
    let header = index.bytes
    guard let (overall, timescale) = index.header, timescale < 1 << 31, let field = header.durationField(overall) else {
      return nil
    }
    // In a fragmented file, the sample times are in the fragments, so the durations of tracks and
    // edits are not changed.
    let isFragmented = index.isFragmented
    let tracks = index.tracks.compactMap { Track($0, in: header) }
    var latest = 0
    var videos = 0
    for track in tracks {
      var end = track.end(timescale)
      if !isFragmented, let longer = track.longerMedia {
        add(longer.field, longer.value, after: index.place.lowerBound)
        end = Track.scaled(longer.value, track.timescale, to: timescale)
      } else if !isFragmented, track.kind == .video, let longer = track.longerEdit(timescale) {
        add(longer.field, longer.value, after: index.place.lowerBound)
        ends["video_\(videos)"] = track.editsEnd.map { ClockTime(sampleIndex: $0, rate: timescale) }
        end = end.map { $0 + longer.value }
      } else if track.kind != .audio {
        end = nil
      }
      latest = max(latest, end ?? 0)
      if track.kind == .video { videos += 1 }
    }
    // Quirk.qtdemuxShortTracks: extend all subtitle tracks, but only the first track of any other
    // kind, because a second, shorter video may contain chapter images.
    var kinds: Set<StreamKind> = []
    for track in tracks where !isFragmented && (track.kind == .subtitles || kinds.insert(track.kind).inserted) {
      guard let longer = track.leastDuration(in: max(header.number(field), latest), timescale) else { continue }
      isForProbing = true
      add(track.durationField, max(longer, track.longerMedia?.value ?? 0), after: index.place.lowerBound)
    }
    for preRoll in index.tracks.compactMap({ MP4PreRoll($0, in: index) }) {
      for (field, value) in [preRoll.duration, preRoll.start] { add(field, value, after: index.place.lowerBound) }
    }
    if let fragments {
      self.fragments = fragments.fragments
      patches += fragments.header
    }
    let hasPlainVideo = tracks.contains { $0.kind == .video && $0.edits.isEmpty }
    // Quirk.qtdemuxFragmentEnd: declare the end of all fragments, so that qtdemux does not extend
    // the duration with each fragment.
    if let fragments, hasPlainVideo, tracks.allSatisfy(\.edits.isEmpty) {
      latest = max(latest, fragments.end(timescale))
    }
    // Without an edit list, frames are presented later than they are decoded, but the duration of
    // all fragments (`mehd`, ISO/IEC 14496-12, 8.8.2) is in decoding time. Hide that duration,
    // because qtdemux would clip the last frames at it.
    if isFragmented, hasPlainVideo, let length = header.box("mvex", "mehd", in: 0..<header.count) {
      let name = length.lowerBound - 4..<length.lowerBound
      if header[name].elementsEqual("mehd".utf8) {
        let place = index.place.lowerBound
        patches.append(MP4Patch(place: place + name.lowerBound..<place + name.upperBound, bytes: Array("free".utf8)))
      }
    }
    // Quirk.qtdemuxGaplessTwice: rename the tag, so that qtdemux ignores it.
    if tracks.contains(where: { !$0.edits.isEmpty }), let tags = header.box("udta", in: 0..<header.count),
      let name = header[tags].firstRange(of: Array("iTunSMPB".utf8))
    {
      let place = index.place.lowerBound + name.lowerBound
      patches.append(MP4Patch(place: place..<place + 1, bytes: [UInt8(ascii: "-")]))
    }
    // Quirk.qtdemuxGapless: rename the tag, so that no release of qtdemux reads it. The releases
    // that read the tag trim differently after a seek.
    if let found = MP4Gapless(index) {
      gapless = found.info
      let place = index.place.lowerBound + found.mark
      patches.append(MP4Patch(place: place..<place + 1, bytes: [UInt8(ascii: "-")]))
    }
    // An unknown duration, as in a file that is still being written, stays unchanged.
    let duration = header.number(field)
    if duration > 0, duration < header.unknownDuration(field), latest > duration {
      add(field, latest, after: index.place.lowerBound)
    }
    if patches.isEmpty, self.fragments.isEmpty { return nil }
  }

  /// Adds a patch that sets `field` of the header to `value`, if the value fits.
  private mutating func add(_ field: Range<Int>, _ value: Int, after start: Int) {
    guard value < (field.count == 8 ? 1 << 48 : 0xFFFF_FFFF) else { return }
    patches.append(
      MP4Patch(
        place: start + field.lowerBound..<start + field.upperBound,
        bytes: Array([UInt8].big(UInt64(value)).suffix(field.count))))
  }

  /// Returns the patches of fragments that lie completely within `range`.
  private func fragmentPatches(in range: Range<Int>) -> ArraySlice<MP4Patch> {
    let first = fragments.endOfPrefix { $0.place.lowerBound < range.lowerBound }
    let end = fragments.endOfPrefix { $0.place.upperBound <= range.upperBound }
    return fragments[min(first, end)..<end]
  }

  func changes(_ range: Range<Int>) -> Bool {
    patches.contains { $0.isWhole(in: range) } || !fragmentPatches(in: range).isEmpty
  }

  func apply(to bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
    let range = offset..<offset + bytes.count
    for patch in patches.filter({ $0.isWhole(in: range) }) + fragmentPatches(in: range) {
      bytes[(patch.place.lowerBound - offset)..<(patch.place.upperBound - offset)].copyBytes(from: patch.bytes)
    }
  }
}

/// Replacement of bytes in an MP4 file.
struct MP4Patch: Sendable {
  /// Byte range in the file that the patch replaces.
  var place: Range<Int>
  var bytes: [UInt8]

  func isWhole(in range: Range<Int>) -> Bool {
    range.lowerBound <= place.lowerBound && place.upperBound <= range.upperBound
  }
}

extension MP4Corrections {
  /// Times of a track, read from the track's boxes (ISO/IEC 14496-12, 8.4.2, 8.6.1 and 8.6.6).
  struct Track {
    let kind: StreamKind
    let timescale: Int
    /// Duration of the media.
    let duration: Int
    /// Range of the field for the duration of the media, in the header.
    let durationField: Range<Int>
    let unknownDuration: Int
    let edits: [MP4Edit]
    /// Decoding start of the last MP4 sample.
    let lastStart: Int
    /// Decoding end of the last MP4 sample. If the declared duration of that sample is 0, the
    /// duration of the previous sample is used.
    let lastEnd: Int
    /// Longest time by which the presentation of an MP4 sample precedes its decoding.
    let lead: Int
    /// Latest presentation end of any MP4 sample.
    let shownEnd: Int

    init?(_ track: Range<Int>, in header: [UInt8]) {
      guard let handler = header.box("mdia", "hdlr", in: track), let media = header.box("mdia", "mdhd", in: track),
        let timescale = header.timescale(media), (1..<1 << 31).contains(timescale),
        let field = header.durationField(media)
      else { return nil }
      kind = MP4Track.kind(ofHandler: handler, of: header)
      self.timescale = timescale
      durationField = field
      duration = header.number(field)
      unknownDuration = header.unknownDuration(field)
      edits = MP4Edit.all(in: track, of: header)
      let table = header.box("mdia", "minf", "stbl", in: track) ?? 0..<0
      let steps = header.box("stts", in: table).map { header.pairs($0) } ?? []
      var total = 0
      var last = 0
      for (count, step) in steps where count > 0 {
        let (length, isOver) = count.multipliedReportingOverflow(by: step)
        guard !isOver, length < 1 << 48, total < 1 << 48 else { return nil }
        total += length
        last = step > 0 ? step : last
      }
      let hasLength = (steps.last { $0.0 > 0 }?.1 ?? 0) > 0
      lastStart = hasLength ? total - last : total
      lastEnd = steps.isEmpty ? 0 : lastStart + last
      let offsets = header.box("ctts", in: table).map { header.pairs($0) } ?? []
      lead = -(offsets.map { Int(Int32(truncatingIfNeeded: $0.1)) }.min().map { min($0, 0) } ?? 0)
      // If an offset exceeds twice the duration, qtdemux ignores the whole table as damaged.
      let greatest = offsets.reduce(0) { max($0, abs(Int(Int32(truncatingIfNeeded: $1.1)))) }
      shownEnd = max(lastEnd, greatest / 2 <= duration ? Track.shownEnd(steps, offsets) : 0)
    }

    /// Computes the latest presentation end from the runs of `stts` and `ctts`; 0 without offsets.
    private static func shownEnd(_ steps: [(Int, Int)], _ offsets: [(Int, Int)]) -> Int {
      var (end, time) = (0, 0)
      var (step, left) = (0, steps.first?.0 ?? 0)
      for (count, offset) in offsets {
        let offset = Int(Int32(truncatingIfNeeded: offset))
        var count = count
        while count > 0, step < steps.count {
          let samples = min(count, left)
          if samples > 0 {
            time += samples * steps[step].1
            end = max(end, time + offset)
          }
          count -= samples
          left -= samples
          if left == 0 {
            step += 1
            left = step < steps.count ? steps[step].0 : 0
          }
        }
      }
      return end
    }

    /// Maximum time in any timescale; low enough that the sum of all edits does not overflow.
    private static let longest = 1 << 46

    /// Converts `time` to another timescale, rounded up; at most ``longest``.
    static func scaled(_ time: Int, _ timescale: Int, to other: Int) -> Int {
      let (whole, rest) = time.quotientAndRemainder(dividingBy: timescale)
      let (product, isOver) = whole.multipliedReportingOverflow(by: other)
      guard !isOver, product < longest else { return longest }
      return min(product + (rest * other + timescale - 1) / timescale, longest)
    }

    /// Total duration of the edits, in the movie's timescale; nil without edits, or if any edit is
    /// damaged.
    var editsEnd: Int? {
      guard !edits.isEmpty, edits.allSatisfy({ $0.duration < 1 << 40 }) else { return nil }
      return edits.prefix(1 << 16).reduce(0) { $0 + $1.duration }
    }

    /// Returns the total duration of the edits plus their starts in the media, in the movie's
    /// timescale; nil if ``editsEnd`` is nil.
    func end(_ movieTimescale: Int) -> Int? {
      editsEnd.map { end in
        edits.prefix(1 << 16).compactMap(\.start).reduce(end) { $0 + Track.scaled($1, timescale, to: movieTimescale) }
      }
    }

    /// Duration that the media must declare so that its last MP4 sample is output; nil if the
    /// declared duration suffices or is unknown, or if the track has edits.
    var longerMedia: (field: Range<Int>, value: Int)? {
      guard [.audio, .video].contains(kind), edits.isEmpty, duration > 0, duration < unknownDuration, lastStart > 0,
        lastEnd > lastStart, duration <= lastStart || kind == .video && duration < shownEnd
      else { return nil }
      return (durationField, shownEnd)
    }

    /// Returns the minimum duration that the media must declare for qtdemux to read it: a fifth of
    /// the movie's duration. Nil if the declared duration suffices or is unknown.
    func leastDuration(in movie: Int, _ movieTimescale: Int) -> Int? {
      guard duration > 0, duration < unknownDuration, (1..<Track.longest).contains(movie) else { return nil }
      let least = Track.scaled((movie + 4) / 5, movieTimescale, to: timescale) + 1
      return duration < least ? least : nil
    }

    /// Returns the duration that the last edit must have for all frames in it to be decoded; nil if
    /// the declared duration suffices, or if the edits do more than delay and trim the media.
    func longerEdit(_ movieTimescale: Int) -> (field: Range<Int>, value: Int)? {
      guard lead > 0, let edit = edits.last, let start = edit.start, edit.duration > 0, editsEnd != nil,
        edits.dropLast().allSatisfy({ $0.start == nil }),
        start + Track.scaled(edit.duration, movieTimescale, to: timescale) < lastEnd
      else { return nil }
      return (edit.field, edit.duration + Track.scaled(lead, timescale, to: movieTimescale))
    }
  }
}

extension [UInt8] {
  /// Returns the range of the duration in the body of an `mvhd` or `mdhd` box; nil if the body is
  /// too short.
  func durationField(_ body: Range<Int>) -> Range<Int>? {
    guard !body.isEmpty else { return nil }
    let isWide = self[body.lowerBound] == 1
    let field = body.lowerBound + (isWide ? 24 : 16)..<body.lowerBound + (isWide ? 32 : 20)
    return field.upperBound <= body.upperBound ? field : nil
  }

  /// Returns the lowest value that marks the duration in `field` as unknown.
  fileprivate func unknownDuration(_ field: Range<Int>) -> Int { field.count == 8 ? 1 << 48 : 0xFFFF_FFFF }

  /// Reads the entries of a table, such as `stts`, in which each entry has two numbers.
  func pairs(_ body: Range<Int>) -> [(Int, Int)] {
    guard body.count >= 8 else { return [] }
    let count = Swift.min(integer(body.lowerBound + 4), (body.count - 8) / 8)
    return (0..<count).map { entry in
      (integer(body.lowerBound + 8 + entry * 8), integer(body.lowerBound + 12 + entry * 8))
    }
  }
}
