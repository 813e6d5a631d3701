import GStreamer
import MediaTime

/// Collects decoded audio in the spool. If the format changes, converts later audio to the first
/// format.
struct AudioCollector {
  let spool: Spool
  /// Bytes not yet in the spool. PCM packets are small, and a system call for each packet would
  /// take longer than writing the data.
  private var waiting: [UInt8] = []
  private static let batch = 1 << 18
  /// Decoded buffers, in order. The bytes of the last buffers may still be in `waiting`.
  private(set) var decoded: [DecodedAudio] = []
  /// Caps of the first buffer, and of all audio in the spool.
  private(set) var caps: Caps?
  private var bytesPerFrame = 1
  private var conversion: (from: Caps, converter: AudioConverter?)?
  /// Audio that was converted to the first format (`converted`), and audio that could not be
  /// converted (`lost`).
  private var converted = Changed()
  private var lost = Changed()

  private struct Changed {
    /// Number of sample frames before conversion.
    var count = 0
    var span: TimeSpan?
    var caps: [Caps] = []

    mutating func add(_ count: Int, _ span: TimeSpan?, _ caps: Caps) {
      self.count += count
      if let span { self.span = TimeSpan(start: self.span?.start ?? span.start, end: span.end) }
      if !self.caps.contains(where: { $0.isEqual(caps) }) { self.caps.append(caps) }
    }

    var place: String { span.map { " at \($0.start)" } ?? "" }
    var names: String { caps.map(\.audioName).joined(separator: " and ") }
  }

  /// Duration of the audio so far, without audio that is still in the converter or that could not
  /// be converted.
  var length: ClockTime { caps?.int("rate").map { ClockTime(sampleIndex: count, rate: $0) } ?? .zero }
  /// Number of sample frames so far.
  private var count = 0

  /// - Parameter spoolDirectory: nil to count sample frames without storing them.
  init(spoolDirectory: String?) throws { spool = try Spool(directory: spoolDirectory) }

  /// - Parameters:
  ///   - packet: packet from which `sample` was decoded.
  ///   - time: stream time of `sample` in the source.
  mutating func add(_ sample: Sample, packet: PacketTimestamps.Packet?, at time: ClockTime?) throws {
    guard let current = sample.caps, let size = current.bytesPerSampleFrame, size > 0 else { return }
    let count = sample.buffer.size / size
    let isSilent = try sample.buffer.withBytes { bytes in !bytes.contains { $0 != 0 } }
    func add(_ count: Int) {
      self.count += count
      decoded.append(
        DecodedAudio(
          stamp: sample.buffer.pts, packetStamp: packet?.stamp, count: count, packet: packet?.number,
          isSilent: isSilent, segment: sample.segment.number))
    }
    if let caps, !caps.isEqual(current) {
      try change(from: current, to: caps)
      let span = time.flatMap { time in
        current.int("rate").map { TimeSpan(start: time, end: time + ClockTime(sampleIndex: count, rate: $0)) }
      }
      guard let converter = conversion?.converter else { return lost.add(count, span, current) }
      converted.add(count, span, current)
      let bytes = try sample.buffer.withBytes { try converter.convert($0) }
      add(try append(bytes))
      return
    }
    try endConversion()
    if caps == nil {
      caps = current
      bytesPerFrame = size
    }
    try sample.buffer.withBytes { try store($0) }
    add(count)
  }

  /// Finishes the conversion and writes the remaining bytes. Call this after the last sample.
  mutating func finish() throws {
    try endConversion()
    try flush()
  }

  private mutating func store(_ bytes: UnsafeRawBufferPointer) throws {
    waiting.append(contentsOf: bytes)
    if waiting.count >= AudioCollector.batch { try flush() }
  }

  private mutating func flush() throws {
    _ = try waiting.withUnsafeBytes { try spool.append($0) }
    waiting.removeAll(keepingCapacity: true)
  }

  private mutating func change(from current: Caps, to caps: Caps) throws {
    if let conversion, conversion.from.isEqual(current) { return }
    try endConversion()
    conversion = (current, AudioConverter(from: current, to: caps))
  }

  private mutating func endConversion() throws {
    guard let converter = conversion?.converter else { return conversion = nil }
    conversion = nil
    let count = try append(try converter.finish())
    if let last = decoded.indices.last { decoded[last].count += count }
    self.count += count
  }

  /// - Returns: number of sample frames in `bytes`.
  private mutating func append(_ bytes: [UInt8]) throws -> Int {
    try bytes.withUnsafeBytes { try store($0) }
    return bytes.count / bytesPerFrame
  }

  var warnings: [Warning] {
    var warnings: [Warning] = []
    guard let caps else { return [] }
    if converted.count > 0 {
      warnings.append(
        Warning(
          .converted,
          "converted: the format of the audio changes from \(caps.audioName) to \(converted.names)\(converted.place); "
            + "all audio is converted to the first format",
          count: converted.count, span: converted.span))
    }
    if lost.count > 0 {
      warnings.append(
        Warning(
          .damaged,
          "left out: audio\(lost.place), because its format changes from \(caps.audioName) to \(lost.names) and can't "
            + "be converted",
          count: lost.count, span: lost.span))
    }
    return warnings
  }
}

extension Caps {
  /// Name of the format, such as `48000 Hz, 2 channels, S16LE`.
  fileprivate var audioName: String {
    let channels = int("channels") ?? 0
    return "\(int("rate") ?? 0) Hz, \(channels) \(channels == 1 ? "channel" : "channels"), \(string("format") ?? "")"
  }
}
