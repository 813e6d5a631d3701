/// Priming and padding of an MP3 file, written into the info frame because xingmux omits them
/// (`Quirk.xingmuxPadding`).
///
/// Priming and padding overwrite the seek table, because the info frame has no room for more
/// fields. The declared number of frames is corrected as well (`Quirk.xingmuxFrameCount`).
package struct MP3Header {
  /// Number of sample frames that are decoded before the audio starts.
  var priming: Int
  /// Number of sample frames of the audio itself.
  var presentedSamples: Int

  package init(priming: Int, presentedSamples: Int) {
    self.priming = priming
    self.presentedSamples = presentedSamples
  }

  /// Writes the values into the info frame of a finished file. Does nothing if there is no info
  /// frame with a seek table, or if the priming or padding exceeds twelve bits.
  /// - Throws: ``FileError``.
  package func apply(to path: String) throws {
    guard let file = RandomAccessFile(path, forWriting: true) else { throw FileError.last }
    // The info frame must have the number of frames, the number of bytes, and a seek table.
    guard let frame = InfoFrame(file), frame.bytes[frame.info + 7] & 7 == 7 else { return }
    let frames = frame.count(in: file)
    let delay = priming - InfoFrame.decoderDelay
    let padding = frames * frame.samplesPerFrame - delay - presentedSamples
    // Priming and padding have twelve bits each.
    guard (0..<4096).contains(delay), (0..<4096).contains(padding) else { return }
    let pads = delay << 12 | padding
    let tag =
      Array("LAME3.100".utf8) + [UInt8](repeating: 0, count: 12)
      + [16, 8, 0].map { UInt8(truncatingIfNeeded: pads >> $0) }
    // Keep the numbers of frames and bytes; overwrite the seek table.
    let rest = tag + [UInt8](repeating: 0, count: 100 - tag.count)
    let number = withUnsafeBytes(of: UInt32(truncatingIfNeeded: frames).bigEndian, Array.init)
    guard file.write([0, 0, 0, 3] + number, at: frame.start + frame.info + 4),
      file.write(rest, at: frame.start + frame.info + 16)
    else { throw FileError.last }
  }
}
