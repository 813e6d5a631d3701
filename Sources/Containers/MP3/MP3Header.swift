/// The counts that xingmux leaves out of the first frame of an MP3 file: samples that the encoder
/// added before and after the audio (`Quirk.xingmuxPadding`).
///
/// They replace the table for seeking, which that frame has no room beside. The number of frames is
/// corrected too (`Quirk.xingmuxFrameCount`).
package struct MP3Header {
  /// Sample frames that come out of a decoder before the first of the audio, and those of the audio.
  var priming: Int
  var heard: Int

  package init(priming: Int, heard: Int) {
    self.priming = priming
    self.heard = heard
  }

  /// - Throws: ``FileError``.
  package func apply(to path: String) throws {
    guard let file = RandomAccessFile(path, forWriting: true) else { throw FileError.last }
    // Frames, bytes and the table.
    guard let frame = InfoFrame(file), frame.bytes[frame.info + 7] & 7 == 7 else { return }
    let frames = frame.count(in: file)
    let delay = priming - InfoFrame.decoderDelay
    let padding = frames * frame.samplesPerFrame - delay - heard
    // Twelve bits each.
    guard (0..<4096).contains(delay), (0..<4096).contains(padding) else { return }
    let pads = delay << 12 | padding
    let tag =
      Array("LAME3.100".utf8) + [UInt8](repeating: 0, count: 12)
      + [16, 8, 0].map { UInt8(truncatingIfNeeded: pads >> $0) }
    // The numbers of frames and bytes, and then the bytes of the former table.
    let rest = tag + [UInt8](repeating: 0, count: 100 - tag.count)
    let number = withUnsafeBytes(of: UInt32(truncatingIfNeeded: frames).bigEndian, Array.init)
    guard file.write([0, 0, 0, 3] + number, at: frame.start + frame.info + 4),
      file.write(rest, at: frame.start + frame.info + 16)
    else { throw FileError.last }
  }
}
