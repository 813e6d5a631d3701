/// Checks the NAL units in packets of H.264 and HEVC. A packet can be moved to any position in the
/// stream if its whole picture is IDR: an IDR picture does not refer to earlier pictures, and
/// restarts POC and `frame_num`. Other intra pictures restart neither POC nor `frame_num`.
struct UnitCheck: Sendable {
  enum Family: Sendable { case h264, h265 }

  private let family: Family
  /// Configuration record from the container; nil if the stream contains all parameter sets.
  private let configuration: [UInt8]?
  /// Size in bytes of the length field before each NAL unit; 0 if start codes separate the units.
  private let lengthSize: Int
  /// Parameter sets that the first IDR packet contains, but the configuration record does not; nil
  /// before that packet.
  private var own: [[UInt8]]?

  init(_ family: Family, _ configuration: [UInt8]?) {
    self.family = family
    self.configuration = configuration
    // Offset of lengthSizeMinusOne in the configuration record (ISO/IEC 14496-15, 5.3.3.1.2 and
    // 8.3.3.1.2).
    let place = family == .h264 ? 4 : 21
    lengthSize = configuration.map { $0.count > place ? Int($0[place] & 3) + 1 : 4 } ?? 0
  }

  /// Kind of a NAL unit.
  private enum Kind {
    case independentSlice
    case otherSlice
    case parameterSet
    /// NAL unit of a further layer or view.
    case furtherLayer
    case other
  }

  private func kind(_ unit: UnsafeRawBufferPointer) -> Kind {
    guard let first = unit.first else { return .other }
    switch family {
    // nal_unit_type (ITU-T H.264, table 7-1).
    case .h264:
      switch first & 31 {
      case 5: return .independentSlice
      case 1...4: return .otherSlice
      case 7, 8, 13: return .parameterSet
      case 14, 15, 20, 21: return .furtherLayer
      default: return .other
      }
    // nal_unit_type (ITU-T H.265, table 7-1): 19 and 20 are IDR_W_RADL and IDR_N_LP.
    case .h265:
      if first & 1 != 0 || unit.count > 1 && unit[1] >> 3 != 0 { return .furtherLayer }
      switch first >> 1 & 63 {
      case 19, 20: return .independentSlice
      case 0...31: return .otherSlice
      case 32...34: return .parameterSet
      default: return .other
      }
    }
  }

  mutating func obstacle(in packet: UnsafeRawBufferPointer) -> PacketCheck.Obstacle? {
    var sets: [[UInt8]] = []
    var hasPicture = false
    for range in units(packet) {
      let unit = UnsafeRawBufferPointer(rebasing: packet[range])
      switch kind(unit) {
      case .independentSlice: hasPicture = true
      case .other: break
      case .otherSlice: return .dependsOnOthers
      case .furtherLayer: return .isNotOneFrame
      case .parameterSet:
        let bytes = Array(unit)
        if !(configuration?.contains(bytes) ?? false) { sets.append(bytes) }
      }
    }
    guard hasPicture else { return .isNoFrame }
    // A parameter set stays active until another one replaces it, so packets can be reordered only
    // if all packets have the same sets.
    if let own { return own == sets ? nil : .needsParameterSets }
    own = sets
    return configuration == nil && sets.isEmpty ? .needsParameterSets : nil
  }

  /// Returns the byte ranges of the NAL units in a packet, excluding length fields and start codes.
  private func units(_ packet: UnsafeRawBufferPointer) -> [Range<Int>] {
    configuration == nil ? Self.startCoded(packet) : lengthCoded(packet)
  }

  /// Counts the bytes of slices in a packet. Zeros at the end of a unit do not count: they are
  /// stuffing (`cabac_zero_word`), which a byte stream stores outside of the unit.
  func sliceBytes(in packet: UnsafeRawBufferPointer) -> Int {
    units(packet).reduce(0) { sum, range in
      var unit = UnsafeRawBufferPointer(rebasing: packet[range])
      guard [.independentSlice, .otherSlice].contains(kind(unit)) else { return sum }
      while unit.last == 0 { unit = UnsafeRawBufferPointer(rebasing: unit.dropLast()) }
      return sum + unit.count
    }
  }

