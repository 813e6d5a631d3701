package import Containers
package import GStreamer
package import MediaTime

/// Frames that arrive one by one, in display order, and can't be requested again. Until the frames
/// are played, the last ones stay in memory, and the earlier ones stay in the spool.
package struct RecordedVideo {
  private let caps: Caps
  private let planner: Planner
  private let rate: FrameRateLimit
  private let resources: Resources
  private let gauge: MemoryGauge
  private var collector: FrameCollector
  private var packets: [VideoPacket] = []
  private let changes = FormatChanges()

  /// - Parameter first: sample with the first frame's format, to which later frames are converted.
  /// - Throws: ``RetrogradeError`` if the budget is too small for two frames, or no spool can be
  ///   created.
  package init(
    like first: Sample, rate: FrameRateLimit = FrameRateLimit(), _ resources: Resources, _ gauge: MemoryGauge
  ) throws {
    guard let caps = first.caps else {
      throw RetrogradeError(.internalFailure, "a frame has no format")
    }
    self.caps = caps
    self.rate = rate
    self.resources = resources
    self.gauge = gauge
    planner = try Planner(resources, frameBytes: max(first.buffer.size, 1))
    collector = FrameCollector(
      held: planner.framesInAll, spool: try Spool(directory: resources.spoolDirectory), gauge: gauge)
  }

  /// Number of frames.
  package var count: Int { collector.times.count }
  /// Start of the last frame.
  package var position: ClockTime? { collector.times.last }

  /// Adds a frame.
  package mutating func add(_ sample: Sample) throws {
    let sample = try changes.fit(sample, to: caps)
    let before = count
    _ = try collector.add(sample)
    guard count > before, let time = position else { return }
    packets.append(
      VideoPacket(time: time, duration: sample.buffer.duration, isKeyframe: true, bytes: 0, isHidden: false))
  }

  /// Returns the frames as a video that is ready to be played.
  /// - Parameters:
  ///   - description: description of the pipeline that output the frames.
  ///   - declaresDurations: true if the source declares the frames' durations.
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
  /// Creates a video without frames. The video can be described but not played.
  /// - Parameters:
  ///   - starts: start of each frame.
  ///   - lastDelay: duration of the last frame.
  package static func described(
    _ caps: Caps, tags: TagList?, starts: [ClockTime], lastDelay: ClockTime?, rate: FrameRateLimit,
    _ resources: Resources, _ gauge: MemoryGauge
  ) throws -> VideoSource {
    let ends = starts.dropFirst() + [(starts.last ?? .zero) + (lastDelay ?? .zero)]
    let delays = zip(starts, ends).map { $1 - $0 }
    let packets = zip(FrameCollector.ascending(starts).times, delays).map { time, delay in
      VideoPacket(time: time, duration: delay, isKeyframe: true, bytes: 0, isHidden: false)
    }
    return try VideoSource(
      VideoIndex(caps: caps, tags: tags, packets: packets, segmentEnd: nil, declaresDurations: lastDelay != nil),
      store: DecodedWindow(spool: nil, gauge: gauge), FormatChanges(), description: "",
      planner: try Planner(resources, frameBytes: (caps.int("width") ?? 1) * (caps.int("height") ?? 1) * 4),
      rate: rate, resources: resources, gauge: gauge)
  }
}
