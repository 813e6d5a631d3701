import GStreamer
import MediaTime

/// Concatenated audio samples of several tracks of the same format.
private struct JoinedSamples: SampleStore {
  /// Sample stores, each with its byte range in the joined samples.
  var stores: [(place: Range<Int>, store: any SampleStore)]

  func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws {
    // All samples of an `AudioChunk` are in the same store, so one read needs only one store.
    let number = max(stores.endOfPrefix { $0.place.lowerBound <= offset } - 1, 0)
    try stores[number].store.read(bytes, at: offset - stores[number].place.lowerBound)
  }
}

extension AudioTrack {
  /// Audio from one of several sources of the same format.
  struct Part {
    var track: AudioTrack
    /// Played part of the source, in the source's stream time.
    var span: TimeSpan
    /// Offset from the source's stream time to the time in the joined audio.
    var offset: ClockTime
  }

  /// Joins the audio of several sources in sequence, with silence in any gaps.
  /// - Parameter parts: at least one part.
  init?(joining parts: [Part]) {
    guard let first = parts.first?.track else { return nil }
    var chunks: [AudioChunk] = []
    var stores: [(place: Range<Int>, store: any SampleStore)] = []
    var base = 0
    for part in parts {
      let moved =
        (part.span.start + part.offset).sampleIndex(rate: first.rate)
        - part.span.start.sampleIndex(rate: first.rate)
      let end = max((part.span.end + part.offset).sampleIndex(rate: first.rate) - moved, 0)
      // Samples before the end of the previous source are dropped, so that sources do not overlap.
      let lowest = (chunks.last.map { $0.position + $0.count } ?? Int.min / 2) - moved
      var size = 0
      for chunk in part.track.chunks {
        size = max(size, chunk.offset + chunk.count)
        let heard = chunk.position..<chunk.position + chunk.count
        let kept = heard.clamped(to: min(lowest, end)..<end)
        guard !kept.isEmpty else { continue }
        chunks.append(
          AudioChunk(
            position: kept.lowerBound + moved, count: kept.count,
            offset: base + chunk.offset + kept.lowerBound - chunk.position))
      }
      let bytes = base * first.bytesPerFrame..<(base + size) * first.bytesPerFrame
      stores.append((bytes, part.track.store))
      base += size
    }
    self.init(
      caps: first.caps, codec: first.codec, tags: first.tags, chunks: chunks,
      bitrate: parts.compactMap(\.track.bitrate).max(), store: JoinedSamples(stores: stores))
    disposition = first.disposition
  }

  /// Name of the format, such as `44100 Hz, 2 channels, S16LE`.
  var form: String {
    "\(rate) Hz, \(counted(channels, "channel")), \(caps.string("format") ?? "")"
  }

  /// Converts the audio to the format of another track, and stores the result in the spool. If this
  /// track's samples were counted but not stored, the result's samples are not stored either.
  /// - Throws: ``RetrogradeError``.
  func converted(like other: AudioTrack, of name: String, _ spoolDirectory: String, _ cancellation: Cancellation)
    throws -> AudioTrack
  {
    guard let converter = AudioConverter(from: caps, to: other.caps) else {
      throw RetrogradeError(
        .damagedInput, about: name,
        "its audio (\(form)) can't be converted to the first file's audio format (\(other.form))",
        remedy: "leave out the audio with \(setting: .noAudio)")
    }
    let (start, end) = (span.start.sampleIndex(rate: other.rate), span.end.sampleIndex(rate: other.rate))
    func track(_ count: Int, _ store: any SampleStore) throws -> AudioTrack {
      let chunks = count > 0 ? [AudioChunk(position: start, count: count, offset: 0)] : []
      guard
        let track = AudioTrack(
          caps: other.caps, codec: codec, tags: tags, chunks: chunks, bitrate: bitrate, store: store)
      else {
        throw RetrogradeError(
          .internalFailure, about: name, "GStreamer can't interpret the format of its audio: \(other.caps)")
      }
      return track
    }
    if let spool = store as? Spool, !spool.keepsBytes { return try track(end - start, store) }
    let spool = try Spool(directory: spoolDirectory)
    func append(_ bytes: [UInt8]) throws { _ = try bytes.withUnsafeBytes { try spool.append($0) } }
    let all = frames
    var done = all.lowerBound
    do {
      while done < all.upperBound {
        try cancellation.check()
        let part = done..<min(done + AudioTrack.block, all.upperBound)
        try append(try samples(part, .forward).withUnsafeBytes(converter.convert))
        done = part.upperBound
      }
      // The resampler delays its last samples until more samples follow, so append silence.
      try append(try silence(AudioTrack.echo).withUnsafeBytes(converter.convert) + converter.finish())
    } catch let error as GStreamerError {
      throw RetrogradeError.reading(name, error)
    }
    return try track(min(end - start, try spool.size / other.bytesPerFrame), spool)
  }

  /// Largest number of sample frames that the resampler delays, including rounding.
  private static let echo = 64
  /// Number of sample frames converted at a time.
  private static let block = 1 << 14
}
