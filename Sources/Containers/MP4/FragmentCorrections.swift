import MediaTime

/// Changes to fragmented MP4 files, so that qtdemux outputs all frames at the right times
/// (`Quirk.qtdemuxFragmentOffsets`).
///
/// qtdemux shifts the presentation of a track by the lowest composition offset of the run that it
/// read last (1.22 to 1.28), so the times of fragments with different lowest offsets do not fit
/// together. The changes make all offsets of such a track at least 0: they delay the presentation
/// of all samples by the same time, and move the start in the edit list later by that time.
struct FragmentCorrections {
  private struct Track {
    /// Body of the `trak` box in the index.
    let body: Range<Int>
    let timescale: Int
    /// Default duration of an MP4 sample (`trex`).
    let sampleDuration: Int
    /// Decoding end of the last MP4 sample so far.
    var clock = 0
    /// Latest presentation end of an MP4 sample in a fragment.
    var end = 0
    /// Lowest and highest shift that qtdemux uses, at most 0; nil without MP4 samples.
    var shifts: ClosedRange<Int>?

    /// Delay that makes all composition offsets at least 0.
    var delay: Int { -(shifts?.lowerBound ?? 0) }
    var isMisread: Bool { shifts.map { $0.lowerBound < $0.upperBound } ?? false }

    /// Adds MP4 samples for which qtdemux uses one shift.
    mutating func add(lowestOffset offset: Int) {
      let shift = min(offset, 0)
      shifts = min(shifts?.lowerBound ?? shift, shift)...max(shifts?.upperBound ?? shift, shift)
    }

    mutating func add(_ part: TrackFragment, of fragment: [UInt8]) {
      clock = part.start(fragment) ?? clock
      let usual = part.sampleDuration ?? sampleDuration
      for run in part.runs where run.count > 0 {
        var lowest = 0
        if run.hasOffsets {
          for sample in 0..<run.count {
            let offset = run.offset(sample, fragment)
            lowest = min(lowest, offset)
            clock = min(clock + run.duration(sample, usual: usual, fragment), TrackFragment.longest)
            end = max(end, clock + offset)
          }
        } else {
          clock = min(clock + run.length(usual: usual, fragment), TrackFragment.longest)
          end = max(end, clock)
        }
        add(lowestOffset: lowest)
      }
    }
  }

  private var tracks: [Int: Track] = [:]
  /// Changes to fragments, ascending.
  private(set) var fragments: [MP4Patch] = []
  /// Changes to tracks in the index.
  private(set) var header: [MP4Patch] = []
  /// True if qtdemux misreads the times, and the boxes have no room for the changes.
  private(set) var areMissing = false

  /// Maximum number of bytes of fragments to replace.
  private static let most = 1 << 28

  init(_ index: MP4Index, _ file: RandomAccessFile) {
    addTracks(index)
    let boxes = file.boxes.filter { $0.type == "moof" && $0.body.count < FragmentCorrections.most }
    for box in boxes {
      guard let bytes = file.read(box.body) else { return }
      for part in TrackFragment.all(in: bytes) { tracks[part.track]?.add(part, of: bytes) }
    }
    guard tracks.values.contains(where: \.isMisread) else { return }
    areMissing = !(delayHeader(index) && delayFragments(boxes, file))
    if areMissing { (fragments, header) = ([], []) }
  }

  /// Latest presentation end of all tracks, in the timescale of the movie.
  func end(_ timescale: Int) -> Int {
    tracks.values.map { MP4Corrections.Track.scaled($0.end, $0.timescale, to: timescale) }.max() ?? 0
  }

  private mutating func addTracks(_ index: MP4Index) {
    let bytes = index.bytes
    let durations = index.sampleDurations
    for body in index.tracks {
      guard let header = bytes.box("tkhd", in: body), let media = bytes.box("mdia", "mdhd", in: body),
        let identifier = MP4Track.identifier(in: header, of: bytes), let timescale = bytes.timescale(media),
        (1..<1 << 31).contains(timescale)
      else { continue }
      var track = Track(body: body, timescale: timescale, sampleDuration: durations[identifier] ?? 0)
      // The first MP4 samples of the track may be listed in the index.
      let table = bytes.box("mdia", "minf", "stbl", in: body)
      let steps = table.flatMap { bytes.box("stts", in: $0) }.map { bytes.pairs($0) } ?? []
      if let table, steps.contains(where: { $0.0 > 0 }) {
        let offsets = bytes.box("ctts", in: table).map { bytes.pairs($0) } ?? []
        track.add(lowestOffset: offsets.map { Int.compositionOffset($0.1) }.min() ?? 0)
        // qtdemux takes the shift from `cslg` instead, if present.
        if bytes.box("cslg", in: table) != nil { track.add(lowestOffset: 0) }
        for (count, step) in steps {
          let (length, isOver) = count.multipliedReportingOverflow(by: step)
          track.clock = min(track.clock + min(isOver ? .max : length, TrackFragment.longest), TrackFragment.longest)
        }
      }
      tracks[identifier] = track
    }
  }