  /// Returns the names of the per-picture metadata in a packet. Includes only metadata that no
  /// decoder outputs.
  func dynamicMetadata(in packet: UnsafeRawBufferPointer) -> [String] {
    units(packet).flatMap { range -> [String] in
      let unit = UnsafeRawBufferPointer(rebasing: packet[range])
      guard let first = unit.first else { return [] }
      switch (family, family == .h264 ? first & 31 : first >> 1 & 63) {
      case (.h264, 6): return DynamicMetadata.names(inSEI: unit.dropFirst(1))
      case (.h265, 39), (.h265, 40): return DynamicMetadata.names(inSEI: unit.dropFirst(2))
      // UNSPEC62 contains the reference processing unit of Dolby Vision.
      case (.h265, 62): return ["Dolby Vision"]
      default: return []
      }
    }
  }

  /// Returns the colour labels for which GStreamer has no name, or which GStreamer does not read.
  /// The labels come from the messages (SEI) in a packet, and from the packet's first sequence
  /// parameter set. Without such a set in the packet, the configuration record supplies the set.
  func unnamedColours(in packet: UnsafeRawBufferPointer) -> [String] {
    let found = declaredColours(in: packet)
    return (found.map { ColourCodes.unnamed(matrix: $0.matrix, transfer: $0.transfer) } ?? [])
      + (alternativeTransfer(in: packet, declared: found?.transfer).map { [$0] } ?? [])
  }

  /// Names the transfer function that players should prefer to `declared` (ITU-T H.265, D.2.38:
  /// alternative transfer characteristics). GStreamer does not read this message. nil if the packet
  /// prefers no transfer function, or prefers `declared`.
  private func alternativeTransfer(in packet: UnsafeRawBufferPointer, declared: Int?) -> String? {
    guard let preferred = messages(in: packet).first(where: { $0.type == 147 })?.payload.first.map({ Int($0) }),
      // 2 is "unspecified".
      preferred != 2, preferred != declared
    else { return nil }
    return "the preferred transfer function (\(ColourCodes.transferName(preferred)))"
  }

  /// Returns the messages (SEI) before the slices of a packet.
  private func messages(in packet: UnsafeRawBufferPointer) -> [SEIMessage] {
    units(packet).flatMap { range -> [SEIMessage] in
      let unit = UnsafeRawBufferPointer(rebasing: packet[range])
      switch (family, unit.first.map { family == .h264 ? $0 & 31 : $0 >> 1 & 63 }) {
      case (.h264, 6?): return SEIMessage.all(in: unit.dropFirst(1))
      case (.h265, 39?): return SEIMessage.all(in: unit.dropFirst(2))
      default: return []
      }
    }
  }

  /// Colours in the first sequence parameter set of a packet, or in the configuration record.
  private func declaredColours(in packet: UnsafeRawBufferPointer) -> (transfer: Int, matrix: Int)? {
    inSequenceSet(of: packet) { colours(in: $0) }
  }

  /// Returns the crop of the pictures; nil if neither the packet nor the configuration record has a
  /// whole sequence parameter set.
  func crop(in packet: UnsafeRawBufferPointer) -> PictureCrop? {
    inSequenceSet(of: packet) { set in
      family == .h264 ? H264ParameterSet.crop(in: set) : H265ParameterSet.crop(in: set)
    }
  }

  /// True if a packet declares how its picture contains the two views of stereoscopic video (frame
  /// packing arrangement, ITU-T H.264, D.2.26; H.265, D.2.16).
  func declaresViews(in packet: UnsafeRawBufferPointer) -> Bool {
    messages(in: packet).contains { $0.type == 45 }
  }

  /// Returns what `read` finds in the first sequence parameter set of a packet, or else in that of
  /// the configuration record.
  private func inSequenceSet<Value>(
    of packet: UnsafeRawBufferPointer, _ read: (UnsafeRawBufferPointer) -> Value?
  ) -> Value? {
    let inPacket = units(packet).lazy.map { UnsafeRawBufferPointer(rebasing: packet[$0]) }.first(where: isSequenceSet)
    if let inPacket, let found = read(inPacket) { return found }
    guard let configuration else { return nil }
    return configuration.withUnsafeBytes { bytes in
      sequenceSet(in: bytes).flatMap { read(UnsafeRawBufferPointer(rebasing: bytes[$0])) }
    }
  }

