import GStreamer

/// The chapters of MP4 and MOV files, of which GStreamer 1.22's qtdemux says nothing, and which its qtmux does not write.
///
/// Two ways are in use: a track of text that the others refer to (`chap` in `tref`, QuickTime File Format, "Chapter Lists"),
/// which says when each chapter ends, and a list in the user data (`chpl`, Nero's), which every player reads.
package enum MovieChapters {
  /// The chapters of a file; none where it has none, or is no such file.
  static func read(_ path: String) -> [TableOfContents.Entry] {
    guard let file = MovieFile(path), let movie = file.boxes.first(where: { $0.type == "moov" }),
      movie.body.count < 1 << 28, let bytes = file.read(movie.body)
    else { return [] }
    return track(bytes, file) ?? list(bytes) ?? []
  }

  private static func list(_ bytes: [UInt8]) -> [TableOfContents.Entry]? {
    guard let body = bytes.box("udta", "chpl", in: 0..<bytes.count), body.count >= 9 else { return nil }
    var found: [TableOfContents.Entry] = []
    var place = body.lowerBound + 8
    let count = Int(bytes[place])
    place += 1
    for _ in 0..<count {
      guard place + 9 <= body.upperBound else { break }
      let start = Int64(bytes.integer(place)) << 32 | Int64(bytes.integer(place + 4))
      let length = Int(bytes[place + 8])
      guard place + 9 + length <= body.upperBound, (0..<Int64.max / 100).contains(start) else { break }
      let title = String(decoding: bytes[place + 9..<place + 9 + length], as: UTF8.self)
      found.append(.init(start: ClockTime(nanoseconds: start * 100), end: nil, title: title, children: []))
      place += 9 + length
    }
    return found.isEmpty ? nil : found.sorted { $0.start < $1.start }
  }

  private static func track(_ bytes: [UInt8], _ file: MovieFile) -> [TableOfContents.Entry]? {
    let tracks = Box.all(in: bytes[...]).filter { $0.type == "trak" }.map(\.body)
    let wanted = tracks.lazy.compactMap { bytes.box("tref", "chap", in: $0) }.first.flatMap {
      $0.count >= 4 ? bytes.integer($0.lowerBound) : nil
    }
    guard let wanted,
      let track = tracks.first(where: { track in
        bytes.box("tkhd", in: track).flatMap { MovieTrack.identifier(in: $0, of: bytes) } == wanted
      }),
      let timescale = bytes.box("mdia", "mdhd", in: track).flatMap({ bytes.timescale($0) }), timescale > 0,
      let table = bytes.box("mdia", "minf", "stbl", in: track), let samples = SampleTable(bytes, table)
    else { return nil }
    // Samples may overlap, and a title take 64 KiB: what a damaged table promises is not believed.
    guard samples.all.reduce(0, { $0 + $1.place.count }) <= 1 << 24 else { return nil }
    var found: [TableOfContents.Entry] = []
    for sample in samples.all {
      // Beyond ten years it is damage.
      guard (sample.start + sample.duration) / timescale < 300_000_000, let text = file.read(sample.place),
        text.count >= 2
      else { return nil }
      let length = min(Int(text[0]) << 8 | Int(text[1]), text.count - 2)
      let title = String(decoding: text[2..<2 + length], as: UTF8.self)
      found.append(
        .init(
          start: ClockTime(sampleIndex: sample.start, rate: timescale),
          end: ClockTime(sampleIndex: sample.start + sample.duration, rate: timescale), title: title, children: []))
    }
    return found.isEmpty ? nil : found
  }

  /// The body of a `moov` box with a list of chapters in its user data.
  package static func adding(_ chapters: [Chapter], to movie: [UInt8]) -> [UInt8] {
    var list: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0]
    // One byte counts them.
    let kept = chapters.prefix(255)
    list.append(UInt8(kept.count))
    for chapter in kept {
      var title = chapter.title
      while title.utf8.count > 255 { title.removeLast() }
      list += withUnsafeBytes(of: (chapter.span.start.nanoseconds / 100).bigEndian, Array.init)
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

/// Where the samples of a track lie, and when each starts (ISO/IEC 14496-12, 8.6.1 and 8.7).
private struct SampleTable {
  /// More than any film has chapters: what a damaged table promises is not believed.
  private static let most = 100_000

  /// Times in the media's timescale.
  var all: [(place: Range<Int>, start: Int, duration: Int)] = []

  init?(_ bytes: [UInt8], _ table: Range<Int>) {
    let parts = Box.all(in: bytes[table])
    func part(_ type: String) -> Range<Int>? { parts.first { $0.type == type }?.body }
    func count(_ body: Range<Int>, _ offset: Int, _ size: Int) -> Int {
      body.count >= offset + 4
        ? min(bytes.integer(body.lowerBound + offset), (body.count - offset - 4) / max(size, 1), SampleTable.most) : 0
    }
    guard let times = part("stts"), let sizes = part("stsz"), sizes.count >= 12, let chunks = part("stsc"),
      let offsets = part("stco") ?? part("co64")
    else { return nil }
    let isWide = part("stco") == nil
    var durations: [Int] = []
    for entry in 0..<count(times, 4, 8) where durations.count < SampleTable.most {
      let place = times.lowerBound + 8 + entry * 8
      durations += Array(
        repeating: bytes.integer(place + 4), count: min(bytes.integer(place), SampleTable.most - durations.count))
    }
    let common = bytes.integer(sizes.lowerBound + 4)
    let number = common > 0 ? durations.count : count(sizes, 8, 4)
    let runs = (0..<count(chunks, 4, 12)).map { entry in
      let place = chunks.lowerBound + 8 + entry * 12
      return (first: bytes.integer(place), samples: bytes.integer(place + 4))
    }
    var sample = 0
    var start = 0
    var run = 0
    for chunk in 0..<count(offsets, 4, isWide ? 8 : 4) {
      let place = offsets.lowerBound + 8 + chunk * (isWide ? 8 : 4)
      var offset = isWide ? bytes.integer(place) << 32 | bytes.integer(place + 4) : bytes.integer(place)
      // A run goes on to where the next one begins.
      while run + 1 < runs.count, runs[run + 1].first <= chunk + 1 { run += 1 }
      for _ in 0..<(run < runs.count && runs[run].first <= chunk + 1 ? runs[run].samples : 0) {
        guard sample < number, sample < durations.count else { return }
        let size = common > 0 ? common : bytes.integer(sizes.lowerBound + 12 + sample * 4)
        guard (0..<1 << 60).contains(offset), size <= 1 << 16 else { return nil }
        all.append((offset..<offset + size, start, durations[sample]))
        offset += size
        start += durations[sample]
        sample += 1
      }
    }
  }
}
