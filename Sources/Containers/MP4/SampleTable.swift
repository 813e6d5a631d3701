/// Positions of a track's MP4 samples (packets) in the file (ISO/IEC 14496-12, 8.7).
struct SampleTable {
  /// Number of MP4 samples in the track.
  let count: Int
  private let bytes: [UInt8]
  /// Body of `stsz`.
  private let sizes: Range<Int>
  /// Body of `stsc`.
  private let runs: Range<Int>
  /// Body of `stco` or `co64`.
  private let chunks: Range<Int>
  /// Bytes per entry of ``chunks``.
  private let width: Int
  /// Size in bytes that all samples share; 0 if their sizes differ.
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

  /// Returns the size of an MP4 sample in bytes.
  func size(of sample: Int) -> Int { commonSize > 0 ? commonSize : bytes.integer(sizes.lowerBound + 12 + 4 * sample) }

  /// Calls `body` with the offset and samples of each MP4 chunk, until `body` returns false.
  func forEachChunk(_ body: (_ place: Int, _ samples: Range<Int>) -> Bool) {
    // Read from raw bytes for speed: an hour of media has a hundred thousand MP4 chunks.
    bytes.withUnsafeBytes { raw in
      func integer(_ place: Int) -> Int {
        Int(UInt32(bigEndian: raw.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
      }
      var run = runs.lowerBound + 8
      var perChunk = 0
      var sample = 0
      let places = stride(from: chunks.lowerBound + 8, through: chunks.upperBound - width, by: width)
      for (number, place) in places.enumerated() where sample < count {
        // A run of equal MP4 chunks ends before the first chunk of the next run. The numbers of MP4
        // chunks start at 1.
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

  /// Offset in the file at which the last sample ends. Only the sizes in the last MP4 chunk are
  /// read, because MP4 chunks do not overlap and hours of video have millions of samples.
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