  private func colours(in set: UnsafeRawBufferPointer) -> (transfer: Int, matrix: Int)? {
    family == .h264 ? H264ParameterSet.colours(in: set) : H265ParameterSet.colours(in: set)
  }

  /// True for a sequence parameter set: type 7 of H.264, type 33 (`SPS_NUT`) of HEVC.
  private func isSequenceSet(_ unit: UnsafeRawBufferPointer) -> Bool {
    guard let first = unit.first else { return false }
    return family == .h264 ? first & 31 == 7 : first >> 1 & 63 == 33
  }

  /// Returns the range of the first sequence parameter set in a configuration record.
  private func sequenceSet(in record: UnsafeRawBufferPointer) -> Range<Int>? {
    func sized(_ place: Int) -> Range<Int>? {
      guard record.count >= place + 2 else { return nil }
      let end = place + 2 + (Int(record[place]) << 8 | Int(record[place + 1]))
      return end <= record.count ? place + 2..<end : nil
    }
    guard family == .h265 else {
      // The sets start after six bytes; a length precedes each set (ISO/IEC 14496-15, 5.3.3.1.2).
      return record.count > 5 && record[5] & 31 > 0 ? sized(6) : nil
    }
    // Arrays of NAL units start after 23 bytes. Each array begins with the type and the number of
    // its NAL units (ISO/IEC 14496-15, 8.3.3.1.2).
    var place = 23
    while record.count >= place + 3 {
      let (type, count) = (record[place] & 63, Int(record[place + 1]) << 8 | Int(record[place + 2]))
      place += 3
      for _ in 0..<count {
        guard let unit = sized(place) else { return nil }
        if type == 33 { return unit }
        place = unit.upperBound
      }
    }
    return nil
  }

  /// True if an H.264 picture is correct only after decoding earlier pictures, as with gradual
  /// intra refresh. If decoding begins at this packet, the output is correct only after
  /// `recovery_frame_cnt` frames (ITU-T H.264, D.2.8).
  func recoversLater(in packet: UnsafeRawBufferPointer) -> Bool {
    guard family == .h264 else { return false }
    return units(packet).contains { range in
      let unit = UnsafeRawBufferPointer(rebasing: packet[range])
      guard unit.first.map({ $0 & 31 }) == 6 else { return false }
      // `recovery_frame_cnt` is 0 if its first bit is set (Exp-Golomb, 9.1).
      return SEIMessage.all(in: unit.dropFirst()).contains { $0.type == 6 && ($0.payload.first ?? 0x80) & 0x80 == 0 }
    }
  }

  /// Returns the ranges of the units in a packet that stores a length before each unit.
  private func lengthCoded(_ packet: UnsafeRawBufferPointer) -> [Range<Int>] {
    var units: [Range<Int>] = []
    var place = 0
    while place + lengthSize <= packet.count {
      let length = packet[place..<place + lengthSize].reduce(0) { $0 << 8 | Int($1) }
      place += lengthSize
      guard length <= packet.count - place else { break }
      units.append(place..<place + length)
      place += length
    }
    return units
  }

  /// Returns the ranges of the units, without trailing zeros, in a packet that has a start code (0,
  /// 0, 1) before each unit (ITU-T H.264 and H.265, Annex B).
  private static func startCoded(_ packet: UnsafeRawBufferPointer) -> [Range<Int>] {
    var starts: [Int] = []
    var place = 2
    while place < packet.count {
      // A byte above 1 belongs to no start code, so the next start code ends at least three bytes
      // later.
      if packet[place] > 1 {
        place += 3
      } else if packet[place] == 1, packet[place - 1] == 0, packet[place - 2] == 0 {
        starts.append(place + 1)
        place += 3
      } else {
        place += 1
      }
    }
    return starts.indices.map { index in
      var end = index + 1 < starts.count ? starts[index + 1] - 3 : packet.count
      while end > starts[index], packet[end - 1] == 0 { end -= 1 }
      return starts[index]..<end
    }
  }
}
