package import Containers
package import GStreamer
package import MediaTime

/// Frames that come one by one, in display order, and can't be asked for again: kept in memory, and the first ones in the
/// spool, until they are played.
package struct RecordedVideo {
  private let caps: Caps
  private let planner: Planner
  private let rate: FrameRateLimit
  private let resources: Resources
  private let gauge: MemoryGauge
  private var collector: FrameCollector
  private var packets: [VideoPacket] = []
  private let changes = FormatChanges()

  /// - Parameter first: a sample of the first frame's format; the others must be like it.
  /// - Throws: ``RetrogradeError``, where the budget is too small for two frames, or no spool can be made.
  package init(
    like first: Sample, rate: FrameRateLimit = FrameRateLimit(), _ resources: Resources, _ gauge: MemoryGauge
  ) throws {
    guard let caps = first.caps else {
      throw RetrogradeError(.internalFailure, "a frame came without a format")
    }
    self.caps = caps
    self.rate = rate
    self.resources = resources
    self.gauge = gauge
    planner = try Planner(resources, frameBytes: max(first.buffer.size, 1))
    collector = FrameCollector(
      held: planner.framesInAll, spool: try Spool(directory: resources.spoolDirectory), gauge: gauge)
  }

  /// How many frames there are.
  package var count: Int { collector.times.count }
  /// When the last one is shown.
  package var position: ClockTime? { collector.times.last }

  /// Takes a frame.
  package mutating func add(_ sample: Sample) throws {
    let sample = try changes.fit(sample, to: caps)
    let before = count
    _ = try collector.add(sample)
    guard count > before, let time = position else { return }
    packets.append(
      VideoPacket(time: time, duration: sample.buffer.duration, isKeyframe: true, bytes: 0, isHidden: false))
  }

  /// The frames, ready to be played.
  /// - Parameters:
  ///   - description: of the pipeline that gave them.
  ///   - declaresDurations: the frames' durations are the source's own.
  package func source(
    tags: TagList?, disposition: Disposition? = nil, description: String, declaresDurations: Bool = false
  ) throws -> VideoSource {
    var packets = packets
    for (place, time) in zip(packets.indices, collector.starts().times) { packets[place].time = time }
    var index = VideoIndex(
      caps: caps, tags: tags, packets: packets, segmentEnd: nil, declaresDurations: declaresDurations)
    index.disposition = disposition
    return try VideoSource(
      index, store: collector.frames, changes,
      description: description, planner: planner, rate: rate, resources: resources, gauge: gauge)
  }
}

extension VideoSource {
  /// A video of which all is known but its frames: to be described, and not to be played.
  /// - Parameters:
  ///   - starts: when each frame is shown.
  ///   - lastDelay: how long the last one is.
  package static func described(
    _ caps: Caps, starts: [ClockTime], lastDelay: ClockTime?, rate: FrameRateLimit, _ resources: Resources,
    _ gauge: MemoryGauge
  ) throws -> VideoSource {
    let ends = starts.dropFirst() + [(starts.last ?? .zero) + (lastDelay ?? .zero)]
    let delays = zip(starts, ends).map { $1 - $0 }
    let packets = zip(FrameCollector.ascending(starts).times, delays).map { time, delay in
      VideoPacket(time: time, duration: delay, isKeyframe: true, bytes: 0, isHidden: false)
    }
    return try VideoSource(
      VideoIndex(caps: caps, tags: nil, packets: packets, segmentEnd: nil, declaresDurations: lastDelay != nil),
      store: DecodedWindow(spool: nil, gauge: gauge), FormatChanges(), description: "",
      planner: try Planner(resources, frameBytes: (caps.int("width") ?? 1) * (caps.int("height") ?? 1) * 4),
      rate: rate, resources: resources, gauge: gauge)
  }
}
