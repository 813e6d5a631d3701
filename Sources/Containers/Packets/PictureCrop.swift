/// Columns of coded H.264 and HEVC pictures that the sequence parameter set hides
/// (`frame_cropping`, ITU-T H.264, 7.4.2.1.1; `conformance_window`, ITU-T H.265, 7.4.3.2.1).
package struct PictureCrop: Codable, Equatable, Sendable {
  /// Width of coded pictures, including the hidden columns.
  let codedWidth: Int
  /// Number of hidden columns at the left edge.
  let left: Int
  /// Number of hidden columns at the right edge.
  let right: Int

  /// True if columns at the left edge are hidden.
  package var hidesLeft: Bool { left > 0 }

  /// Returns the number of hidden columns that a decoder leaves at the left edge of its frames
  /// (`Quirk.avdecLeftCrop`); 0 if the width of the frames does not fit the crop.
  package func columnsLeft(inWidth width: Int) -> Int {
    let extra = width - (codedWidth - left - right)
    return extra > 0 && extra <= left ? extra : 0
  }
}

extension BitReader {
  /// Reads the four offsets of a crop: left, right, top and bottom.
  /// - Parameters:
  ///   - isCropped: false if the parameter set declares no crop.
  ///   - width: width of coded pictures.
  ///   - chroma: `chroma_format_idc`.
  /// - Returns: nil at the end of the bytes.
  mutating func crop(isCropped: Bool, width: Int, chroma: Int) -> PictureCrop? {
    guard isCropped else { return PictureCrop(codedWidth: width, left: 0, right: 0) }
    guard let left = golomb(), let right = golomb(), golombs(2) else { return nil }
    // 4:2:0 and 4:2:2 count in columns of chroma.
    let unit = chroma == 1 || chroma == 2 ? 2 : 1
    return PictureCrop(codedWidth: width, left: left * unit, right: right * unit)
  }
}
