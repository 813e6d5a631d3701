/// Display matrix of an MP4 or MOV video track: the matrix in `tkhd` times the matrix in `mvhd`
/// (ISO/IEC 14496-12, 8.3.2 and 8.2.2). The translation is ignored.
struct MP4Matrix {
  /// Matrix (a, b, c, d) of each GST_TAG_IMAGE_ORIENTATION.
  static let axes: [String: [Int]] = [
    "rotate-0": [1, 0, 0, 1], "rotate-90": [0, 1, -1, 0], "rotate-180": [-1, 0, 0, -1], "rotate-270": [0, -1, 1, 0],
    "flip-rotate-0": [-1, 0, 0, 1], "flip-rotate-90": [0, -1, -1, 0], "flip-rotate-180": [1, 0, 0, -1],
    "flip-rotate-270": [0, 1, 1, 0],
  ]

  /// Coefficients (a, b, c, d) of the product of the two matrices.
  private let values: [Double]

  /// Reads the matrices of a track.
  /// - Parameter header: body of a `tkhd` box of `index`.
  /// - Returns: nil if `header` is too short for a matrix, or if the product is singular.
  init?(ofTrack header: Range<Int>, in index: MP4Index) {
    guard let place = MP4Matrix.place(in: header, of: index.bytes) else { return nil }
    let own = MP4Matrix.values(at: place, of: index.bytes)
    let movie =
      index.header.flatMap { MP4Matrix.place($0.body, 36, of: index.bytes) }.map {
        MP4Matrix.values(at: $0, of: index.bytes)
      } ?? [1, 0, 0, 1]
    values = [
      own[0] * movie[0] + own[1] * movie[2], own[0] * movie[1] + own[1] * movie[3],
      own[2] * movie[0] + own[3] * movie[2], own[2] * movie[1] + own[3] * movie[3],
    ]
    guard values[0] * values[3] != values[1] * values[2] else { return nil }
  }

  /// Orientation, regardless of scale; nil if the matrix skews the frame, or rotates it by an angle
  /// that is not a multiple of 90°.
  var orientation: String? {
    let largest = values.map(abs).max() ?? 0
    // The factor is the sine of one degree: players such as ffmpeg ignore smaller rotations.
    let found = values.map { abs($0) < largest * 0.01745 ? 0 : $0 < 0 ? -1 : 1 }
    return MP4Matrix.axes.first { $0.value == found }?.key
  }

  /// Displayed name of the skew, or of a scale that changes the aspect ratio; nil if the matrix has
  /// neither.
  var detail: String? {
    guard orientation != nil else { return "the skew in the display matrix (tkhd)" }
    let width = (values[0] * values[0] + values[2] * values[2]).squareRoot()
    let height = (values[1] * values[1] + values[3] * values[3]).squareRoot()
    return abs(width / height - 1) > 0.01
      ? "the scale in the display matrix (tkhd): \(factor(width)) in width, \(factor(height)) in height" : nil
  }

  private func factor(_ value: Double) -> String { "\((value * 1000).rounded() / 1000)" }

  private static func values(at place: Int, of bytes: [UInt8]) -> [Double] {
    [0, 4, 12, 16].map { Double(Int32(truncatingIfNeeded: bytes.integer(place + $0))) / 65536 }
  }

  /// Returns the offset of the matrix in the body of a `tkhd` box; nil if the body is too short for
  /// a matrix.
  static func place(in header: Range<Int>, of bytes: [UInt8]) -> Int? { place(header, 40, of: bytes) }

  /// - Parameter offset: offset of the matrix in version 0 of the box. In version 1, 64-bit times
  ///   add 12 bytes before the matrix.
  private static func place(_ header: Range<Int>, _ offset: Int, of bytes: [UInt8]) -> Int? {
    guard !header.isEmpty else { return nil }
    let matrix = header.lowerBound + offset + (bytes[header.lowerBound] == 1 ? 12 : 0)
    return matrix + 44 <= header.upperBound ? matrix : nil
  }
}
