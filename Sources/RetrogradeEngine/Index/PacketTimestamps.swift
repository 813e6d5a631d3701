import Containers
package import GStreamer
import MediaTime
import Quirks
import Synchronization

/// Finds the packet from which a decoder made each output buffer.
package final class PacketTimestamps: Sendable {
  /// Packet that entered the decoder.
  struct Packet: Sendable {
    var stamp: ClockTime?
    /// Packet number, from 1.
    var number: Int
  }

  private struct State {
    var segments: [Segment] = []
    var segment: Segment? { segments.last }
    var hasDecoder = false
    var current: ClockTime?
    var packetCount = 0
    var packetBytes = 0
    var sources: [Packet] = []
    var taken = 0
    var fillsGaps = false
    /// True if the decoder outputs one buffer per packet. ``lost`` then counts packets without
    /// output.
    var isOneForOne = false
    var isSilent = false
    /// Number of packets without output, or of WavPack packets with a block that wavpackdec muted.
    var lost = 0
    /// Time from the first lost packet to the last.
    var span: TimeSpan?
    /// Block headers in the last WavPack packet that entered the decoder.
    var blocks: [WavPackBlock] = []

    mutating func lose() {
      lost += 1
      if let time = current.map({ segment?.streamTime(of: $0) ?? $0 }) {
        span = TimeSpan(start: span?.start ?? time, end: time)
      }
    }
  }
  private let state = Mutex(State())

  /// Opens the GStreamer segments before `element` (removes their limits), so that neither this
  /// element nor any later one clips buffers. Decoders clip by timestamps that can be wrong (see
  /// ``AudioLayout``). Parsers drop packets before the segment's start, although the decoder needs
  /// them for the packets that follow.
  func openSegments(before element: Element) {
    element.staticPad("sink")?.openSegments { [self] in segment($0) }
  }

  /// Records which packet each output buffer of `decoder` belongs to.
  func watch(_ decoder: Element) {
    watchesDecoder(
      isOneForOne: decoder.factoryName?.hasPrefix("avdec_") ?? false, fillsGaps: decoder.factoryName == "flacdec")
    let mutes = decoder.factoryName == "wavpackdec" && Quirk.wavpackdecMutedBlock.applies
    decoder.staticPad("sink")?.onBuffer { [self] packet in
      self.packet(packet)
      if mutes { noteBlocks(of: packet) }
      return nil
    }
    decoder.staticPad("src")?.onBuffer { [self] samples in
      if mutes { compareBlocks(with: samples) }
      output()
      return nil
    }
  }

  /// Clears the recorded packets and GStreamer segments.
  func reset() {
    state.withLock { state in
      var new = State()
      (new.hasDecoder, new.isOneForOne) = (state.hasDecoder, state.isOneForOne)
      new.fillsGaps = state.fillsGaps
      state = new
    }
  }

  /// - Returns: number of the GStreamer segment.
  private func segment(_ segment: Segment) -> Int {
    state.withLock { state in
      state.segments.append(segment)
      return state.segments.count - 1
    }
  }

  /// Last GStreamer segment that was opened (see ``openSegments(before:)``), with its original
  /// limits; nil if no GStreamer segment was opened.
  var segment: Segment? { state.withLock { $0.segment } }

  /// Returns the decoded audio of each GStreamer segment, in order. If the timestamps of a
  /// GStreamer segment continue those of the previous one, the two are merged.
  func edits(of decoded: [DecodedAudio]) -> [(segment: Segment, audio: ArraySlice<DecodedAudio>)] {
    let segments = state.withLock { $0.segments }
    var edits: [(segment: Segment, audio: ArraySlice<DecodedAudio>)] = []
    var place = 0
    while place < decoded.count {
      let number = decoded[place].segment
      let end = decoded[place...].firstIndex { $0.segment != number } ?? decoded.count
      guard segments.indices.contains(number) else { return [] }
      var segment = segments[number]
      if let last = edits.last, last.segment.time - last.segment.start == segment.time - segment.start {
        (segment.start, segment.time) = (last.segment.start, last.segment.time)
        edits[edits.count - 1] = (segment, decoded[last.audio.startIndex..<end])
      } else {
        edits.append((segment, decoded[place..<end]))
      }
      place = end
    }
    return edits
  }

  /// Copies the GStreamer segments recorded by `other`, which opened them before an earlier element
  /// of the pipeline.
  func takeSegments(of other: PacketTimestamps) {
    let segments = other.state.withLock { $0.segments }
    state.withLock { $0.segments = segments }
  }

  private func watchesDecoder(isOneForOne: Bool, fillsGaps: Bool) {
    state.withLock {
      $0.hasDecoder = true
      $0.fillsGaps = fillsGaps
      $0.isOneForOne = isOneForOne
    }
  }

  /// Warnings about audio packets that failed to decode.
  var warnings: [Warning] {
    state.withLock { state in
      guard state.lost > 0, let span = state.span else { return [] }
      return [
        Warning(
          .damaged,
          "damaged: \(state.lost) of \(state.packetCount) packets of audio can't be decoded, "
            + (span.start == span.end ? "at \(span.start)" : "between \(span.start) and \(span.end)"),
          count: state.lost, span: span)
      ]
    }
  }

  /// Number of packets that entered the decoder; nil if there is no decoder.
  var packetCount: Int? { state.withLock { $0.hasDecoder ? $0.packetCount : nil } }
  /// True if the decoder inserts silence for missing packets (``AudioLayout/fillsGaps``).
  var fillsGaps: Bool { state.withLock { $0.fillsGaps } }
  var packetBytes: Int { state.withLock { $0.packetBytes } }

  private func packet(_ packet: Buffer) {
    state.withLock { state in
      if state.isOneForOne, !state.sources.isEmpty, state.isSilent { state.lose() }
      state.isSilent = true
      state.current = packet.pts
      state.packetCount += 1
      state.packetBytes += packet.size
    }
  }

  private func noteBlocks(of packet: Buffer) {
    let blocks = (try? packet.withBytes { WavPackBlock.all(in: $0) }) ?? []
    state.withLock { $0.blocks = blocks }
  }

  /// Counts a packet as lost if the decoder muted one of the packet's blocks. At least one block
  /// was muted if the output has fewer channels with audio than the packet has blocks with audio.
  private func compareBlocks(with samples: Buffer) {
    let blocks = state.withLock { $0.blocks }
    let (count, channels) = (blocks.first?.samples ?? 0, blocks.reduce(0) { $0 + $1.channels })
    guard count > 0, channels > 0, samples.size >= count * channels else { return }
    let bytes = samples.size / (count * channels)
    let loud = try? samples.withBytes { samples in
      (0..<channels).count { channel in
        (0..<count).contains { frame in
          samples[(frame * channels + channel) * bytes..<(frame * channels + channel + 1) * bytes].contains { $0 != 0 }
        }
      }
    }
    guard let loud, loud < blocks.count(where: { $0.holdsSound ?? false }) else { return }
    state.withLock { $0.lose() }
  }

  private func output() {
    state.withLock {
      $0.isSilent = false
      $0.sources.append(Packet(stamp: $0.current, number: $0.packetCount))
    }
  }

  /// Removes and returns the packet of the next output buffer.
  func takePacket() -> Packet? {
    state.withLock { state in
      guard state.taken < state.sources.count else { return nil }
      defer { state.taken += 1 }
      return state.sources[state.taken]
    }
  }
}

