/// Sequence parameter set of HEVC (ITU-T H.265, 7.3.2.2.1 and E.2.1).
struct H265ParameterSet {
  /// Returns the codes for the transfer function and matrix of the colours (tables E.4 and E.5).
  /// - Parameter unit: NAL unit with its two-byte header.
  /// - Returns: nil if not declared, or if the unit is truncated.
  static func colours(in unit: UnsafeRawBufferPointer) -> (transfer: Int, matrix: Int)? {
    var set = H265ParameterSet(reader: BitReader(SEIMessage.withoutEmulation(unit.dropFirst(2))))
    guard set.skipPicture(), set.skipCoding() else { return nil }
    return set.reader.usabilityColours()
  }

  /// Returns the crop of the pictures; nil if the unit is truncated.
  /// - Parameter unit: NAL unit with its two-byte header.
  static func crop(in unit: UnsafeRawBufferPointer) -> PictureCrop? {
    var set = H265ParameterSet(reader: BitReader(SEIMessage.withoutEmulation(unit.dropFirst(2))))
    return set.skipPicture() ? set.pictureCrop : nil
  }

  private var reader: BitReader
  private var pictureCrop: PictureCrop?
  /// `sps_max_sub_layers_minus1`.
  private var lastLayer = 0
  /// Number of bits of a picture order count.
  private var countBits = 0

  private init(reader: BitReader) { self.reader = reader }

  /// Skips the fields up to the picture order count: layers, profile, frame size, crop and bit
  /// depth.
  private mutating func skipPicture() -> Bool {
    guard reader.bits(4) != nil, let layers = reader.bits(3), reader.flag() != nil else { return false }
    lastLayer = layers
    skipProfiles()
    guard reader.golomb() != nil, let chroma = reader.golomb() else { return false }
    if chroma == 3 { _ = reader.flag() }
    guard let width = reader.golomb(), reader.golomb() != nil, let isCropped = reader.flag() else { return false }
    pictureCrop = reader.crop(isCropped: isCropped, width: width, chroma: chroma)
    return pictureCrop != nil && reader.golombs(2)
  }

  /// Skips `profile_tier_level` (7.3.3).
  private mutating func skipProfiles() {
    let (profile, level) = (88, 8)
    reader.skip(profile + level)
    let present = (0..<lastLayer).map { _ in (reader.flag() == true, reader.flag() == true) }
    if lastLayer > 0 { reader.skip(2 * (8 - lastLayer)) }
    for (hasProfile, hasLevel) in present { reader.skip((hasProfile ? profile : 0) + (hasLevel ? level : 0)) }
  }

  /// Skips the fields between the bit depth and the video usability information (VUI).
  private mutating func skipCoding() -> Bool {
    guard let log = reader.golomb(), log <= 12, let isEachLayers = reader.flag() else { return false }
    countBits = log + 4
    // Skip the sizes of the picture buffer for each layer, and the six block sizes and depths.
    guard reader.golombs(3 * (isEachLayers ? lastLayer + 1 : 1) + 6), let usesLists = reader.flag() else {
      return false
    }
    if usesLists, reader.flag() == true { skipScalingLists() }
    reader.skip(2)
    guard let hasPCM = reader.flag() else { return false }
    if hasPCM {
      reader.skip(8)
      guard reader.golombs(2), reader.flag() != nil else { return false }
    }
    guard skipShortTermSets(), let hasLongTerm = reader.flag() else { return false }
    if hasLongTerm {
      guard let count = reader.golomb(), count <= 32 else { return false }
      reader.skip(count * (countBits + 1))
    }
    return reader.bits(2) != nil
  }

  /// Skips `scaling_list_data` (7.3.4).
  private mutating func skipScalingLists() {
    for size in 0..<4 {
      for _ in 0..<(size == 3 ? 2 : 6) {
        if reader.flag() == true {
          let count = min(64, 1 << (4 + 2 * size))
          guard reader.golombs(count + (size > 1 ? 1 : 0)) else { return }
        } else if !reader.golombs(1) {
          return
        }
      }
    }
  }

  /// Skips the sets of short-term reference pictures (7.3.7).
  private mutating func skipShortTermSets() -> Bool {
    guard let count = reader.golomb(), count <= 64 else { return false }
    var pictures = 0
    for index in 0..<count {
      if index > 0, reader.flag() == true {
        // This set is predicted from the previous one.
        guard reader.flag() != nil, reader.golomb() != nil else { return false }
        var kept = 0
        for _ in 0...pictures {
          guard let isUsed = reader.flag() else { return false }
          if isUsed || reader.flag() == true { kept += 1 }
        }
        pictures = kept
      } else {
        guard let before = reader.golomb(), let after = reader.golomb(), before <= 16, after <= 16 else { return false }
        pictures = before + after
        for _ in 0..<pictures { guard reader.golomb() != nil, reader.flag() != nil else { return false } }
      }
    }
    return true
  }
}
