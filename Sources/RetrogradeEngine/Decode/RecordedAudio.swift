package import GStreamer

/// Audio that arrives in buffers and can't be requested again, stored in the spool until it is
/// played.
package struct RecordedAudio {
  private let caps: Caps
  private let spool: Spool
  private var bytes = 0

  /// - Parameter caps: caps of the audio, interleaved.
  /// - Throws: ``RetrogradeError`` if no spool can be created.
  package init(_ caps: Caps, _ resources: Resources) throws {
    self.caps = caps
    spool = try Spool(directory: resources.spoolDirectory)
  }

  /// Appends the bytes of a buffer.
  package mutating func add(_ samples: UnsafeRawBufferPointer) throws {
    _ = try spool.append(samples)
    bytes += samples.count
  }

  /// Track of all audio so far, from time 0, ready to be played; nil if the caps do not describe
  /// raw audio.
  package var track: AudioTrack? {
    guard let size = caps.bytesPerSampleFrame, size > 0 else { return nil }
    let chunks = bytes < size ? [] : [AudioChunk(position: 0, count: bytes / size, offset: 0)]
    return AudioTrack(caps: caps, codec: caps, tags: nil, chunks: chunks, store: spool)
  }
}
