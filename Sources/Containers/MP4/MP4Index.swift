/// Index of an MP4 or MOV file (`moov`, ISO/IEC 14496-12, 8.2.1), in memory.
struct MP4Index {
  /// Body of the `moov` box.
  private(set) var bytes: [UInt8]
  /// Range of the `moov` body in the file.
  let place: Range<Int>
  /// True if the file is fragmented, so that each fragment has its own sample tables.
  let isFragmented: Bool
  /// Body of the movie header (`mvhd`), and the timescale of the movie; nil if damaged or missing.
  let header: (body: Range<Int>, timescale: Int)?

  /// - Returns: nil if there is no index, or if it has 256 MiB or more, which is treated as damage.
  init?(_ file: RandomAccessFile) { self.init(file, in: file.boxes) }

  /// - Parameter boxes: boxes of the file, or of a file embedded in it.
  init?(_ file: RandomAccessFile, in boxes: [Box]) {
    guard let movie = boxes.first(where: { $0.type == "moov" }), movie.body.count < 1 << 28,
      let bytes = file.read(movie.body)
    else { return nil }
    self.bytes = bytes
    place = movie.body
    isFragmented = bytes.box("mvex", in: 0..<bytes.count) != nil
    header = MP4Index.header(in: bytes)
  }

  private static func header(in bytes: [UInt8]) -> (body: Range<Int>, timescale: Int)? {
    guard let body = bytes.box("mvhd", in: 0..<bytes.count), let timescale = bytes.timescale(body), timescale > 0 else {
      return nil
    }
    return (body, timescale)
  }

  /// Applies `correction` to the bytes of the index.
  mutating func correct(by correction: any FileCorrection) {
    let start = place.lowerBound
    bytes.withUnsafeMutableBytes { correction.apply(to: $0, at: start) }
  }

  /// Bodies of the `trak` boxes.
  var tracks: [Range<Int>] { Box.all(in: bytes[...]).filter { $0.type == "trak" }.map(\.body) }

  /// Default durations of the MP4 samples in fragments (`trex`), by track identifier.
  var sampleDurations: [Int: Int] {
    guard let extends = bytes.box("mvex", in: 0..<bytes.count) else { return [:] }
    var durations: [Int: Int] = [:]
    for box in Box.all(in: bytes[extends]) where box.type == "trex" && box.body.count >= 16 {
      durations[bytes.integer(box.body.lowerBound + 4)] = bytes.integer(box.body.lowerBound + 12)
    }
    return durations
  }
}
