/// Format of a WAVE file's samples (`WAVEFORMATEX` and `WAVEFORMATEXTENSIBLE`, Microsoft).
package struct PCMFormat: Sendable {
  /// Sample rate, in sample frames per second.
  package let rate: Int
  package let channels: Int
  /// Bytes per sample frame.
  package let frameBytes: Int
  /// GStreamer format, such as `S16LE` or `F32LE`; nil for compressed samples, and for sample sizes
  /// other than 8, 16, 24 and 32 bits (integers) or 32 and 64 bits (floating point).
  package let name: String?

  /// - Parameter chunk: offset and size in bytes of the body of the `fmt ` chunk.
  /// - Returns: nil if the chunk is truncated, or its values are not plausible.
  init?(_ file: RandomAccessFile, at chunk: (body: Int, size: Int)) {
    func field(_ offset: Int, _ count: Int) -> Int? {
      file.number(at: chunk.body + offset, count, isLittleEndian: true)
    }
    guard let tag = field(0, 2), let channels = field(2, 2), let rate = field(4, 4), let frameBytes = field(12, 2),
      let bits = field(14, 2), channels > 0, rate > 0, frameBytes > 0
    else { return nil }
    self.rate = rate
    self.channels = channels
    self.frameBytes = frameBytes
    // The extensible form has a 16-byte identifier, which begins with the format tag.
    let kind = tag == 0xFFFE && chunk.size >= 40 ? field(24, 2) : tag
    name =
      switch (kind, bits) {
      case _ where frameBytes != channels * ((bits + 7) / 8): nil
      case (1, 8): "U8"
      case (1, 16): "S16LE"
      case (1, 24): "S24LE"
      case (1, 32): "S32LE"
      case (3, 32): "F32LE"
      case (3, 64): "F64LE"
      default: nil
      }
  }
}
