import Containers
package import GStreamer
import MediaTime
import Quirks
import Synchronization

/// Which packet each of a decoder's outputs came from.
package final class PacketTimestamps: Sendable {
  /// A packet that went into the decoder.
  struct Packet: Sendable {
    var stamp: ClockTime?
    /// Counted from 1.
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
    /// True if the decoder gives one buffer for each packet. Then ``lost`` counts packets from which it made nothing, and
    /// ``span`` is from the first of them to the last.
    var isOneForOne = false
    var isSilent = false
    var lost = 0
    var span: TimeSpan?
    /// The headers in the packet of WavPack that went in last.
    var blocks: [WavPackBlock] = []

    mutating func lose() {
      lost += 1
      if let time = current.map({ segment?.streamTime(of: $0) ?? $0 }) {
        span = TimeSpan(start: span?.start ?? time, end: time)
      }
    }
  }
  private let state = Mutex(State())

  /// Opens the segments before `element`: nothing from there on may clip. Decoders do it by timestamps that
  /// can be wrong (see AudioLayout), and parsers drop the packets before a segment's start, which the next
  /// ones overlap.
  func openSegments(before element: Element) {
    element.staticPad("sink")?.openSegments { [self] in segment($0) }
  }

  /// Notes which packet each of `decoder`'s buffers comes from.
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

  /// Forgets all that was noted.
  func reset() {
    state.withLock { state in
      var new = State()
      (new.hasDecoder, new.isOneForOne) = (state.hasDecoder, state.isOneForOne)
      new.fillsGaps = state.fillsGaps
      state = new
    }
  }

  /// - Returns: its number.
  private func segment(_ segment: Segment) -> Int {
    state.withLock { state in
      state.segments.append(segment)
      return state.segments.count - 1
    }
  }

  /// The last segment as it came, before it was opened; nil if it was not opened.
  var segment: Segment? { state.withLock { $0.segment } }

  /// The decoded audio of each segment, in order. A segment that goes on with the timestamps of the one before is one
  /// with it.
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

  /// Takes over another clock's notes of segments that came opened to this one.
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

  /// Warnings for packets that are damaged.
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

  /// nil where there is no decoder.
  var packetCount: Int? { state.withLock { $0.hasDecoder ? $0.packetCount : nil } }
  /// True if the decoder makes up silence for missing packets (``AudioLayout/fillsGaps``).
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

  /// A block that holds sound has a channel that is not silent, unless the decoder muted it.
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

  /// The packet that the next output came from.
  func takePacket() -> Packet? {
    state.withLock { state in
      guard state.taken < state.sources.count else { return nil }
      defer { state.taken += 1 }
      return state.sources[state.taken]
    }
  }
}

/// Watches the decoders of audio that come into a pipeline while it runs, as decodebin's do.
package final class DecoderWatch: Sendable {
  private let known = Mutex<[(element: Element, clock: PacketTimestamps)]>([])

  package init(_ pipeline: Pipeline) {
    // Not `self`: the pipeline keeps the closure.
    pipeline.onElementAdded { [weak self] element in self?.add(element) }
  }

  private func add(_ element: Element) {
    guard element.isOfClass("Audio"), element.isOfClass("Decoder") || element.isOfClass("Parser") else { return }
    let clock = PacketTimestamps()
    clock.openSegments(before: element)
    if element.isOfClass("Decoder") { clock.watch(element) }
    known.withLock { $0.append((element, clock)) }
  }

  /// Notes about the decoder before `sink`; complete once audio has come out of it.
  package func clock(for sink: Element) -> PacketTimestamps? {
    guard let chain = AudioIndexer.chain(before: sink), let decoder = chain.decoder else { return nil }
    func clock(of element: Element) -> PacketTimestamps? {
      known.withLock { known in known.first { $0.element.isSame(as: element) }?.clock }
    }
    guard let found = clock(of: decoder) else { return nil }
    // The decoder saw the segment that the parser's clock had opened.
    if let other = chain.parser.flatMap(clock), other.segment != nil { found.takeSegments(of: other) }
    return found
  }

  /// Lets go of the elements, which hold the clocks.
  package func letGo() { known.withLock { $0 = [] } }
}
