import MediaTime

/// Reports of MP4 and MOV files, from their sample tables or fragments (ISO/IEC 14496-12).
extension ContainerReport {
  /// Types of top-level boxes by which MP4 and MOV files are recognised. Old QuickTime files begin
  /// with an image (`PICT`, `pnot`).
  static let mp4Types: Set = [
    "ftyp", "styp", "moov", "moof", "mdat", "free", "skip", "wide", "udta", "uuid", "meta", "sidx", "mfra", "pdin",
    "PICT",
    "emsg", "prft", "pnot",
  ]

  static func mp4(_ file: RandomAccessFile, _ index: MP4Index?) -> ContainerReport? {
    var declared = ContainerReport()
    var fragments: [Int: Int] = [:]  // number of MP4 samples by track number
    var chain = index.map { FragmentChain($0) }
    var place = 0
    var movies = 0
    var hasType = false
    while let size32 = file.number(at: place, 4), let type = file.text(at: place + 4), mp4Types.contains(type) {
      let isLong = size32 == 1
      guard let size = isLong ? file.number(at: place + 8, 8) : size32 == 0 ? file.size - place : size32 else {
        declared.isCut = true
        break
      }
      guard size >= (isLong ? 16 : 8) else { break }
      guard size <= file.size - place else {
        declared.isCut = true
        break
      }
      if type == "moov" { movies += 1 }
      if movies > 1 || type == "ftyp" && movies == 1 && hasType {
        declared.noteFile(at: place)
        break
      }
      hasType = hasType || type == "ftyp"
      if ["moof", "sidx"].contains(type), size < 1 << 28,
        let body = file.read(place + (isLong ? 16 : 8)..<place + size)
      {
        switch type {
        case "moof":
          for (track, count) in samples(ofFragment: body) { fragments[track, default: 0] += count }
          chain?.add(body)
        case "sidx": if let index = segments(body) { declared.note(index, from: place + size, in: file) }
        default: break
        }
      }
      place += size
    }
    guard let index else { return declared.isCut ? declared : nil }
    if index.isFragmented {
      declared.gaps = chain?.gaps
      declared.fragmentsEnd = chain?.end
      // Zeros at the end are not damage, because some recorders pad files with zeros.
      let isPadding = file.read(place..<min(place + 1 << 20, file.size))?.allSatisfy { $0 == 0 } ?? true
      if !declared.isCut, place < file.size, !isPadding || fragments.isEmpty { declared.brokenAt = place }
    }
    let slack = ClockTime(seconds: 1)
    declared.tracks(index, fragments, file, slack)
    declared.slack = slack
    return declared
  }

  /// True if an MP4 or MOV file ends before its index (`moov`); false if the end is damaged.
  static func lacksIndex(_ file: RandomAccessFile) -> Bool {
    guard let type = file.text(at: 4), mp4Types.contains(type) else { return false }
    let boxes = file.boxes
    let end = boxes.last?.body.upperBound ?? 0
    let isDamaged =
      file.text(at: end + 4).map { !mp4Types.contains($0) } ?? false || (2..<8).contains(file.number(at: end, 4) ?? 0)
    return !isDamaged && !boxes.contains { $0.type == "moov" }
  }

  /// Adds a stream to the report for each video and audio track.
  /// - Parameter slack: maximum difference between the duration in the track header and the
  ///   presentation duration, which follows from the edits and sample tables.
  private mutating func tracks(
    _ index: MP4Index, _ fragments: [Int: Int], _ file: RandomAccessFile, _ slack: ClockTime
  ) {
    let header = index.bytes
    let isFragmented = index.isFragmented
    guard let (overall, timescale) = index.header else { return }
    // In fragmented files, the duration of the movie covers all streams, including timed metadata
    // and chapter names.
    if isFragmented,
      let duration = header.duration(overall, at: (16, 24))
        ?? header.box("mvex", "mehd", in: 0..<header.count).flatMap({
          header.duration($0, at: (4, 4))
        })
    {
      end = max(end ?? .zero, ClockTime(seconds: Double(duration) / Double(timescale)))
    }
    var empty: [Stream] = []
    for track in index.tracks {
      guard let handler = header.box("mdia", "hdlr", in: track), let overall = header.box("tkhd", in: track),
        let table = header.box("mdia", "minf", "stbl", in: track),
        let identifier = MP4Track.identifier(in: overall, of: header)
      else { continue }
      let kind = MP4Track.kind(ofHandler: handler, of: header)
      guard kind == .video || kind == .audio else { continue }
      let samples = SampleTable(header, table)
      let count = (samples?.count ?? 0) + fragments[identifier, default: 0]
      if count == 0 {
        var stream = Stream(kind: kind, frames: nil, end: nil)
        stream.isEmpty = true
        empty.append(stream)
        continue
      }
      if let samples, header.isSelfContained(track), samples.end > file.size { isCut = true }
      let said = header.duration(overall, at: (20, 28)).map { ClockTime(seconds: Double($0) / Double(timescale)) }
      let presented = header.presentedEnd(of: track, timescale)
      // The track header repeats the presentation duration. Some files express it in the timescale
      // of the media instead of the movie's, so a track header that differs is ignored.
      let agrees = presented.flatMap { end in said.map { max($0, end) - min($0, end) <= slack } } ?? true
      streams.append(
        Stream(
          kind: kind, frames: kind == .video ? count : nil,
          end: isFragmented ? nil : agrees ? said ?? presented : presented))
    }
    // Empty streams come last, because the non-empty ones are compared in order with the demuxer's
    // streams.
    streams += empty
  }

