/// Which way up the picture of an MP4 or MOV track is: the matrix of its `tkhd` box (ISO/IEC 14496-12, 8.3.2).
package enum MovieMatrix {
  /// By GST_TAG_IMAGE_ORIENTATION, the turned axes, (a, b, c, d), of 1, 0 and -1.
  package static let axes: [String: [Int]] = [
    "rotate-90": [0, 1, -1, 0], "rotate-180": [-1, 0, 0, -1], "rotate-270": [0, -1, 1, 0],
    "flip-rotate-0": [-1, 0, 0, 1], "flip-rotate-90": [0, -1, -1, 0], "flip-rotate-180": [1, 0, 0, -1],
    "flip-rotate-270": [0, 1, 1, 0],
  ]

  /// Where the matrix lies in the body of a `tkhd` box; nil where there is no room for it.
  package static func place(in header: Range<Int>, of bytes: [UInt8]) -> Int? {
    guard !header.isEmpty else { return nil }
    // Version 1 has 64-bit times: 12 bytes more before the matrix.
    let matrix = header.lowerBound + (bytes[header.lowerBound] == 1 ? 52 : 40)
    return matrix + 44 <= header.upperBound ? matrix : nil
  }

  /// The orientation of each video track, in order; nil where the matrix is none of the eight, or says nothing.
  static func orientations(_ path: String) -> [String?] {
    guard let file = MovieFile(path), let movie = file.boxes.first(where: { $0.type == "moov" }),
      movie.body.count < 1 << 28, let bytes = file.read(movie.body)
    else { return [] }
    return Box.all(in: bytes[...]).filter { $0.type == "trak" }.compactMap { track -> String?? in
      let inner = Box.all(in: bytes[track.body])
      guard let media = inner.first(where: { $0.type == "mdia" }),
        let handler = Box.all(in: bytes[media.body]).first(where: { $0.type == "hdlr" }), handler.body.count >= 12,
        bytes.text(handler.body.lowerBound + 8) == "vide", let header = inner.first(where: { $0.type == "tkhd" }),
        let matrix = place(in: header.body, of: bytes)
      else { return nil }
      let found = [0, 4, 12, 16].map { Int(Int32(truncatingIfNeeded: bytes.integer(matrix + $0))) >> 16 }
      return .some(axes.first { $0.value == found }?.key)
    }
  }
}
