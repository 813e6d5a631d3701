package import GStreamer

/// Audio that arrives in pieces and can't be requested again; kept in the spool until it is played.
package struct RecordedAudio {
  private let caps: Caps
  private let spool: Spool
  private var bytes = 0

  /// - Parameter caps: caps of all samples, interleaved.
  /// - Throws: ``RetrogradeError`` if no spool can be created.
  package init(_ caps: Caps, _ resources: Resources) throws {
    self.caps = caps
    spool = try Spool(directory: resources.spoolDirectory)
  }

  /// Appends samples.
  package mutating func add(_ samples: UnsafeRawBufferPointer) throws {
    _ = try spool.append(samples)
    bytes += samples.count
  }

  /// Track of all samples so far, from time 0, ready to be played; nil if the caps are not those of
  /// samples.
  package var track: AudioTrack? {
    guard let size = caps.bytesPerSampleFrame, size > 0 else { return nil }
    let chunks = bytes < size ? [] : [AudioChunk(position: 0, count: bytes / size, offset: 0)]
    return AudioTrack(caps: caps, codec: caps, tags: nil, chunks: chunks, store: spool)
  }
}
