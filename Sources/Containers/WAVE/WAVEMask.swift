/// Channel mask that wavenc does not write into the header of a WAVE file
/// (`Quirk.wavencChannelMask`).
package struct WAVEMask {
  /// Value for `dwChannelMask` of `WAVEFORMATEXTENSIBLE`.
  private let mask: UInt32

  /// Bit number in `dwChannelMask` for each `GstAudioChannelPosition`; nil if WAVE lacks the
  /// position.
  private static let bits: [Int?] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, nil, 9, 10, 12, 14, 13, 11, 15, 17, nil, nil, 16,
  ]

  /// Creates the mask from GStreamer channel positions.
  /// - Parameter places: one bit per `GstAudioChannelPosition`.
  /// - Returns: nil if WAVE lacks one of the positions, or has them in another order than
  ///   GStreamer.
  package init?(places: UInt64) {
    let used = (0..<64).filter { places & 1 << $0 != 0 }
    let bits = used.compactMap { $0 < WAVEMask.bits.count ? WAVEMask.bits[$0] : nil }
    guard !bits.isEmpty, bits.count == used.count, zip(bits, bits.dropFirst()).allSatisfy({ $0 < $1 }) else {
      return nil
    }
    mask = bits.reduce(0) { $0 | 1 << UInt32($1) }
  }

  /// Converts a mask to GStreamer channel positions.
  /// - Parameter mask: value of `dwChannelMask`.
  /// - Returns: one bit per `GstAudioChannelPosition`.
  package static func places(of mask: Int) -> UInt64 {
    bits.enumerated().reduce(0) { places, pair in
      places | (pair.element.map { mask >> $0 & 1 == 1 } ?? false ? 1 << UInt64(pair.offset) : 0)
    }
  }

  /// Sets the mask in a file that has `WAVEFORMATEXTENSIBLE` with a mask of 0.
  /// - Throws: ``FileError``.
  package func apply(to path: String) throws {
    guard let file = RandomAccessFile(path, forWriting: true) else { throw FileError.last }
    guard let format = WAVEHeader.chunk("fmt ", in: file), format.size >= 40,
      file.number(at: format.body, 2, isLittleEndian: true) == 0xFFFE,
      file.number(at: format.body + 20, 4, isLittleEndian: true) == 0
    else { return }
    guard file.write(withUnsafeBytes(of: mask.littleEndian, Array.init), at: format.body + 20) else {
      throw FileError.last
    }
  }
}
