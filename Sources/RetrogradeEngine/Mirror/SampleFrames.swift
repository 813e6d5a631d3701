/// Reversal of audio samples.
public enum SampleFrames {
  /// Reverses interleaved PCM in place, sample frame by sample frame. The samples of one instant
  /// keep their order, so that the left channel stays the left channel.
  ///
  /// - Parameters:
  ///   - bytes: complete sample frames, interleaved.
  ///   - bytesPerFrame: channels times bytes per sample, 1 or more. Bytes after the last complete
  ///     frame are not changed.
  public static func reverse(_ bytes: UnsafeMutableRawBufferPointer, bytesPerFrame: Int) {
    switch bytesPerFrame {
    case 1: reverse(bytes, as: UInt8.self)
    case 2: reverse(bytes, as: UInt16.self)
    case 3: reverse(bytes, as: (UInt16, UInt8).self)
    case 4: reverse(bytes, as: UInt32.self)
    case 6: reverse(bytes, as: (UInt32, UInt16).self)
    case 8: reverse(bytes, as: UInt64.self)
    case 16: reverse(bytes, as: SIMD2<UInt64>.self)
    default: swapFrames(bytes, bytesPerFrame)
    }
  }

  /// Swaps each sample frame as one value of type `Word`, so that the loop vectorises.
  private static func reverse<Word>(_ bytes: UnsafeMutableRawBufferPointer, as word: Word.Type) {
    let size = MemoryLayout<Word>.size
    var low = 0
    var high = (bytes.count / size - 1) * size
    while low < high {
      let first = bytes.loadUnaligned(fromByteOffset: low, as: Word.self)
      let last = bytes.loadUnaligned(fromByteOffset: high, as: Word.self)
      bytes.storeBytes(of: last, toByteOffset: low, as: Word.self)
      bytes.storeBytes(of: first, toByteOffset: high, as: Word.self)
      low += size
      high -= size
    }
  }

  private static func swapFrames(_ bytes: UnsafeMutableRawBufferPointer, _ bytesPerFrame: Int) {
    guard bytesPerFrame > 0 else { return }
    var low = 0
    var high = (bytes.count / bytesPerFrame - 1) * bytesPerFrame
    while low < high {
      for byte in 0..<bytesPerFrame { bytes.swapAt(low + byte, high + byte) }
      low += bytesPerFrame
      high -= bytesPerFrame
    }
  }
}
