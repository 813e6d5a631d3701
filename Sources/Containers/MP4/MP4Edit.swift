/// Entry of a track's edit list: the range of the media to play next (ISO/IEC 14496-12, 8.6.6).
struct MP4Edit {
  /// Range of the entry's duration field in the index.
  let field: Range<Int>
  /// Range of the entry's start field in the index.
  let startField: Range<Int>
  /// Duration of the edit, in the movie's timescale.
  let duration: Int
  /// Start in the media, in the media's timescale. Nil for an empty edit, which plays nothing, and
  /// for a start of 2^31 or more.
  let start: Int?
  /// True if the edit plays the media at normal speed.
  let isAtOwnSpeed: Bool

  /// Reads the edit list of a track.
  /// - Parameter track: body of the `trak` box.
  static func all(in track: Range<Int>, of header: [UInt8]) -> [MP4Edit] {
    guard let list = header.box("edts", "elst", in: track), list.count >= 8 else { return [] }
    let width = header[list.lowerBound] == 1 ? 8 : 4
    let step = 2 * width + 4
    let count = min(header.integer(list.lowerBound + 4), (list.count - 8) / step)
    return (0..<count).map { number in
      let entry = list.lowerBound + 8 + number * step
      let start = header.number(entry + width..<entry + 2 * width)
      // The start of an empty edit is -1.
      return MP4Edit(
        field: entry..<entry + width, startField: entry + width..<entry + 2 * width,
        duration: header.number(entry..<entry + width),
        start: start < 1 << 31 ? start : nil, isAtOwnSpeed: header.integer(entry + 2 * width) == 1 << 16)
    }
  }
}