/// Watches audio decoders added to a running pipeline, for example by decodebin.
package final class DecoderWatch: Sendable {
  private let known = Mutex<[(element: Element, clock: PacketTimestamps)]>([])

  package init(_ pipeline: Pipeline) {
    // Do not capture `self` strongly, because the pipeline keeps the closure.
    pipeline.onElementAdded { [weak self] element in self?.add(element) }
  }

  private func add(_ element: Element) {
    guard element.isOfClass("Audio"), element.isOfClass("Decoder") || element.isOfClass("Parser") else { return }
    let clock = PacketTimestamps()
    clock.openSegments(before: element)
    if element.isOfClass("Decoder") { clock.watch(element) }
    known.withLock { $0.append((element, clock)) }
  }

  /// Returns the packet timestamps of the decoder before `sink`; nil if the decoder is unknown. The
  /// timestamps are complete only after audio has left the decoder.
  package func clock(for sink: Element) -> PacketTimestamps? {
    guard let chain = AudioIndexer.chain(before: sink), let decoder = chain.decoder else { return nil }
    func clock(of element: Element) -> PacketTimestamps? {
      known.withLock { known in known.first { $0.element.isSame(as: element) }?.clock }
    }
    guard let found = clock(of: decoder) else { return nil }
    // Take the GStreamer segments from the parser's ``PacketTimestamps``. The probe at the parser
    // removes the start and stop of each segment, so downstream the original limits are unknown.
    if let other = chain.parser.flatMap(clock), other.segment != nil { found.takeSegments(of: other) }
    return found
  }

  /// Releases the elements, which hold the ``PacketTimestamps`` objects.
  package func releaseElements() { known.withLock { $0 = [] } }
}
