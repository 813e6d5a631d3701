import MediaTime

/// Chapters of MP4 and MOV files, which qtdemux does not read (`Quirk.qtdemuxChapters`) and qtmux
/// does not write (`Quirk.qtmuxChapters`).
///
/// There are two formats. A text track to which other tracks refer (`chap` in `tref`, QuickTime
/// File Format, "Chapter Lists") declares starts and ends. Nero's list in the user data (`chpl`)
/// declares only starts, but every player reads this list.
enum MP4Chapters {
  static func read(_ index: MP4Index, _ file: RandomAccessFile) -> [ChapterMark] {
    track(index, file) ?? list(index.bytes) ?? []
  }

  private static func list(_ bytes: [UInt8]) -> [ChapterMark]? {
    guard let body = bytes.box("udta", "chpl", in: 0..<bytes.count), body.count >= 9 else { return nil }
    var found: [ChapterMark] = []
    var place = body.lowerBound + 8
    let count = Int(bytes[place])
    place += 1
    for _ in 0..<count {
      guard place + 9 <= body.upperBound else { break }
      let start = Int64(bytes.integer(place)) << 32 | Int64(bytes.integer(place + 4))
      let length = Int(bytes[place + 8])
      guard place + 9 + length <= body.upperBound, (0..<Int64.max / 100).contains(start) else { break }
      let title = String(decoding: bytes[place + 9..<place + 9 + length], as: UTF8.self)
      found.append(ChapterMark(start: ClockTime(nanoseconds: start * 100), end: nil, title: title))
      place += 9 + length
    }
    return found.isEmpty ? nil : found.sorted { $0.start < $1.start }
  }

  private static func track(_ index: MP4Index, _ file: RandomAccessFile) -> [ChapterMark]? {
    let bytes = index.bytes
    // The `chap` list may also refer to a track of chapter images, so require a text track.
    let named = MP4Track.chapters(of: index)
    guard
      let track = index.tracks.first(where: { track in
        MP4Track.identifier(of: track, bytes).map(named.contains) ?? false
          && MP4Track.kind(of: track, bytes) != .video
      }),
      let timescale = bytes.box("mdia", "mdhd", in: track).flatMap({ bytes.timescale($0) }), timescale > 0,
      let table = bytes.box("mdia", "minf", "stbl", in: track), let samples = samples(bytes, table)
    else { return nil }
    // Limit the memory: in damaged tables, samples may overlap, and each title may take 64 KiB.
    guard samples.reduce(0, { $0 + $1.place.count }) <= 1 << 24 else { return nil }
    var found: [ChapterMark] = []
    for sample in samples {
      // A time of more than about ten years is damage.
      guard (sample.start + sample.duration) / timescale < 300_000_000, let text = file.read(sample.place),
        text.count >= 2
      else { return nil }
      let length = min(Int(text[0]) << 8 | Int(text[1]), text.count - 2)
      let title = String(decoding: text[2..<2 + length], as: UTF8.self)
      found.append(
        ChapterMark(
          start: ClockTime(sampleIndex: sample.start, rate: timescale),
          end: ClockTime(sampleIndex: sample.start + sample.duration, rate: timescale), title: title))
    }
    return found.isEmpty ? nil : found
  }

  /// Maximum number of chapters to read; only a damaged table has more.
  private static let most = 100_000

  /// Returns the byte range, start and duration of each MP4 sample of a text track, with times in
  /// the timescale of the media (ISO/IEC 14496-12, 8.6.1); nil if the table is damaged.
  private static func samples(
    _ bytes: [UInt8], _ table: Range<Int>
  ) -> [(place: Range<Int>, start: Int, duration: Int)]? {
    guard let times = bytes.box("stts", in: table), let places = SampleTable(bytes, table) else { return nil }
    var durations: [Int] = []
    for (count, duration) in bytes.pairs(times) where durations.count < most {
      durations += Array(repeating: duration, count: min(count, most - durations.count))
    }
    var found: [(place: Range<Int>, start: Int, duration: Int)] = []
    var start = 0
    var isDamaged = false
    places.forEachChunk { place, samples in
      var offset = place
      for sample in samples {
        guard sample < durations.count else { return false }
        let size = places.size(of: sample)
        guard (0..<1 << 60).contains(offset), size <= 1 << 16 else {
          isDamaged = true
          return false
        }
        found.append((offset..<offset + size, start, durations[sample]))
        offset += size
        start += durations[sample]
      }
      return true
    }
    return isDamaged ? nil : found
  }

  /// Adds a list of chapters to the user data in the body of a `moov` box.
  static func adding(_ chapters: [ChapterMark], to movie: [UInt8]) -> [UInt8] {
    var list: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0]
    let kept = chapters.prefix(MP4Header.mostChapters)
    list.append(UInt8(kept.count))
    for chapter in kept {
      var title = chapter.title
      while title.utf8.count > MP4Header.longestTitle { title.removeLast() }
      list += withUnsafeBytes(of: (chapter.start.nanoseconds / 100).bigEndian, Array.init)
      list += [UInt8(title.utf8.count)] + Array(title.utf8)
    }
    let box = Box.header("chpl", list.count) + list
    guard let user = Box.all(in: movie[...]).first(where: { $0.type == "udta" })?.body else {
      return movie + Box.header("udta", box.count) + box
    }
    return Array(movie[..<(user.lowerBound - 8)]) + Box.header("udta", user.count + box.count) + Array(movie[user])
      + box
      + Array(movie[user.upperBound...])
  }
}