  private static func samples(ofFragment fragment: [UInt8]) -> [(track: Int, count: Int)] {
    Box.all(in: fragment[...]).filter { $0.type == "traf" }.compactMap { part in
      guard let header = fragment.box("tfhd", in: part.body), header.count >= 8 else { return nil }
      let runs = Box.all(in: fragment[part.body]).filter { $0.type == "trun" && $0.body.count >= 8 }
      return (
        fragment.integer(header.lowerBound + 4), runs.reduce(0) { $0 + fragment.integer($1.body.lowerBound + 4) }
      )
    }
  }

  /// Reads the declared size and duration in a segment index (`sidx`): number of bytes after the
  /// index, and duration in ticks.
  private static func segments(_ index: [UInt8]) -> (bytes: Int, ticks: Int, timescale: Int)? {
    guard index.count >= 32 else { return nil }
    let isLong = index[0] == 1
    let entries = isLong ? 32 : 24
    let timescale = index.integer(8)
    guard timescale > 0 else { return nil }
    let first = isLong ? index.number(20..<28) : index.integer(16)
    guard first < 1 << 40 else { return nil }
    var (bytes, ticks) = (first, 0)
    for entry in stride(from: entries, through: index.count - 12, by: 12) {
      bytes += index.integer(entry) & 0x7FFF_FFFF
      ticks += index.integer(entry + 4)
    }
    return (bytes, ticks, timescale)
  }

  private mutating func note(
    _ index: (bytes: Int, ticks: Int, timescale: Int), from place: Int, in file: RandomAccessFile
  ) {
    if index.bytes > file.size - place { isCut = true }
    end = max(end ?? .zero, ClockTime(seconds: Double(index.ticks) / Double(index.timescale)))
  }
}

extension [UInt8] {
  /// Reads the duration in a box body: four bytes in version 0, eight in version 1; nil if unknown.
  fileprivate func duration(_ body: Range<Int>, at place: (short: Int, long: Int)) -> Int? {
    guard let version = self[body].first else { return nil }
    let start = body.lowerBound + (version == 1 ? place.long : place.short)
    let field = start..<start + (version == 1 ? 8 : 4)
    guard field.upperBound <= body.upperBound else { return nil }
    let value = number(field)
    return value > 0 && value < (version == 1 ? 1 << 48 : 0xFFFF_FFFF) ? value : nil
  }

  /// Returns the presentation end of a track according to its edits and sample durations; nil if
  /// neither is declared.
  /// - Parameter timescale: timescale of the movie.
  fileprivate func presentedEnd(of track: Range<Int>, _ timescale: Int) -> ClockTime? {
    guard let media = box("mdia", "mdhd", in: track), let own = self.timescale(media), own > 0 else { return nil }
    // A longer duration is damage in any timescale. The limit also keeps sums of durations from
    // overflowing.
    let longest = Double(1 << 45)
    let steps = box("mdia", "minf", "stbl", "stts", in: track).map { pairs($0) } ?? []
    let sum = steps.reduce(0.0) { $0 + Double($1.0) * Double($1.1) }
    let samples = sum > 0 ? sum : duration(media, at: (16, 24)).map { Double($0) }
    let edits = MP4Edit.all(in: track, of: self)
    guard !edits.isEmpty else {
      return samples.flatMap { $0 < longest ? ClockTime(seconds: $0 / Double(own)) : nil }
    }
    let seconds = edits.reduce(0.0) { seconds, edit in
      let length = Double(edit.duration) / Double(timescale)
      guard let start = edit.start, let samples, edit.isAtOwnSpeed else { return seconds + length }
      let left = Swift.max(samples - Double(start), 0) / Double(own)
      return seconds + (edit.duration == 0 ? left : Swift.min(length, left))
    }
    return seconds > 0 && seconds < longest / Double(timescale) ? ClockTime(seconds: seconds) : nil
  }

  /// True if the media data of a track is in this file, not in another one (8.7.2).
  func isSelfContained(_ track: Range<Int>) -> Bool {
    guard let list = box("mdia", "minf", "dinf", "dref", in: track), list.count > 8 else { return true }
    return Box.all(in: self[list.lowerBound + 8..<list.upperBound]).allSatisfy {
      $0.body.count >= 4 && self[$0.body.lowerBound + 3] & 1 == 1
    }
  }
}
