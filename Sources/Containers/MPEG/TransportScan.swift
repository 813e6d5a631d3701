import MediaTime

/// Facts from the headers of all packets of a transport stream, read in one pass.
struct TransportScan {
  /// Video and audio streams of the first program, which is the one that tsdemux reads. `isEmpty`
  /// is true for a stream without packets.
  let streams: [(kind: StreamKind, isEmpty: Bool)]
  /// Streams of the first program that have packets and are neither video nor audio.
  let dataStreams: [ContainerReport.DataStream]
  /// PIDs of all streams of the first program.
  let numbers: [Int]
  /// Number of additional programs with packets.
  let furtherPrograms: Int
  /// Details of the first program that no output can keep: stream flags, and presentation times
  /// that tsdemux discards.
  let marks: [ContainerDetail]
  /// Gaps in the packets of ``streams``.
  let gaps: ContainerReport.Gaps?
  /// True if the file ends within a packet.
  let isCut: Bool
  let correction: TransportClock?

  /// - Returns: nil if the file cannot be read, or reading was cancelled.
  init?(_ file: RandomAccessFile, _ packets: TransportPackets) {
    var tables = ProgramTables()
    var references = ClockReferences()
    var clock = ElapsedTicks()
    var streams = [PacketStream](repeating: PacketStream(), count: 1 << 13)
    // Gaps due to lost bytes, which cannot be attributed to a PID.
    var bytesLost = TickGaps()
    let end = packets.walk(file) { step, bytes in
      guard case .packet(let packet) = step else {
        bytesLost.open()
        return
      }
      tables.add(packet, bytes)
      references.add(packet)
      if let reference = packet.reference {
        clock.add(reference.value, of: packet.stream, in: tables.programs.first)
      }
      let time = packet.time.map { clock.elapsed($0.shown) }
      if let time { bytesLost.pass(time) }
      streams[packet.stream].add(packet, at: time)
    }
    guard let end else { return nil }
    isCut = end < file.size && file.number(at: end, 1) == Int(TransportPackets.mark)
    correction = bytesLost.count == 0 ? TransportClock(references) : nil
    // The program table may declare audio as private data, as FFmpeg does in .m2ts. The packet
    // headers then declare the kind.
    func kind(_ number: Int, declared: StreamKind) -> StreamKind {
      declared == .other ? streams[number].kind ?? .other : declared
    }
    func media(_ program: ProgramTables.Program) -> [(kind: StreamKind, stream: PacketStream)] {
      program.streams.map { (kind($0.number, declared: $0.kind), streams[$0.number]) }.filter { $0.kind != .other }
    }
    let first = tables.programs.first.map(media) ?? []
    let distant = first.reduce(0) { $0 + ($1.kind == .video ? $1.stream.distantTimes : 0) }
    marks = (tables.programs.first?.marks ?? []) + (distant > 0 ? [ContainerDetail.distantTimes(distant)] : [])
    dataStreams = (tables.programs.first?.streams ?? []).filter { stream in
      kind(stream.number, declared: stream.kind) == .other && streams[stream.number].count > 0
    }.map { ContainerReport.DataStream(number: $0.number, detail: ContainerDetail(track: $0.name)) }
    numbers = tables.programs.first?.streams.map(\.number) ?? []
    self.streams = first.map { ($0.kind, $0.stream.count == 0) }
    furtherPrograms = tables.programs.dropFirst().count { media($0).contains { $0.stream.count > 0 } }
    // In tsdemux, stream time starts at the first clock reference
    // (gst_ts_demux_calculate_and_push_new_segment).
    let zero = correction?.time ?? clock.first ?? references.earliest ?? 0
    gaps = TickGaps.all(first.map(\.stream.gaps), bytesLost)?.counted(from: zero)
  }
}

/// Kind, number and gaps of the packets of one PID.
private struct PacketStream {
  /// Kind of the stream, from the headers of its media packets.
  private(set) var kind: StreamKind?
  private(set) var count = 0
  private(set) var gaps = TickGaps()
  /// Number of media packets whose presentation times tsdemux discards
  /// (`Quirk.tsdemuxDistantTimes`).
  private(set) var distantTimes = 0
  private var counter: UInt8 = 0
  /// Decoding time of the last media packet.
  private var time: Int?

