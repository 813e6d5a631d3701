import MediaTime

/// Sample tables of an MP4 track (ISO/IEC 14496-12, 8.6 and 8.7), reduced to some of the track's
/// MP4 samples. An MP4 sample is a packet.
struct SampleExcerpt {
  /// Range of MP4 samples. Either all of them are kept, or the first sample represents all of them.
  private struct Piece {
    var samples: Range<Int>
    var isKept: Bool
    /// Number of copies of the first sample, if that sample represents the range. Several copies
    /// are needed if the range lasts longer than ``longest``.
    var copies = 1
    /// Index of this range's first sample among the samples of the excerpt.
    var first = 0

    /// Number of samples that this range has in the excerpt.
    var count: Int { isKept ? samples.count : copies }
    /// Samples of this range that are listed in the excerpt.
    var listed: Range<Int> { isKept ? samples : samples.prefix(1) }
  }

  /// Number of samples in the track.
  let count: Int
  /// Encoded boxes of the tables.
  let boxes: [UInt8]

  /// Layout of the tables to rewrite, by box type: offset of the number of entries, and bytes per
  /// entry.
  private static let tables = [
    "stts": (4, 8), "ctts": (4, 8), "stss": (4, 4), "stsz": (8, 4), "stsc": (4, 12), "stco": (4, 4), "co64": (4, 8),
  ]
  /// Types of boxes that are omitted, because qtdemux does not need them: sample dependencies,
  /// sample groups and padding.
  private static let unread: Set = ["sdtp", "sgpd", "sbgp", "free", "skip"]
  /// Maximum duration of an MP4 sample, in units of the track's timescale.
  private static let longest = 1 << 30
  /// Maximum number of copies of an MP4 sample.
  private static let mostCopies = 1 << 10
  /// Maximum number of samples in an excerpt. Only files with damaged times exceed it, and for them
  /// an excerpt does not pay off.
  private static let most = 1 << 20

  /// Creates the reduced tables.
  /// - Parameters:
  ///   - table: body of an `stbl` box.
  ///   - spans: time ranges to keep, in media time, ascending and disjoint.
  /// - Returns: nil if the table contains unknown boxes or damage, if all samples share one size,
  ///   if `spans` do not include the first sample, or if the excerpt would have another smallest or
  ///   largest composition offset.
  init?(_ bytes: [UInt8], _ table: Range<Int>, _ spans: [Range<ClockTime>], _ timescale: Int) {
    let parts = Box.all(in: bytes[table])
    let others = parts.filter { SampleExcerpt.tables[$0.type] == nil && !SampleExcerpt.unread.contains($0.type) }
    guard others.allSatisfy({ ["stsd", "cslg"].contains($0.type) }),
      parts.allSatisfy({ SampleExcerpt.isWhole($0, bytes) }),
      let descriptions = bytes.box("stsd", in: table), descriptions.count >= 8,
      bytes.integer(descriptions.lowerBound + 4) == 1,
      // The table must list a size for each sample: qtdemux computes different times if all samples
      // share one size.
      let sizes = SampleTable(bytes, table), sizes.commonSize == 0, (1...SampleRuns.most).contains(sizes.count),
      let durations = SampleRuns("stts", bytes, table, sizes.count), durations.bounds()?.lowerBound ?? -1 >= 0
    else { return nil }
    let offsets = SampleRuns("ctts", bytes, table, sizes.count)
    if offsets == nil, bytes.box("ctts", in: table) != nil { return nil }
    count = sizes.count
    var pieces = SampleExcerpt.pieces(spans.map { durations.samples(in: $0, timescale) }, of: count)
    let listed = pieces.map(\.listed)
    // The smallest and largest composition offset must stay the same: qtdemux uses both to validate
    // the table. Without a `cslg` box, qtdemux also shifts all offsets by the smallest one.
    guard pieces.first?.isKept ?? false, offsets?.bounds() == offsets?.bounds(of: listed),
      let steps = SampleExcerpt.steps(durations, &pieces),
      pieces.reduce(0, { $0 + $1.count }) <= SampleExcerpt.most,
      let chunks = SampleExcerpt.chunks(sizes, pieces)
    else {
      return nil
    }
    var written: [[UInt8]] = []
    var start = table.lowerBound
    for part in parts {
      if others.contains(where: { $0.body == part.body }) { written.append(Array(bytes[start..<part.body.upperBound])) }
      start = part.body.upperBound
    }
    written.append(SampleExcerpt.runs("stts", steps))
    if let offsets, let version = bytes.box("ctts", in: table).map({ bytes[$0.lowerBound] }) {
      written.append(SampleExcerpt.runs("ctts", version: version, SampleExcerpt.values(offsets, pieces)))
    }
    if let keyframes = bytes.box("stss", in: table) {
      // With an empty `stss` table, qtdemux treats all samples as keyframes.
      guard let numbers = SampleExcerpt.keyframes(bytes, keyframes, pieces), !numbers.isEmpty else { return nil }
      written.append(Box.full("stss", .big(UInt32(numbers.count)), .big(all: numbers)))
    }
    let samples = pieces.flatMap { piece in
      piece.isKept ? Array(piece.samples) : [Int](repeating: piece.samples.lowerBound, count: piece.copies)
    }
    written.append(
      Box.full(
        "stsz", .big(UInt32(0)), .big(UInt32(samples.count)),
        .big(all: samples.map { UInt32(truncatingIfNeeded: sizes.size(of: $0)) })))
    written += SampleExcerpt.boxes(chunks)
    boxes = Array(written.joined())
  }

