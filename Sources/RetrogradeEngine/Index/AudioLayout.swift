import MediaTime

/// Contiguous decoded audio, with its position in the presentation and in the spool.
struct AudioChunk: Hashable, Sendable {
  /// Position of the first sample frame, counted in sample frames from stream time 0.
  var position: Int
  var count: Int
  /// Position of the first sample frame in the spool, in sample frames.
  var offset: Int
}

/// Description of one output buffer of an audio decoder.
struct DecodedAudio: Hashable, Sendable {
  /// Timestamp of the buffer from GStreamer.
  var stamp: ClockTime?
  /// Timestamp of the packet that was in the decoder when this buffer was output.
  var packetStamp: ClockTime?
  /// Number of sample frames.
  var count: Int
  /// Number of the packet that was in the decoder when this buffer was output.
  var packet: Int?
  /// True if all bytes are 0.
  var isSilent = false
  /// Number of the buffer's GStreamer segment (`PacketTimestamps.edits`).
  var segment = 0
}

/// Calculates the position of decoded audio in the presentation. This type does not use GStreamer
/// elements, only arithmetic.
struct AudioLayout: Sendable {
  var rate: Int
  var segment: Segment
  /// Number of packets that entered the decoder; nil for raw audio, which has no decoder.
  var packetCount: Int?
  /// True for flacdec: before a frame that follows a gap, libFLAC 1.4 and later outputs silence of
  /// at most 5 s. GstAudioDecoder gives the packet's timestamp to this silence, and a later
  /// timestamp to the frame.
  var fillsGaps = false
  /// Duration of the priming that the demuxer removed (`GaplessInfo.cut`). If the audio begins
  /// between 0 and this duration, the first timestamp is wrongly 0.
  var cutPriming = ClockTime.zero
  /// True for Ogg without Opus. oggdemux counts the samples of the first page from 0, although
  /// audio may begin before 0. The end position that the page declares is then lower than the
  /// number of the page's samples (Vorbis I, A.2). Only later pages have the right timestamps.
  var countsFromZero = false
  /// True if the buffers are contiguous and their timestamps are wrong, so that the timestamps must
  /// be ignored.
  var ignoresTimestamps = false
  /// Largest difference between a timestamp and the sample count that is not a gap. Containers
  /// round to a millisecond or more, and MPEG clocks jitter. GStreamer's audio sinks use the same
  /// default (`alignment-threshold`).
  static let tolerance = ClockTime(nanoseconds: 40_000_000)

  /// - Parameter fit: the wanted part of the decoded audio.
  /// - Returns: the chunks, ascending, without overlap and clipped to the GStreamer segment; the
  ///   anchor of the chunks; and true if the chunks' positions are exact to the sample.
  /// - Throws: ``InexactRange`` if `fit` needs exact positions but they are unknown.
  func place(
    _ buffers: [DecodedAudio], _ fit: AudioFit = AudioFit()
  ) throws(InexactRange) -> (chunks: [AudioChunk], anchor: AudioAnchor?, isPlaced: Bool) {
    let fillings = fillings(buffers)
    let nominals = startingBeforeZero(self.nominals(buffers, fillings), buffers)
    var positions = positions(buffers, nominals, fillings, from: beginning(buffers, nominals))
    let anchor = AudioAnchor(buffers, positions: positions, nominals: nominals, rate: rate)
    var isPlaced = true
    if let origin = fit.origin, let first = positions.first {
      if let shift = anchor?.shift(to: origin, rate: rate) {
        positions = self.positions(buffers, nominals, fillings, from: first + shift)
      } else if fit.isExact {
        throw InexactRange(reason: "where its audio belongs is not known to the sample")
      } else {
        isPlaced = false
      }
    }
    return (chunks(buffers, at: positions, fillings, fit), anchor, isPlaced)
  }

  /// Returns `chunks` with `more` appended; overlapping audio of `more` is removed. `more` starts
  /// at `offset` in the spool.
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

