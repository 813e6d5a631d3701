import MediaTime

/// A stretch of decoded sound: where in the presentation it belongs and where in the spool it lies, in sample frames.
struct AudioChunk: Hashable, Sendable {
  /// The place of the first sample frame, counted from stream time 0.
  var position: Int
  var count: Int
  /// The place in the spool.
  var offset: Int
}

/// One buffer that an audio decoder gave out.
struct DecodedAudio: Hashable, Sendable {
  /// The timestamp that GStreamer gave it.
  var stamp: ClockTime?
  /// The timestamp of the packet that the decoder was working on when it gave this out.
  var packetStamp: ClockTime?
  /// In sample frames.
  var count: Int
}

/// Puts decoded sound where it belongs in the presentation. Pure arithmetic.
struct AudioLayout: Sendable {
  var rate: Int
  var segment: Segment
  /// Packets that went into the decoder; nil where there was none (raw sound).
  var packetCount: Int?
  /// Timestamps may be this far off the count of samples before that means a gap: containers round to a millisecond and
  /// more, and MPEG's clocks jitter. It is what GStreamer's audio sinks allow by default (`alignment-threshold`).
  static let tolerance = ClockTime(nanoseconds: 40_000_000)

  /// - Returns: the chunks, ascending and without overlap, cut to the segment.
  func place(_ buffers: [DecodedAudio]) -> [AudioChunk] {
    // Where a decoder gave nothing for its first packets (AAC's often do), GstAudioDecoder stamps its first output with
    // the time of the first packet, and all that follows is early. Fewer buffers out than packets in tell that apart
    // from a decoder that works one packet behind.
    let isEarly = packetCount.map { $0 > buffers.count } ?? false
    let tolerance = AudioLayout.tolerance.sampleIndex(rate: rate)
    var chunks: [AudioChunk] = []
    var next: Int?
    var offset = 0
    for buffer in buffers {
      let stamp = isEarly ? buffer.packetStamp ?? buffer.stamp : buffer.stamp
      let nominal = stamp.map { segment.streamTime(of: $0).sampleIndex(rate: rate) }
      var position = next ?? nominal ?? 0
      // Timestamps that run back are put right: sound goes on where it was.
      if let nominal, let next, nominal - next > tolerance { position = nominal }
      if let last = chunks.last, last.position + last.count == position {
        chunks[chunks.count - 1].count += buffer.count
      } else {
        chunks.append(AudioChunk(position: position, count: buffer.count, offset: offset))
      }
      offset += buffer.count
      next = position + buffer.count
    }
    let start = segment.time.sampleIndex(rate: rate)
    let end = segment.streamEnd?.sampleIndex(rate: rate) ?? Int.max
    return clipped(chunks, start, end)
  }

  private func clipped(_ chunks: [AudioChunk], _ start: Int, _ end: Int) -> [AudioChunk] {
    chunks.compactMap { chunk in
      let low = max(chunk.position, start)
      let high = min(chunk.position + chunk.count, end)
      guard low < high else { return nil }
      return AudioChunk(position: low, count: high - low, offset: chunk.offset + low - chunk.position)
    }
  }
}
