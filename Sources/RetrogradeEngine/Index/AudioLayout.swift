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
  /// All bytes are 0.
  var isSilent = false
  /// Number of the segment that it belongs to (`PacketTimestamps.edits`).
  var segment = 0
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
  /// Priming that the demuxer cut off, after which the first packet has the timestamp 0 (`GaplessInfo.cut`).
  var cutPriming = ClockTime.zero
  /// True if buffers follow each other without gaps, and their timestamps say nothing.
  var ignoresTimestamps = false
  /// Timestamps may be this far off the count of samples before that means a gap: containers round to a millisecond and
  /// more, and MPEG's clocks jitter. It is what GStreamer's audio sinks allow by default (`alignment-threshold`).
  static let tolerance = ClockTime(nanoseconds: 40_000_000)

  /// - Parameter fit: the wanted part of the decoded audio.
  /// - Returns: the chunks, ascending and without overlap, cut to the segment, the anchor that places them,
  ///   and whether the place is known to the sample.
  /// - Throws: ``InexactStretch`` where `fit` asks for more than can be known.
  func place(
    _ buffers: [DecodedAudio], _ fit: AudioFit = AudioFit()
  ) throws(InexactStretch) -> (chunks: [AudioChunk], anchor: AudioAnchor?, isPlaced: Bool) {
    let fillings = fillings(buffers)
    let nominals = nominals(buffers, fillings)
    var positions = positions(buffers, nominals, fillings, from: beginning(buffers, nominals))
    let anchor = AudioAnchor(buffers, positions: positions, nominals: nominals, rate: rate)
    var isPlaced = true
    if let origin = fit.origin, let first = positions.first {
      if let shift = anchor?.shift(to: origin, rate: rate) {
        positions = self.positions(buffers, nominals, fillings, from: first + shift)
      } else if fit.isExact {
        throw InexactStretch(reason: "where its audio belongs is not known to the sample")
      } else {
        isPlaced = false
      }
    }
    return (chunks(buffers, at: positions, fillings, fit), anchor, isPlaced)
  }

  /// `chunks`, followed by `more`, whose samples lie from `offset` on in the spool, as far as they are later.
  static func append(_ more: [AudioChunk], offset: Int, to chunks: [AudioChunk]) -> [AudioChunk] {
    var all = chunks
    for var chunk in more {
      let overlap = max((all.last.map { $0.position + $0.count } ?? chunk.position) - chunk.position, 0)
      guard overlap < chunk.count else { continue }
      chunk = AudioChunk(
        position: chunk.position + overlap, count: chunk.count - overlap, offset: chunk.offset + offset + overlap)
      if let last = all.last, last.position + last.count == chunk.position, last.offset + last.count == chunk.offset {
        all[all.count - 1].count += chunk.count
      } else {
        all.append(chunk)
      }
    }
    return all
  }

  private func chunks(
    _ buffers: [DecodedAudio], at positions: [Int], _ fillings: Set<Int>, _ fit: AudioFit
  ) -> [AudioChunk] {
    var chunks: [AudioChunk] = []
    var offset = 0
    for (index, (buffer, position)) in zip(buffers, positions).enumerated() {
      if fillings.contains(index) {
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

  /// Places of the buffers by their timestamps.
  private func nominals(_ buffers: [DecodedAudio], _ fillings: Set<Int>) -> [Int?] {
    if ignoresTimestamps { return buffers.map { _ in nil } }
    // If a decoder gives nothing for its first packets (AAC's often do), GstAudioDecoder stamps its first
    // output with the time of the first packet, and all that follows is early. Fewer buffers out than packets
    // in tell that apart from a decoder that works one packet behind.
    let isEarly = packetCount.map { $0 > buffers.count } ?? false
    return buffers.indices.map { index in
      let buffer = buffers[index]
      let isFilled = fillings.contains(index - 1)
      return (isEarly || isFilled ? buffer.packetStamp ?? buffer.stamp : buffer.stamp).map(position)
    }
  }

  private func position(_ stamp: ClockTime) -> Int { segment.streamTime(of: stamp).sampleIndex(rate: rate) }

  /// Places of the buffers: each after the one before, unless there is a gap.
  /// - Parameter start: place of the first one; nil: by its timestamp.
  private func positions(
    _ buffers: [DecodedAudio], _ nominals: [Int?], _ fillings: Set<Int>, from start: Int?
  ) -> [Int] {
    let tolerance = AudioLayout.tolerance.sampleIndex(rate: rate)
    var next = start
    return zip(buffers.indices, nominals).map { index, nominal in
      var position = next ?? nominal ?? 0
      if fillings.contains(index) { return position }
      // Timestamps that run back are corrected: audio goes on where it was.
      if let nominal, let next {
        let undecoded = undecoded(before: index, in: buffers)
        if undecoded > 0, abs(nominal - next - undecoded) < buffers[index].count / 2 {
          position = next + undecoded
        } else if nominal - next > tolerance {
          position = nominal
        }
      }
      next = position + buffers[index].count
      return position
    }
  }

  /// Length of the packets that the decoder gave nothing for since the buffer before, if each is as long as this one.
  private func undecoded(before index: Int, in buffers: [DecodedAudio]) -> Int {
    guard index > 0, let before = buffers[index - 1].packet, let packet = buffers[index].packet else { return 0 }
    return max(packet - before - 1, 0) * buffers[index].count
  }

  /// Numbers of the buffers that are silence which the decoder made up: another one of the same packet follows, and
  /// between that packet and the audio before it there is as much time.
  private func fillings(_ buffers: [DecodedAudio]) -> Set<Int> {
    guard fillsGaps, !ignoresTimestamps else { return [] }
    // Timestamps on both sides may be rounded to a millisecond.
    let rounding = ClockTime(nanoseconds: 2_000_000).sampleIndex(rate: rate)
    var fillings: Set<Int> = []
    var end: Int?
    for (index, buffer) in buffers.enumerated() {
      let isFilled = fillings.contains(index - 1)
      if buffer.isSilent, let packet = buffer.packet, buffers.indices.contains(index + 1),
        buffers[index + 1].packet == packet, let end, let next = buffer.packetStamp.map(position),
        next - end >= buffer.count - rounding
      {
        fillings.insert(index)
      } else {
        end = (isFilled ? buffer.packetStamp : buffer.stamp).map { position($0) + buffer.count }
      }
    }
    return fillings
  }

  /// Start of audio whose first timestamp is 0 although it begins elsewhere; nil for other audio.
  ///
  /// There is no timestamp for that: oggdemux gives 0 to all that comes before 0 in an Opus stream whose
  /// first page ends earlier than what is on it (RFC 7845, 4.1, forbids it, and live streams have it), and
  /// opusdec then leaves out less than it should. matroskademux gives 0 to Opus that begins within its priming
  /// (`Quirk.matroskademuxOpusStart`). The timestamps that follow tell how much that is.
  private func beginning(_ buffers: [DecodedAudio], _ nominals: [Int?]) -> Int? {
    let head = nominals.prefix { $0 == 0 }.count
    guard head > 0, head < nominals.count, let next = nominals[head] else { return nil }
    let start = next - buffers[..<head].reduce(0) { $0 + $1.count }
    if start < 0 { return head > 1 ? start : nil }
    // FFmpeg rounds the first two times to a millisecond, each in another way.
    let least = ClockTime(nanoseconds: 1_500_000).sampleIndex(rate: rate)
    let most = (cutPriming + ClockTime(nanoseconds: 1_000_000)).sampleIndex(rate: rate)
    return cutPriming > .zero && (least...max(least, most)).contains(start) ? start : nil
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
