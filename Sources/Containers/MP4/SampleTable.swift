/// Places of a track's samples in the file (ISO/IEC 14496-12, 8.7).
struct SampleTable {
  /// How many samples there are.
  let count: Int
  private let bytes: [UInt8]
  /// The bodies of `stsz`, `stsc`, and `stco` or `co64`.
  private let sizes: Range<Int>
  private let runs: Range<Int>
  private let chunks: Range<Int>
  /// The bytes of a chunk's place.
  private let width: Int
  /// The size of all samples; 0 where each has one of its own.
  let commonSize: Int

  /// - Parameter table: the body of an `stbl` box.
  init?(_ bytes: [UInt8], _ table: Range<Int>) {
    let parts = Box.all(in: bytes[table])
    func part(_ type: String, least: Int) -> Range<Int>? {
      parts.first { $0.type == type }.map(\.body).flatMap { $0.count >= least ? $0 : nil }
    }
    guard let sizes = part("stsz", least: 12), let runs = part("stsc", least: 8),
      let chunks = part("stco", least: 8) ?? part("co64", least: 8)
    else { return nil }
    self.bytes = bytes
    self.sizes = sizes
    self.runs = runs
    self.chunks = chunks
    width = part("stco", least: 8) == nil ? 8 : 4
    commonSize = bytes.integer(sizes.lowerBound + 4)
    let said = bytes.integer(sizes.lowerBound + 8)
    count = commonSize > 0 ? said : min(said, (sizes.count - 12) / 4)
  }

  /// In bytes.
  func size(of sample: Int) -> Int { commonSize > 0 ? commonSize : bytes.integer(sizes.lowerBound + 12 + 4 * sample) }

  /// The chunks, until `body` says that it is enough: where each lies, and which samples are in it.
  func forEachChunk(_ body: (_ place: Int, _ samples: Range<Int>) -> Bool) {
    // An hour has a hundred thousand of them.
    bytes.withUnsafeBytes { raw in
      func integer(_ place: Int) -> Int {
        Int(UInt32(bigEndian: raw.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
      }
      var run = runs.lowerBound + 8
      var perChunk = 0
      var sample = 0
      let places = stride(from: chunks.lowerBound + 8, through: chunks.upperBound - width, by: width)
      for (number, place) in places.enumerated() where sample < count {
        // A run goes on until the next one's first chunk; chunks are counted from 1.
        while run + 12 <= runs.upperBound, integer(run) <= number + 1 {
          perChunk = integer(run + 4)
          run += 12
        }
        let next = min(count, sample + perChunk)
        let start =
          width == 4
          ? integer(place)
          : Int(clamping: UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
        guard body(start, sample..<next) else { return }
        sample = next
      }
    }
  }

  /// End of the sample furthest back in the file. Chunks lie side by side, so it is that of the one that
  /// begins last: hours of film have millions of samples, and only those of one chunk are looked at.
  var end: Int {
    var last = (place: 0, samples: 0..<0)
    forEachChunk { place, samples in
      if place >= last.place { last = (place, samples) }
      return true
    }
    var size = commonSize.multipliedReportingOverflow(by: last.samples.count).partialValue
    if commonSize == 0 { for sample in last.samples { size += self.size(of: sample) } }
    return last.place.addingReportingOverflow(size).partialValue
  }
}