  /// Changes all fragments of misread tracks.
  /// - Returns: false if a fragment can't be changed.
  private mutating func delayFragments(_ boxes: [Box], _ file: RandomAccessFile) -> Bool {
    var total = 0
    for (number, box) in boxes.enumerated() {
      guard var bytes = file.read(box.body) else { return false }
      let parts = TrackFragment.all(in: bytes)
      var isChanged = false
      for part in parts {
        guard let track = tracks[part.track], track.isMisread else { continue }
        // If the first fragment starts after 0, qtdemux seeks to that start.
        let mayStartLater = number > 0 || parts.count > 1
        guard part.delay(by: track.delay, in: &bytes, mayStartLater: mayStartLater) else { return false }
        isChanged = true
      }
      guard isChanged else { continue }
      total += bytes.count
      guard total < FragmentCorrections.most else { return false }
      fragments.append(MP4Patch(place: box.body, bytes: bytes))
    }
    return true
  }

  /// Changes the composition offsets in the index, and the edit lists.
  /// - Returns: false if a track can't be changed.
  private mutating func delayHeader(_ index: MP4Index) -> Bool {
    let start = index.place.lowerBound
    var bytes = index.bytes
    for track in tracks.values where track.isMisread {
      guard FragmentCorrections.delayOffsets(track, in: &bytes), FragmentCorrections.delayEdits(track, in: &bytes)
      else { return false }
      header.append(
        MP4Patch(
          place: start + track.body.lowerBound..<start + track.body.upperBound, bytes: Array(bytes[track.body])))
    }
    return true
  }

  private static func delayOffsets(_ track: Track, in header: inout [UInt8]) -> Bool {
    guard let table = header.box("mdia", "minf", "stbl", in: track.body), let steps = header.box("stts", in: table),
      header.pairs(steps).contains(where: { $0.0 > 0 })
    else { return true }
    guard let offsets = header.box("ctts", in: table) else { return false }
    for (entry, pair) in header.pairs(offsets).enumerated() {
      let offset = Int.compositionOffset(pair.1) + track.delay
      guard offset <= Int(Int32.max) else { return false }
      header.set(offset, at: offsets.lowerBound + 12 + 8 * entry)
    }
    if let shift = header.box("cslg", in: table) {
      guard header.hasShortHeader(shift, "cslg") else { return false }
      header.replaceSubrange(shift.lowerBound - 4..<shift.lowerBound, with: "free".utf8)
    }
    return true
  }

  private static func delayEdits(_ track: Track, in header: inout [UInt8]) -> Bool {
    let edits = MP4Edit.all(in: track.body, of: header)
    guard !edits.isEmpty else { return addEdit(track, to: &header) }
    for edit in edits {
      guard let start = edit.start else { continue }
      guard start + track.delay < 1 << 31 else { return false }
      header.replaceSubrange(
        edit.startField, with: [UInt8].big(UInt64(start + track.delay)).suffix(edit.startField.count))
    }
    return true
  }

  /// Adds an edit list that starts at the delay and lasts to the end. It takes the room of the data
  /// references (`dinf`), which qtdemux does not need.
  private static func addEdit(_ track: Track, to header: inout [UInt8]) -> Bool {
    let edit: [UInt32] = [1, 0, UInt32(clamping: track.delay), 1 << 16]
    let list = Box.bytes("edts", Box.full("elst", .big(all: edit)))
    guard header.box("edts", in: track.body) == nil, let media = header.box("mdia", in: track.body),
      let information = header.box("mdia", "minf", in: track.body),
      let references = header.box("mdia", "minf", "dinf", in: track.body), references.count + 8 == list.count,
      header.hasShortHeader(media, "mdia"), header.hasShortHeader(information, "minf"),
      header.hasShortHeader(references, "dinf")
    else { return false }
    var changed = Array(header[track.body.lowerBound..<media.lowerBound - 8])
    changed += list
    changed += Box.header("mdia", media.count - list.count)
    changed += header[media.lowerBound..<information.lowerBound - 8]
    changed += Box.header("minf", information.count - list.count)
    changed += header[information.lowerBound..<references.lowerBound - 8]
    changed += header[references.upperBound..<track.body.upperBound]
    header.replaceSubrange(track.body, with: changed)
    return true
  }
}

extension [UInt8] {
  /// True if the eight bytes before `body` are the complete header of a box of this type.
  fileprivate func hasShortHeader(_ body: Range<Int>, _ type: String) -> Bool {
    body.lowerBound >= 8 && text(body.lowerBound - 4) == type
  }
}