  /// Returns the position of each buffer, in sample frames, according to its timestamp; nil for a
  /// buffer without a usable timestamp.
  private func nominals(_ buffers: [DecodedAudio], _ fillings: Set<Int>) -> [Int?] {
    if ignoresTimestamps { return buffers.map { _ in nil } }
    // If a decoder outputs nothing for the first packets, as AAC decoders often do, GstAudioDecoder
    // gives the first output the first packet's time, so all output has times that are too early.
    // In this case, there are fewer buffers than packets, and the packets' timestamps are used. A
    // decoder that is merely one packet behind outputs as many buffers as packets.
    let isEarly = packetCount.map { $0 > buffers.count } ?? false
    return buffers.indices.map { index in
      let buffer = buffers[index]
      let isFilled = fillings.contains(index - 1)
      return (isEarly || isFilled ? buffer.packetStamp ?? buffer.stamp : buffer.stamp).map(position)
    }
  }

  /// Returns `nominals` with the positions of the first page's buffers moved back, so that the page
  /// ends where the next page begins (``countsFromZero``). The next page's timestamp is right,
  /// although it overlaps the first page.
  private func startingBeforeZero(_ nominals: [Int?], _ buffers: [DecodedAudio]) -> [Int?] {
    guard countsFromZero, nominals.first == .some(0) else { return nominals }
    var end = 0
    for (index, nominal) in nominals.enumerated() {
      guard let nominal, (0...1 << 60).contains(nominal) else { return nominals }
      let early = end - nominal
      end = nominal + buffers[index].count
      // Times in nanoseconds may round to the next sample.
      if abs(early) <= 1 { continue }
      // A later time is a gap. An early time of only the last packet trims the end of the stream.
      guard early > 0, case let next?? = nominals.dropFirst(index + 1).first, (end - 1...end + 1).contains(next)
      else { return nominals }
      return nominals[..<index].map { $0.map { $0 - early } } + nominals[index...]
    }
    return nominals
  }

  private func position(_ stamp: ClockTime) -> Int { segment.streamTime(of: stamp).sampleIndex(rate: rate) }

  /// Returns the positions of the buffers: each buffer follows the previous one, unless there is a
  /// gap.
  /// - Parameter start: position of the first buffer; nil to use its timestamp.
  private func positions(
    _ buffers: [DecodedAudio], _ nominals: [Int?], _ fillings: Set<Int>, from start: Int?
  ) -> [Int] {
    let tolerance = AudioLayout.tolerance.sampleIndex(rate: rate)
    var next = start
    return zip(buffers.indices, nominals).map { index, nominal in
      var position = next ?? nominal ?? 0
      if fillings.contains(index) { return position }
      // Ignore timestamps that run backwards, so that the audio remains contiguous.
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

  /// Returns the total length, in sample frames, of the packets that gave no output between the
  /// previous buffer and the buffer at `index`. Each of these packets is assumed to be as long as
  /// the latter buffer.
  private func undecoded(before index: Int, in buffers: [DecodedAudio]) -> Int {
    guard index > 0, let before = buffers[index - 1].packet, let packet = buffers[index].packet else { return 0 }
    return max(packet - before - 1, 0) * buffers[index].count
  }

  /// Returns the numbers of the buffers that contain only silence inserted by the decoder. Such a
  /// buffer is followed by another buffer of the same packet, and is not longer than the gap before
  /// this packet.
  private func fillings(_ buffers: [DecodedAudio]) -> Set<Int> {
    guard fillsGaps, !ignoresTimestamps else { return [] }
    // The timestamps on both sides of a gap may be rounded to a millisecond.
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

  /// Returns the actual start of audio whose first timestamp is wrongly 0; nil for other audio.
  ///
  /// The actual start follows from later timestamps. Two cases are known:
  /// - If the first page of an Opus stream declares an end before the end of the page's audio,
  ///   oggdemux gives time 0 to all packets that start before 0. RFC 7845, 4.1, forbids such pages,
  ///   but live streams have them. opusdec then drops too little audio.
  /// - matroskademux gives time 0 to Opus that begins within its priming
  ///   (`Quirk.matroskademuxOpusStart`).
  private func beginning(_ buffers: [DecodedAudio], _ nominals: [Int?]) -> Int? {
    let head = nominals.prefix { $0 == 0 }.count
    guard head > 0, head < nominals.count, let next = nominals[head] else { return nil }
    let start = next - buffers[..<head].reduce(0) { $0 + $1.count }
    if start < 0 { return head > 1 ? start : nil }
    // FFmpeg rounds the first two times to milliseconds in different ways, so a difference of 1 ms
    // is not an error, and the start may exceed the priming by 1 ms.
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
