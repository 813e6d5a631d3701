import MediaTime

/// A stretch of decoded audio: where in the presentation it belongs and where in the spool it lies, in sample frames.
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
  /// Number of the packet that the decoder was working on.
  var packet: Int?
}

/// Puts decoded audio where it belongs in the presentation. Pure arithmetic.
struct AudioLayout: Sendable {
  var rate: Int
  var segment: Segment
  /// Packets that went into the decoder; nil where there was none (raw audio).
  var packetCount: Int?
  /// True for flacdec. libFLAC 1.4 and later put silence before a frame for those missing before it, 5 s at the most.
  /// GstAudioDecoder stamps this silence with the packet's time, and the frame with a later one.
  var fillsGaps = false
  /// Timestamps may be this far off the count of samples before that means a gap: containers round to a millisecond and
  /// more, and MPEG's clocks jitter. It is what GStreamer's audio sinks allow by default (`alignment-threshold`).
  static let tolerance = ClockTime(nanoseconds: 40_000_000)

  /// - Parameter fit: what is wanted of what was decoded.
  /// - Returns: the chunks, ascending and without overlap, cut to the segment, and what tells where they are.
  /// - Throws: ``InexactStretch`` where `fit` asks for more than can be known.
  func place(
    _ buffers: [DecodedAudio], _ fit: AudioFit = AudioFit()
  ) throws(InexactStretch) -> (chunks: [AudioChunk], anchor: AudioAnchor?) {
    let nominals = nominals(buffers)
    var positions = positions(buffers, nominals, from: beginning(buffers, nominals))
    let anchor = AudioAnchor(buffers, positions: positions, nominals: nominals, rate: rate)
    if let origin = fit.origin, let first = positions.first {
      guard let shift = anchor?.shift(to: origin, rate: rate) else {
        throw InexactStretch(reason: "where its audio belongs is not known to the sample")
      }
      positions = self.positions(buffers, nominals, from: first + shift)
    }
    return (chunks(buffers, at: positions, fit), anchor)
  }

  private func chunks(_ buffers: [DecodedAudio], at positions: [Int], _ fit: AudioFit) -> [AudioChunk] {
    var chunks: [AudioChunk] = []
    var offset = 0
    for (index, (buffer, position)) in zip(buffers, positions).enumerated() {
      if isFilling(index, of: buffers) {
        offset += buffer.count
        continue
      }
      if let last = chunks.last, last.position + last.count == position {
        chunks[chunks.count - 1].count += buffer.count
      } else {
        chunks.append(AudioChunk(position: position, count: buffer.count, offset: offset))
      }
      offset += buffer.count
    }
    let start = max(segment.time, fit.start ?? segment.time).sampleIndex(rate: rate)
    let end = [segment.streamEnd, fit.end].compactMap { $0 }.min()?.sampleIndex(rate: rate) ?? Int.max
    return clipped(chunks, start, end)
  }

  /// Where the buffers belong by their timestamps.
  private func nominals(_ buffers: [DecodedAudio]) -> [Int?] {
    // Where a decoder gave nothing for its first packets (AAC's often do), GstAudioDecoder stamps its first output with
    // the time of the first packet, and all that follows is early. Fewer buffers out than packets in tell that apart
    // from a decoder that works one packet behind.
    let isEarly = packetCount.map { $0 > buffers.count } ?? false
    return buffers.indices.map { index in
      let buffer = buffers[index]
      let isFilled = index > 0 && isFilling(index - 1, of: buffers)
      return (isEarly || isFilled ? buffer.packetStamp ?? buffer.stamp : buffer.stamp).map {
        segment.streamTime(of: $0).sampleIndex(rate: rate)
      }
    }
  }

  /// Where the buffers belong: each after the one before, unless there is a gap.
  /// - Parameter start: where the first one belongs; nil: where its timestamp says.
  private func positions(_ buffers: [DecodedAudio], _ nominals: [Int?], from start: Int?) -> [Int] {
    let tolerance = AudioLayout.tolerance.sampleIndex(rate: rate)
    var next = start
    return zip(buffers.indices, nominals).map { index, nominal in
      var position = next ?? nominal ?? 0
      if isFilling(index, of: buffers) { return position }
      // Timestamps that run back are put right: audio goes on where it was.
      if let nominal, let next, nominal - next > tolerance { position = nominal }
      next = position + buffers[index].count
      return position
    }
  }

  /// True if a buffer is silence that the decoder made up: another one of the same packet follows.
  private func isFilling(_ index: Int, of buffers: [DecodedAudio]) -> Bool {
    guard fillsGaps, index + 1 < buffers.count, let packet = buffers[index].packet else { return false }
    return buffers[index + 1].packet == packet
  }

  /// Where the audio begins that begins before 0; nil where it does not.
  ///
  /// There is no timestamp for that: oggdemux gives 0 to all that comes before 0 in an Opus stream whose first page ends
  /// earlier than what is on it (RFC 7845, 4.1, forbids it, and live streams have it), and opusdec then leaves out less
  /// than it should. What follows tells how much that is.
  private func beginning(_ buffers: [DecodedAudio], _ nominals: [Int?]) -> Int? {
    let head = nominals.prefix { $0 == 0 }.count
    guard head > 1, head < nominals.count, let next = nominals[head] else { return nil }
    let count = buffers[..<head].reduce(0) { $0 + $1.count }
    return next < count ? next - count : nil
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
