/// VP9 codec configuration in MP4 (`vpcC`).
///
/// Source: VP Codec ISO Media File Format Binding, 1.0.
package struct VP9Configuration: Equatable {
  package let profile: UInt8
  /// Ten times the level.
  package let level: UInt8
  /// Bits per component.
  package let bitDepth: UInt8

  /// Codec string as in RFC 6381, such as `vp09.00.40.08`.
  package var codecs: String {
    "vp09" + [profile, level, bitDepth].map { ($0 < 10 ? ".0" : ".") + "\($0)" }.joined()
  }

  /// Reads the configuration in a sample description.
  /// - Parameter description: body of an `stsd` box.
  package init?(_ description: [UInt8]) {
    guard let body = Self.body(in: description) else { return nil }
    (profile, level, bitDepth) = (description[body], description[body + 1], description[body + 2] >> 4)
  }

  /// Sets the level in the body of an `stsd` box (`Quirk.qtmuxVP9Level`).
  package static func description(_ description: [UInt8], ofLevel level: UInt8) -> [UInt8] {
    guard let body = body(in: description) else { return description }
    var description = description
    description[body + 1] = level
    return description
  }

  /// Returns the offset of the profile in the body of an `stsd` box; nil if the box has no `vpcC`.
  private static func body(in description: [UInt8]) -> Int? {
    // Skip version, flags and number of entries (8 bytes), the fields of a visual sample entry (78
    // bytes), and then version and flags of `vpcC` (4 bytes).
    guard let entry = Box.all(in: description.dropFirst(8)).first(where: { $0.type == "vp09" }),
      entry.body.count > 78,
      let box = Box.all(in: description[entry.body.dropFirst(78)]).first(where: { $0.type == "vpcC" }),
      box.body.count >= 7
    else { return nil }
    return box.body.lowerBound + 4
  }

  /// Returns ten times the lowest level that allows video of this size and frame rate.
  /// - Parameter rate: frames per second.
  package static func level(width: Int, height: Int, rate: Double) -> UInt8 {
    let pixels = width * height
    return levels.first { level in
      pixels <= level.pixels && Double(pixels) * rate <= level.rate && max(width, height) <= level.side
    }?.level ?? 62
  }

  /// Limits of each level: pixels per second, pixels per frame, and pixels of the longer side.
  /// Source: VP9 Levels, https://www.webmproject.org/vp9/levels/
  private static let levels: [(level: UInt8, rate: Double, pixels: Int, side: Int)] = [
    (10, 829_440, 36_864, 512), (11, 2_764_800, 73_728, 768), (20, 4_608_000, 122_880, 960),
    (21, 9_216_000, 245_760, 1344), (30, 20_736_000, 552_960, 2048), (31, 36_864_000, 983_040, 2752),
    (40, 83_558_400, 2_228_224, 4160), (41, 160_432_128, 2_228_224, 4160), (50, 311_951_360, 8_912_896, 8384),
    (51, 588_251_136, 8_912_896, 8384), (52, 1_176_502_272, 8_912_896, 8384), (60, 1_176_502_272, 35_651_584, 16_832),
    (61, 2_353_004_544, 35_651_584, 16_832),
  ]
}
