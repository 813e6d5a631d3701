@testable import Containers
@testable import Retrograde
@testable import RetrogradeEngine
import GStreamer
import MediaTime

enum VideoTargets {
  static func parameterSets(_ bytes: [UInt8]) {
    guard let sets = ParameterSets(bytes) else { return }
    _ = sets.freeNumber
    precondition(ParameterSets(sets.record) == sets)
    let half = bytes.count / 2
    if let other = ParameterSets(Array(bytes[half...])) { _ = sets.joined(with: other)?.record }
    _ = sets.joined(with: sets)?.record
  }

  /// Checks whether packets can be reordered. The input consists of a byte that selects the codec,
  /// the codec's configuration, and two packets.
  static func packets(_ bytes: [UInt8]) {
    guard let kind = bytes.first else { return }
    let length = (bytes.count - 1) / 3
    let parts = (0..<3).map { Array(bytes[1 + $0 * length..<1 + ($0 + 1) * length]) }
    let configuration = kind & 0x80 == 0 ? parts[0] : nil
    let codecs: [PacketCheck.Codec] = [
      .jpeg(height: parts[0].count), .proRes, .ffv1(configuration: configuration), .vp9,
      .h264(configuration: configuration),
      .h265(configuration: configuration),
    ]
    var check = PacketCheck(codecs[Int(kind & 0x7F) % codecs.count])
    for packet in parts.dropFirst() {
      _ = packet.withUnsafeBytes { check.obstacle(in: $0) }
      _ = packet.withUnsafeBytes { JPEG2000Packet($0) }
      for type in ["video/x-h264", "video/x-h265"] {
        _ = packet.withUnsafeBytes { PictureBytes(mediaType: type, configuration: configuration).details(in: $0) }
      }
    }
  }

  /// Plans the reversal of packets with arbitrary times, and computes the timestamps of the
  /// reversal.
  static func timeline(_ bytes: [UInt8]) {
    var draw = Draw(bytes)
    let loop = Loop.allCases[Int(draw.byte()) % Loop.allCases.count]
    let timing = Timing.allCases[Int(draw.byte()) % Timing.allCases.count]
    let count = draw.number(1...4)
    let (dropsSeam, keepsForwardWhole) = (draw.byte() & 1 == 1, draw.byte() & 1 == 1)
    let budget = draw.number(0...1 << 20)
    var packets: [VideoPacket] = []
    while !draw.isEmpty {
      let flags = draw.byte()
      packets.append(
        VideoPacket(
          time: flags & 1 == 0 ? ClockTime(nanoseconds: draw.nanoseconds()) : nil,
          decodingTime: flags & 2 == 0 ? ClockTime(nanoseconds: draw.nanoseconds()) : nil,
          duration: flags & 4 == 0 ? ClockTime(nanoseconds: draw.nanoseconds()) : nil, isKeyframe: flags & 8 == 0,
          bytes: 1,
          isHidden: flags & 48 == 48))
    }
    guard let caps else { return }
    let index = VideoIndex(caps: caps, tags: nil, packets: packets, segmentEnd: nil)
    guard let starts = index.starts, let first = starts.first else { return }
    let timeline = VideoTimeline(starts: starts, end: index.end(afterLast: starts))
    guard first < timeline.end else { return }
    let planner = Planner(budget: budget, frameBytes: 1 << 10, spoolRoom: budget)
    if let plan = planner.plan(frames: 0..<starts.count, keyframes: index.keyframes) {
      precondition(plan.frameCount == starts.count)
      precondition(plan.peakBytes <= budget)
    }
    let presentation = Presentation(TimeSpan(start: first, end: timeline.end))
    let legs = PlaybackLegs(
      loop, count: count, presentation, timeline: timeline, dropsSeam: dropsSeam, keepsForwardWhole: keepsForwardWhole)
    for leg in legs.all {
      var clock = OutputTimestamper(leg, timeline: timeline, timing: timing)
      let shown = timeline.clipped(to: leg.span).timeline
      for frame in shown.starts.indices { _ = clock.next(shown.span(of: frame)) }
    }
    _ = legs.number(at: presentation.duration)
    _ = timeline.thinned(to: .usual, from: first)
  }

  private static let caps = Caps("video/x-h264")
}