  /// - Parameter time: presentation time of the media packet that begins in `packet`, with clock
  ///   jumps removed.
  mutating func add(_ packet: TransportPacket, at time: Int?) {
    guard !packet.payload.isEmpty else { return }
    // A packet that is sent twice counts as a gap, because tsdemux then drops a frame
    // (Quirk.tsdemuxRepeatedPacket).
    if count > 0, packet.counter != (counter + 1) & 0xF, !begins(packet) { gaps.open() }
    counter = packet.counter
    kind = kind ?? packet.kind
    count += 1
    if let time { gaps.pass(time) }
    if packet.hasDistantTimes { distantTimes += 1 }
    self.time = packet.time?.decoded ?? self.time
  }

  /// True if the continuity counter restarts at `packet` without lost packets, as at the start of a
  /// concatenated file.
  private func begins(_ packet: TransportPacket) -> Bool {
    guard packet.isStart else { return false }
    let hasJumped =
      packet.time.flatMap { next in time.map { !TransportClock.steps.contains(next.decoded - $0) } } ?? false
    return packet.counter == 0 || hasJumped
  }
}

/// Gaps in a stream: their number, and the times before the first gap and after the last gap, in
/// ticks of 90 kHz.
private struct TickGaps {
  private(set) var count = 0
  private var start: Int?
  private var end: Int?
  private var last: Int?
  private var isOpen = false

  /// Starts a gap, or extends the current one.
  mutating func open() {
    if !isOpen { count += 1 }
    start = start ?? last
    isOpen = true
  }

  /// Notes a packet at `time`, which ends the current gap.
  mutating func pass(_ time: Int) {
    if isOpen {
      start = start ?? time
      end = time
    }
    isOpen = false
    last = time
  }

  /// Combines the gaps in several streams with the gaps due to lost bytes, which may belong to any
  /// of the streams. Nil if there are none.
  static func all(_ streams: [TickGaps], _ bytes: TickGaps) -> TickGaps? {
    let damaged = (streams + [bytes]).filter { $0.count > 0 }
    guard !damaged.isEmpty else { return nil }
    var all = TickGaps()
    all.count = max(streams.reduce(0) { $0 + $1.count }, bytes.count)
    all.start = damaged.compactMap(\.start).min()
    // In a stream that never resumes, the gap lasts to the end of the file.
    let ends = damaged.compactMap { $0.isOpen ? bytes.last : $0.end }
    all.end = ends.max()
    return all
  }

  func counted(from zero: Int) -> ContainerReport.Gaps {
    func time(_ ticks: Int?) -> ClockTime { max(.zero, ClockTime(sampleIndex: (ticks ?? zero) - zero, rate: 90_000)) }
    // `end` may precede `start`, because packets are not in presentation order.
    return ContainerReport.Gaps(count: count, start: min(time(start), time(end)), end: max(time(start), time(end)))
  }
}

/// Elapsed time in a file whose clock may jump, in ticks of 90 kHz.
private struct ElapsedTicks {
  /// First clock reference.
  private(set) var first: Int?
  private var last = 0
  private var stream: Int?
  /// Sum of the clock jumps so far, in ticks of 90 kHz.
  private var jumps = 0

  mutating func add(_ reference: Int, of stream: Int, in program: ProgramTables.Program?) {
    let isOwn = stream == program?.clock
    guard isOwn || self.stream == nil || stream == self.stream else { return }
    if first == nil || stream != self.stream {
      (self.stream, first, jumps) = (stream, reference, 0)
    } else if !TransportClock.steps.contains(reference - last) {
      jumps += reference - last
    }
    last = reference
  }

  func elapsed(_ time: Int) -> Int { time - jumps }
}

extension ContainerDetail {
  fileprivate static func distantTimes(_ count: Int) -> ContainerDetail {
    let what = count == 1 ? "time of 1 frame that is" : "times of \(count) frames that are"
    return ContainerDetail("the presentation \(what) more than 5 s from decoding", of: .video)
  }
}
