import GStreamer

/// Audio crossfade at cuts, to avoid clicks.
enum Crossfade {
  /// Returns `samples` with a crossfade: from sample frame `place` on, `samples` fade in and `tail`
  /// fades out.
  static func mix(_ tail: [UInt8], into samples: [UInt8], at place: Int = 0, _ track: AudioTrack) throws -> [UInt8] {
    let first = place * track.bytesPerFrame
    let count = min(tail.count, samples.count - first)
    guard count > 0 else { return samples }
    let floats = track.caps.setting("format", "(string)F32LE")
    guard let toFloats = AudioConverter(from: track.caps, to: floats),
      let back = AudioConverter(from: floats, to: track.caps)
    else { return samples }
    let going = try floatSamples(tail[..<count], toFloats)
    var coming = try floatSamples(samples[first..<first + count], toFloats)
    let frames = Float(coming.count / track.channels)
    for index in coming.indices {
      let share = (Float(index / track.channels) + 0.5) / frames
      coming[index] = coming[index] * share + going[index] * (1 - share)
    }
    var mixed = samples
    mixed.replaceSubrange(first..<first + count, with: try coming.withUnsafeBytes(back.convert))
    return mixed
  }

  static func mix(_ tail: [UInt8], into buffer: Buffer, _ track: AudioTrack) throws -> Buffer {
    let mixed = try mix(tail, into: try buffer.withBytes(Array.init), track)
    return try Buffer(size: mixed.count) { $0.copyBytes(from: mixed) }
  }

  private static func floatSamples(_ bytes: ArraySlice<UInt8>, _ converter: AudioConverter) throws -> [Float] {
    try bytes.withUnsafeBytes { try converter.convert($0).withUnsafeBytes { Array($0.bindMemory(to: Float.self)) } }
  }
}
