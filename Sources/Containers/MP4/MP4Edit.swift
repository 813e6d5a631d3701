/// One entry of a track's edit list: which part of the media is presented next (ISO/IEC 14496-12, 8.6.6).
struct MP4Edit {
  /// Place of its duration in the index.
  let field: Range<Int>
  /// At the movie's timescale.
  let duration: Int
  /// At the media's timescale; nil for a stretch in which nothing is presented.
  let start: Int?
  /// Whether it is played as fast as the media says.
  let isAtOwnSpeed: Bool

  /// - Parameter track: the body of a `trak` box.
  static func all(in track: Range<Int>, of header: [UInt8]) -> [MP4Edit] {
    guard let list = header.box("edts", "elst", in: track), list.count >= 8 else { return [] }
    let width = header[list.lowerBound] == 1 ? 8 : 4
    let step = 2 * width + 4
    let count = min(header.integer(list.lowerBound + 4), (list.count - 8) / step)
    return (0..<count).map { number in
      let entry = list.lowerBound + 8 + number * step
      let start = header.number(entry + width..<entry + 2 * width)
      // An empty edit has -1 there.
      return MP4Edit(
        field: entry..<entry + width, duration: header.number(entry..<entry + width),
        start: start < 1 << 31 ? start : nil, isAtOwnSpeed: header.integer(entry + 2 * width) == 1 << 16)
    }
  }
}
