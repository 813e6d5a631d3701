/// Which way up the video of an MP4 or MOV track is: the matrix of its `tkhd` box (ISO/IEC 14496-12, 8.3.2).
enum MP4Matrix {
  /// By GST_TAG_IMAGE_ORIENTATION, the turned axes, (a, b, c, d), of 1, 0 and -1.
  static let axes: [String: [Int]] = [
    "rotate-90": [0, 1, -1, 0], "rotate-180": [-1, 0, 0, -1], "rotate-270": [0, -1, 1, 0],
    "flip-rotate-0": [-1, 0, 0, 1], "flip-rotate-90": [0, -1, -1, 0], "flip-rotate-180": [1, 0, 0, -1],
    "flip-rotate-270": [0, 1, 1, 0],
  ]

  /// Where the matrix lies in the body of a `tkhd` box; nil where there is no room for it.
  static func place(in header: Range<Int>, of bytes: [UInt8]) -> Int? {
    guard !header.isEmpty else { return nil }
    // Version 1 has 64-bit times: 12 bytes more before the matrix.
    let matrix = header.lowerBound + (bytes[header.lowerBound] == 1 ? 52 : 40)
    return matrix + 44 <= header.upperBound ? matrix : nil
  }

  /// The orientation that the matrix in the body of a `tkhd` box means; nil where it is none of the eight, or says nothing.
  static func orientation(in header: Range<Int>, of bytes: [UInt8]) -> String? {
    guard let matrix = place(in: header, of: bytes) else { return nil }
    let found = [0, 4, 12, 16].map { Int(Int32(truncatingIfNeeded: bytes.integer(matrix + $0))) >> 16 }
    return axes.first { $0.value == found }?.key
  }
}
