/// What MP4 says of a stream of AV1 of the main profile, with eight bits of 4:2:0, in an `av1C` box.
/// Source: AV1 Codec ISO Media File Format Binding, 2.3.
package struct AV1Configuration: Equatable {
  /// As the bitstream counts levels (AV1 Bitstream & Decoding Process Specification, A.3).
  package let level: UInt8
  package let isHighTier: Bool

  /// As the binding has it (section 5): `av01.0.08M.08`.
  package var codecs: String { "av01.0." + (level < 10 ? "0" : "") + "\(level)" + (isHighTier ? "H" : "M") + ".08" }

  /// - Parameter packet: the first one, as libaom makes it: its sequence header names no times.
  package init?(packet: [UInt8]) {
    guard let header = AV1Configuration.sequenceHeader(packet), header.count > 4 else { return nil }
    // seq_profile (3 bits), still_picture, reduced_still_picture_header, timing_info_present_flag, initial_display_delay_present_flag,
    // operating_points_cnt_minus_1 (5), operating_point_idc (12), seq_level_idx (5), and seq_tier from level 4.0 on (5.5.1).
    guard header[0] & 0b1111_1100 == 0 else { return nil }
    level = header[3] >> 3
    isHighTier = level > 7 && header[3] & 0b100 != 0
  }

  /// The payload of the first OBU that is one (5.3.2).
  private static func sequenceHeader(_ packet: [UInt8]) -> [UInt8]? {
    var rest = packet[...]
    while let first = rest.popFirst() {
      let (type, hasExtension, hasSize) = (first >> 3 & 15, first & 4 != 0, first & 2 != 0)
      if hasExtension, rest.popFirst() == nil { return nil }
      var size = hasSize ? 0 : rest.count
      if hasSize {
        for place in 0..<8 {
          guard let byte = rest.popFirst() else { return nil }
          size |= Int(byte & 127) << (7 * place)
          if byte < 128 { break }
        }
      }
      guard size <= rest.count else { return nil }
      if type == 1 { return Array(rest.prefix(size)) }
      rest = rest.dropFirst(size)
    }
    return nil
  }

  /// The body of an `stsd` box that says this. mp4mux 1.22 begins the box with four bytes of nothing (`build_av1C_extension`), where the
  /// configuration's marker is to be.
  package func description(_ description: [UInt8]) -> [UInt8] {
    // Version and flags, the number of entries; fields of a visual sample entry.
    guard let entry = Box.all(in: description.dropFirst(8)).first, entry.type == "av01", entry.body.count >= 78 else {
      return description
    }
    let fields = entry.body.prefix(78)
    // A marker and version 1; the profile and the level; 4:2:0; no delay.
    let configuration = Box.bytes("av1C", [0x81, level, isHighTier ? 0x8C : 0x0C, 0])
    let others = Box.all(in: description[entry.body.dropFirst(78)]).filter { $0.type != "av1C" }.flatMap {
      Box.bytes($0.type, Array(description[$0.body]))
    }
    return Array(description.prefix(8)) + Box.bytes("av01", Array(description[fields]), configuration, others)
  }
}
