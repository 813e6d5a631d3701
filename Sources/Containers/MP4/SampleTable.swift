/// Positions of a track's MP4 samples (packets) in the file (ISO/IEC 14496-12, 8.7).
struct SampleTable {
  /// Number of MP4 samples in the track.
  let count: Int
  private let bytes: [UInt8]
  /// Bodies of `stsz`, `stsc`, and `stco` or `co64`.
  private let sizes: Range<Int>
  private let runs: Range<Int>
  private let chunks: Range<Int>
  /// Bytes per chunk offset.
  private let width: Int
  /// Common size of all samples in bytes; 0 if their sizes differ.
  let commonSize: Int

  /// - Parameter table: body of an `stbl` box.
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

  /// Size of an MP4 sample in bytes.
  func size(of sample: Int) -> Int { commonSize > 0 ? commonSize : bytes.integer(sizes.lowerBound + 12 + 4 * sample) }

  /// Calls `body` with the offset and samples of each chunk, until `body` returns false.
  func forEachChunk(_ body: (_ place: Int, _ samples: Range<Int>) -> Bool) {
    // Read from raw bytes for speed: an hour has a hundred thousand chunks.
    bytes.withUnsafeBytes { raw in
      func integer(_ place: Int) -> Int {
        Int(UInt32(bigEndian: raw.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
      }
      var run = runs.lowerBound + 8
      var perChunk = 0
      var sample = 0
      let places = stride(from: chunks.lowerBound + 8, through: chunks.upperBound - width, by: width)
      for (number, place) in places.enumerated() where sample < count {
        // A run of equal chunks ends before the first chunk of the next run. Chunks are counted
        // from 1.
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

  /// Offset in the file at which the last sample ends. Only the sizes in the last chunk are read,
  /// because chunks do not overlap and hours of video have millions of samples.
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
