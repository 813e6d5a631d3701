import Containers
import GStreamer
import MediaTime
import RetrogradeEngine

/// One video at one size, as segments.
struct VideoSegments: Sendable {
  private let source: PlayableSource
  private let video: VideoSource
  private let timing: Timing
  private let cuts: SegmentCuts
  private let encoder: SegmentEncoder
  private let header: SegmentEncoder.Header
  let initialization: [UInt8]
  let rendition: SegmentedMirror.Rendition

  /// What the picture takes at the most, in bits for each pixel of each frame: twice what x264 takes of most films at this quality.
  private static let bitsPerPixel = 0.2
  /// The least that is allowed, in bits per second.
  private static let leastRate = 300_000
  /// On x264's scale; its own default.
  private static let quality = 23
  /// x264's: a third faster than what is usual elsewhere, and half as large again.
  private static let preset = "superfast"
  /// How far each segment may run ahead of the rate.
  private static let buffer = ClockTime.milliseconds(500)

  /// - Parameter height: in pixels.
  init(
    _ source: PlayableSource, _ video: VideoSource, height: Int, _ cuts: SegmentCuts, _ name: String,
    _ settings: SegmentedMirror.Settings, _ cancellation: Cancellation
  ) throws {
    (self.source, self.video, self.cuts, timing) = (source, video, cuts, settings.playback.timing)
    let frameRate = cuts.frameRate
    var options = EncodingOptions(
      quality: settings.isLossless ? .lossless : .source, videoCodec: "h264",
      constantRateFactor: settings.isLossless ? nil : VideoSegments.quality, preset: VideoSegments.preset,
      framing: Framing(scale: .height(height)))
    options.deinterlaces = video.caps.isInterlaced
    var choice = try EncodingChoice(
      output: name, in: .segments, videos: [(video.caps, video.video, nil)], audio: [],
      duration: source.index.presentationEnd, frameRate: frameRate, options: options)
    // What browsers play.
    if !settings.isLossless { choice.videos[0].format = "I420" }
    guard let codec = choice.videos[0].codec, let size = choice.videos[0].geometry?.caps,
      let width = size.int("width"), let height = size.int("height")
    else { throw RetrogradeError(.internalFailure, about: name, "has no video that could be made into segments") }
    let rate = max(
      Int(min(Double(width * height) * frameRate * VideoSegments.bitsPerPixel, 1e9)), VideoSegments.leastRate)
    var stream = EncodingPipeline.Stream(
      name: EncodingDescription.videoName(0),
      caps: source.legs.speed == 1 && settings.playback.frameRate == nil
        ? video.caps : video.caps.setting("framerate", "(fraction)0/1"))
    // Those take a sixth more time for a seventh fewer bits, and players differ in what they make of times without an edit list.
    stream.encoderOptions = ["bframes": "0"]
    if !settings.isLossless {
      stream.encoderOptions = [
        "bframes": "0",
        "bitrate": "\(rate / 1000)", "vbv-buf-capacity": "\(VideoSegments.buffer.nanoseconds / 1_000_000)",
      ]
    }
    encoder = SegmentEncoder(
      description: EncodingDescription(path: "", choice: choice).kept(
        .video, 0, PacketOutput.conversion(of: codec, for: .segments)),
      stream: stream, kind: .video, name: name, resources: settings.resources)
    header = try encoder.header(cancellation)
    initialization =
      MP4Initialization(
        kind: .video(width: width, height: height), description: header.description, timescale: cuts.timescale,
        duration: cuts.times.last ?? 0
      ).bytes
    // Each segment begins with a full buffer, and of those at the beginning two make up three quarters of a usual one (RFC 8216, 4.3.4.2).
    let ahead = VideoSegments.buffer / settings.target
    let overhead = Double(MP4Fragment.overhead(samples: Int(frameRate.rounded(.up)))) * 8
    rendition = .init(
      kind: .video(width: width, height: height, frameRate: frameRate), name: "\(height)", codecs: header.codecs,
      averageBandwidth: Int(Double(rate) * (1 + ahead) + overhead),
      peakBandwidth: Int(Double(rate) * (1 + 2 * ahead / 0.75) + overhead),
      segments: cuts.all)
  }

  /// Makes segment `number`.
  func make(_ number: Int, _ cancellation: Cancellation) throws -> [UInt8] {
    let frames = cuts.segments[number]
    let span = TimeSpan(start: cuts.shown[frames.lowerBound].start, end: cuts.shown[frames.upperBound - 1].end)
    var places: [Int] = []
    let packets = try encoder.packets(header, cancellation) { pipeline, sink in
      var given = MuxedCount.Given(count: 0)
      var caps: Caps?
      let player = VideoPlayer(
        video, source.legs, from: span.start, to: span.end, timing: timing, cancellation)
      while let frame = try player.next(offset: .zero - span.start) {
        guard let place = cuts.place(of: frame.shown.start, among: frames), place > places.last ?? -1 else { continue }
        if let caps, !caps.isEqual(frame.caps) { sink.setCaps(frame.caps) }
        caps = frame.caps
        try pipeline.push(frame.buffer, to: sink)
        given.add(1, frame.buffer)
        places.append(place)
      }
      return given
    }
    guard packets.count == places.count, !packets.isEmpty else {
      throw RetrogradeError(
        .damagedInput, about: encoder.name,
        "of \(frames.count) frames from \(span.start) on \(packets.count) can be made")
    }
    return fragment(number, packets, places).bytes
  }

  /// - Parameter places: which of the output's frames they are, in the order in which they are shown.
  private func fragment(_ number: Int, _ packets: [SegmentEncoder.Packet], _ places: [Int]) -> MP4Fragment {
    let frames = cuts.segments[number]
    // Of frames that are missing, the one before stays on show.
    let starts = [cuts.times[frames.lowerBound]] + places.dropFirst().map { cuts.times[$0] }
    let ends = Array(starts.dropFirst()) + [cuts.times[frames.upperBound]]
    let order = packets.indices.sorted { packets[$0].time < packets[$1].time }
    var shown = [Int](repeating: 0, count: packets.count)
    for (rank, packet) in order.enumerated() { shown[packet] = starts[rank] }
    // The n-th packet is decoded when the n-th frame is shown.
    return MP4Fragment(
      number: number + 1, start: starts[0],
      samples: packets.indices.map { place in
        .init(
          bytes: packets[place].bytes, duration: ends[place] - starts[place],
          offset: shown[place] - starts[place], isKeyframe: packets[place].isKeyframe)
      })
  }
}
