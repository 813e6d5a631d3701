extension BitReader {
  /// Reads the flag for video usability information (VUI), and the start of the VUI, which is the
  /// same in H.264 and HEVC (ITU-T H.264, E.1.1; H.265, E.2.1).
  /// - Returns: codes for the transfer function and matrix of the colours; nil if not declared, or
  ///   if the data is truncated.
  mutating func usabilityColours() -> (transfer: Int, matrix: Int)? {
    guard flag() == true, let hasAspect = flag() else { return nil }
    if hasAspect, bits(8) == 255 { skip(32) }
    guard let hasOverscan = flag(), !hasOverscan || flag() != nil else { return nil }
    // The video signal type consists of the format, the range, and a flag for the colour
    // description.
    guard flag() == true, bits(4) != nil, flag() == true, bits(8) != nil, let transfer = bits(8), let matrix = bits(8)
    else { return nil }
    return (transfer, matrix)
  }
}

/// Sequence parameter set of H.264 (ITU-T H.264, 7.3.2.1.1 and E.1.1).
enum H264ParameterSet {
  /// Profile numbers (`profile_idc`) whose parameter sets declare the chroma format.
  private static let high: Set = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]

  /// Returns the codes for the transfer function and matrix of the colours (tables E-4 and E-5).
  /// - Parameter unit: NAL unit with its header byte.
  /// - Returns: nil if not declared, or if the unit is truncated.
  static func colours(in unit: UnsafeRawBufferPointer) -> (transfer: Int, matrix: Int)? {
    var reader = BitReader(SEIMessage.withoutEmulation(unit.dropFirst()))
    return crop(&reader) == nil ? nil : reader.usabilityColours()
  }

  /// Returns the crop of the pictures; nil if the unit is truncated.
  /// - Parameter unit: NAL unit with its header byte.
  static func crop(in unit: UnsafeRawBufferPointer) -> PictureCrop? {
    var reader = BitReader(SEIMessage.withoutEmulation(unit.dropFirst()))
    return crop(&reader)
  }

  /// Reads the fields up to the crop.
  private static func crop(_ reader: inout BitReader) -> PictureCrop? {
    // Skip the constraints and level, and the identifier of the parameter set.
    guard let profile = reader.bits(8), reader.bits(16) != nil, reader.golomb() != nil else { return nil }
    // Other profiles have 4:2:0.
    var chroma = 1
    if high.contains(profile) {
      guard let format = reader.golomb() else { return nil }
      chroma = format
      if chroma == 3, reader.flag() == nil { return nil }
      guard reader.golomb() != nil, reader.golomb() != nil, reader.flag() != nil, let hasScaling = reader.flag() else {
        return nil
      }
      if hasScaling {
        for list in 0..<(chroma == 3 ? 12 : 8) where reader.flag() == true {
          skipScaling(list < 6 ? 16 : 64, &reader)
        }
      }
    }
    guard reader.golomb() != nil, let order = reader.golomb() else { return nil }
    if order == 0 {
      guard reader.golomb() != nil else { return nil }
    } else if order == 1 {
      guard reader.flag() != nil, reader.golomb() != nil, reader.golomb() != nil, let count = reader.golomb(),
        count < 256
      else { return nil }
      guard reader.golombs(count) else { return nil }
    }
    // Skip the number of reference frames and the flag for gaps. After the width in macroblocks,
    // skip the height, and read the flag for frames without fields.
    guard reader.golomb() != nil, reader.flag() != nil, let last = reader.golomb(), reader.golomb() != nil,
      let isFrame = reader.flag(), isFrame || reader.flag() != nil, reader.flag() != nil, let isCropped = reader.flag()
    else { return nil }
    return reader.crop(isCropped: isCropped, width: 16 * (last + 1), chroma: chroma)
  }

  /// Skips a scaling list (7.3.2.1.1.1).
  private static func skipScaling(_ size: Int, _ reader: inout BitReader) {
    var (last, next) = (8, 8)
    for _ in 0..<size {
      if next != 0 {
        guard let delta = reader.signedGolomb() else { return }
        next = (last + delta + 256) & 255
      }
      if next != 0 { last = next }
    }
  }
}
