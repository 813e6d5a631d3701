/// The index of an MP4 or MOV file (`moov`, ISO/IEC 14496-12, 8.2.1), in memory.
struct MP4Index {
  /// The body of the box.
  private(set) var bytes: [UInt8]
  /// Its place in the file.
  let place: Range<Int>

  /// - Returns: nil where there is none, or one of 256 MiB and more, which is damage.
  init?(_ file: RandomAccessFile) { self.init(file, in: file.boxes) }

  /// - Parameter boxes: those of a file, or of a file in a file.
  init?(_ file: RandomAccessFile, in boxes: [Box]) {
    guard let movie = boxes.first(where: { $0.type == "moov" }), movie.body.count < 1 << 28,
      let bytes = file.read(movie.body)
    else { return nil }
    self.bytes = bytes
    place = movie.body
  }

  /// Applies `correction` to its bytes.
  mutating func correct(by correction: any FileCorrection) {
    let start = place.lowerBound
    bytes.withUnsafeMutableBytes { correction.apply(to: $0, at: start) }
  }

  /// The bodies of the boxes of the tracks.
  var tracks: [Range<Int>] { Box.all(in: bytes[...]).filter { $0.type == "trak" }.map(\.body) }
  /// True if there are fragments, which describe their own content.
  var isFragmented: Bool { bytes.box("mvex", in: 0..<bytes.count) != nil }
  /// The body of the header, and its timescale.
  var header: (body: Range<Int>, timescale: Int)? {
    guard let body = bytes.box("mvhd", in: 0..<bytes.count), let timescale = bytes.timescale(body), timescale > 0 else {
      return nil
    }
    return (body, timescale)
  }
}