  /// Splits the samples of the track into the ranges in `kept` and the ranges before, between and
  /// after them.
  private static func pieces(_ kept: [Range<Int>], of count: Int) -> [Piece] {
    var pieces: [Piece] = []
    var next = 0
    for range in kept where !range.isEmpty && range.upperBound > next {
      let start = max(range.lowerBound, next)
      if start > next { pieces.append(Piece(samples: next..<start, isKept: false)) }
      pieces.append(Piece(samples: start..<range.upperBound, isKept: true))
      next = range.upperBound
    }
    if next < count { pieces.append(Piece(samples: next..<count, isKept: false)) }
    return pieces
  }

  /// Computes the sample durations of the excerpt. Sets ``Piece/copies`` and ``Piece/first`` of
  /// each range.
  /// - Returns: pairs of a number of samples and their duration; nil if a range would need too many
  ///   copies.
  private static func steps(_ durations: SampleRuns, _ pieces: inout [Piece]) -> [(Int, Int)]? {
    var steps: [[(Int, Int)]] = pieces.map { _ in [] }
    var lengths = pieces.map { _ in 0 }
    durations.forEach(in: pieces.map(\.samples)) { piece, count, value in
      if pieces[piece].isKept { steps[piece].append((count, value)) } else { lengths[piece] += count * value }
    }
    var first = 0
    for piece in pieces.indices {
      if !pieces[piece].isKept {
        let copies = max(1, (lengths[piece] + longest - 1) / longest)
        guard copies <= mostCopies else { return nil }
        let (each, rest) = lengths[piece].quotientAndRemainder(dividingBy: copies)
        steps[piece] = [(copies - 1, each), (1, each + rest)]
        pieces[piece].copies = copies
      }
      pieces[piece].first = first
      first += pieces[piece].count
    }
    return steps.flatMap { $0.filter { $0.0 > 0 } }
  }

  /// Returns the values of a table of runs, such as `ctts`, for the samples of the excerpt: pairs
  /// of a number of samples and their value.
  private static func values(_ table: SampleRuns, _ pieces: [Piece]) -> [(Int, Int)] {
    var runs: [(Int, Int)] = []
    table.forEach(in: pieces.map(\.listed)) { piece, count, value in
      runs.append((pieces[piece].isKept ? count : pieces[piece].copies, value))
    }
    return runs
  }

  /// True if a table has as many entries as it declares.
  private static func isWhole(_ table: Box, _ bytes: [UInt8]) -> Bool {
    guard let (place, size) = tables[table.type] else { return true }
    let head = place + 4
    return table.body.count >= head
      && bytes.integer(table.body.lowerBound + place) == (table.body.count - head) / size
  }

  private static func runs(_ type: String, version: UInt8 = 0, _ runs: [(Int, Int)]) -> [UInt8] {
    let entries = runs.flatMap { [UInt32(truncatingIfNeeded: $0.0), UInt32(truncatingIfNeeded: $0.1)] }
    return Box.full(type, version: version, .big(UInt32(runs.count)), .big(all: entries))
  }

  /// Returns the sample numbers of the keyframes in the excerpt, from 1; nil if the table is not
  /// ascending.
  private static func keyframes(_ bytes: [UInt8], _ table: Range<Int>, _ pieces: [Piece]) -> [UInt32]? {
    var numbers: [UInt32] = []
    var piece = 0
    var last = 0
    for place in stride(from: table.lowerBound + 8, through: table.upperBound - 4, by: 4) {
      let number = bytes.integer(place)
      guard number > last else { return nil }
      last = number
      while piece < pieces.count, pieces[piece].samples.upperBound < number { piece += 1 }
      guard piece < pieces.count else { break }
      if pieces[piece].isKept {
        numbers.append(UInt32(truncatingIfNeeded: number - pieces[piece].samples.lowerBound + pieces[piece].first))
      }
    }
    return numbers
  }

  /// Returns the offset in the file and number of samples of each MP4 chunk in the excerpt. An MP4
  /// chunk is a run of contiguous samples.
  /// - Returns: nil if MP4 chunks are missing or have impossible offsets.
  private static func chunks(_ table: SampleTable, _ pieces: [Piece]) -> [(place: Int, count: Int)]? {
    var chunks: [(place: Int, count: Int)] = []
    var piece = 0
    var isSound = true
    var end = 0
    table.forEachChunk { place, samples in
      end = samples.upperBound
      while piece < pieces.count, pieces[piece].samples.upperBound <= samples.lowerBound { piece += 1 }
      guard (0..<1 << 60).contains(place) else {
        isSound = false
        return false
      }
      var next = piece
      var (sample, start) = (samples.lowerBound, place)
      while next < pieces.count, pieces[next].samples.lowerBound < samples.upperBound {
        let common = pieces[next].samples.clamped(to: samples)
        let isStart = common.lowerBound == pieces[next].samples.lowerBound
        if !common.isEmpty, pieces[next].isKept || isStart {
          while sample < common.lowerBound {
            start += table.size(of: sample)
            sample += 1
          }
          let copies = pieces[next].isKept ? 1 : pieces[next].copies
          let count = pieces[next].isKept ? common.count : 1
          chunks += repeatElement((place: start, count: count), count: copies)
        }
        next += 1
      }
      return true
    }
    return isSound && end >= table.count ? chunks : nil
  }

  private static func boxes(_ chunks: [(place: Int, count: Int)]) -> [[UInt8]] {
    var runs: [UInt32] = []
    var last = 0
    for (number, chunk) in chunks.enumerated() where chunk.count != last {
      runs += [UInt32(truncatingIfNeeded: number + 1), UInt32(truncatingIfNeeded: chunk.count), 1]
      last = chunk.count
    }
    return [
      Box.full("stsc", .big(UInt32(runs.count / 3)), .big(all: runs)),
      Box.full("co64", .big(UInt32(chunks.count)), .big(all: chunks.map { UInt64($0.place) })),
    ]
  }
}
