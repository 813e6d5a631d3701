import GStreamer
import MediaTime
import RetrogradeEngine

/// Copies the packets of parts that are played forwards, and encodes only the parts that are played
/// backwards. Copied and encoded packets have the same codec and form one stream.
struct ForwardCopy: Sendable {
  /// Caps of all packets, both copied and encoded, at the muxer.
  let caps: Caps
  /// Decoding times of packets; nil for Matroska and WebM, which do not store decoding times.
  private let clock: DTSGenerator?
  private let source: PlayableSource
  private let video: VideoSource
  private let encoder: PacketEncoder
  /// Pipeline that reads the packets of the source, in `gst-launch-1.0` syntax.
  private let reading: String
  private let target: String

  /// Time in the output at which the first frame starts.
  var lead: ClockTime { clock?.lead ?? .zero }

  /// Codecs whose packets can be copied without further conditions: each packet is a frame, and
  /// there are no out-of-band headers.
  private static let plain: Set = ["video/x-vp9", "image/jpeg", "video/x-prores"]

  /// - Throws: ``RetrogradeError`` of code `usage` if the forward part can't be copied.
  init(_ source: PlayableSource, _ choice: EncodingChoice, _ options: ReverseOptions, for target: String) throws {
    func refused(_ why: Message) -> RetrogradeError {
      RetrogradeError(.usage, about: target, "the forward part can't be copied (\(setting: .copiesForward)): \(why)")
    }
    guard let video = source.video, let reading = source.index.packets, let frame = choice.videos.first,
      let codec = frame.codec, let element = codec.encoder
    else { throw refused("the source or the output has no video") }
    guard Codec(of: video.video.caps) == codec else {
      throw refused("the source is \(video.video.caps.codecName), but the output would not be")
    }
    if let setting = options.encoding.framing.settings.first {
      throw refused("\(setting: setting) changes every frame")
    }
    guard options.encoding.maxSize == nil else { throw refused("\(setting: .maxSize) requires encoding") }
    guard !video.shown.isThinned, options.playback.start == nil, options.playback.end == nil,
      options.playback.score == nil
    else {
      throw refused(
        "\(setting: .frameRate), \(setting: .score), \(setting: .start) and \(setting: .end) can't be used with "
          + "\(setting: .copiesForward)")
    }
    guard video.store == nil, video.video.isPlain,
      !(options.playback.dropsSeam ?? false) || options.playback.loop != .reverseForward
    else { throw refused("the source must be seekable, with one frame in each packet") }
    let family = choice.muxer
    let hasDecodeTimes = family.contains("mp4mux") || family.contains("qtmux")
    guard hasDecodeTimes || family.contains("matroska") || family.contains("webm") else {
      throw refused("the output must be MP4, MOV, Matroska or WebM")
    }
    let isH264 = codec.caps.mediaType == "video/x-h264"
    guard isH264 || ForwardCopy.plain.contains(codec.caps.mediaType) else {
      throw refused("only H.264, VP9, MJPEG and ProRes can be copied")
    }
    self.source = source
    self.video = video
    self.target = target
    let raw = video.encodedCaps(isBackward: source.legs[0]?.direction == .backward)
    if isH264 {
      let format = "h264parse ! video/x-h264,stream-format=avc,alignment=au"
      self.reading = "\(reading) ! \(format)"
      let packets = try ForwardCopy.firstCaps(self.reading, source, target)
      guard let own = packets.buffer("codec_data").flatMap({ ParameterSets($0) }), let number = own.freeNumber else {
        throw refused("the source's parameter sets can't be read")
      }
      let settings = frame.settings + [("option-string", "sps-id=\(number)")]
      encoder = PacketEncoder(element: element, settings: settings, tail: format, format: frame.format, raw: raw)
      guard let others = try encoder.caps(target).buffer("codec_data").flatMap({ ParameterSets($0) }),
        let joined = own.joined(with: others)
      else { throw refused("the parameter sets of the source and of the encoder can't be combined in one stream") }
      caps = packets.setting("codec_data", "(buffer)" + joined.record.map { ForwardCopy.hexadecimal($0) }.joined())
    } else {
      self.reading = reading
      encoder = PacketEncoder(element: element, settings: frame.settings, tail: nil, format: frame.format, raw: raw)
      caps = try ForwardCopy.firstCaps(reading, source, target)
    }
    // `vp9parse` does not set the chroma format of RGB, which `mp4mux` requires.
    guard Registry.factory(family, takesAllOf: caps) else {
      throw refused("\(family) does not accept this variant of \(codec.caps.codecName); use .mkv")
    }
    let times = video.video.timesInDecodingOrder
    // x264 reorders at most two frames, whatever its properties.
    let depth = max(DTSGenerator.depth(times), isH264 ? 2 : 0)
    let step = video.timeline.span(of: 0).duration
    clock = hasDecodeTimes ? DTSGenerator(depth: depth, step: step) : nil
  }

  private static func hexadecimal(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

  /// Returns the caps of the first packet that the pipeline `description` outputs.
  private static func firstCaps(
    _ description: String, _ source: PlayableSource, _ target: String
  ) throws -> Caps {
    let stream = try PacketStream(description, target, prepare: source.index.prepareReading)
    defer { stream.stop() }
    guard let caps = try stream.next(Cancellation())?.caps else {
      throw RetrogradeError(.damagedInput, about: target, "the source has no packets to copy")
    }
    return caps
  }

  /// Passes all packets to `push`, in order.
  /// - Parameter shown: called after each packet with the number of frames pushed so far, and the
  ///   end time of the last frame.
  /// - Returns: number of frames.
  func run(
    _ push: (Buffer) throws -> Void, timing: Timing, start: ClockTime, cancellation: Cancellation,
    shown: (Int, ClockTime) -> Void
  ) throws -> Int {
    var clock = clock
    var count = 0
    let legs = source.legs.all
    for (index, leg) in legs.enumerated() {
      try cancellation.check()
      let played = played(index, of: legs)
      clock?.add(times(of: leg)[played].map { $0 + start })
      func give(_ packet: Buffer, _ span: TimeSpan) throws {
        try push(packet.retimed(pts: span.start + start, dts: clock?.next(), duration: span.duration))
        count += 1
        shown(count, span.end)
      }
      if leg.direction == .forward {
        Log.encode.info("\(target): leg \(index): packets from \(leg.span.start) to \(leg.span.end) are copied")
        try copy(leg, cancellation, give)
      } else {
        Log.encode.info("\(target): leg \(index): frames \(played) are encoded by \(encoder.element), and spliced in")
        try encoder.run(
          { [video, legs = source.legs] in
            VideoPlayer(video, legs, from: leg.start, to: leg.end, timing: timing, cancellation)
          }, frames: played, target, cancellation, give)
      }
    }
    return count
  }

  /// Returns the numbers of the frames that leg `index` plays, in the leg's order. A backward leg
  /// omits the frame at a turn, since the adjacent forward leg shows that frame.
  private func played(_ index: Int, of legs: [PlaybackLeg]) -> Range<Int> {
    let frames = video.timeline.clipped(to: legs[index].span).frames
    guard legs[index].direction == .backward else { return 0..<frames.count }
    let isAfterForward = index > 0 && legs[index - 1].direction == .forward
    let isBeforeForward = index + 1 < legs.count && legs[index + 1].direction == .forward
    let first = isAfterForward && frames.upperBound == video.timeline.count ? 1 : 0
    let last = isBeforeForward && frames.lowerBound == 0 ? 1 : 0
    return first..<max(first, frames.count - last)
  }

  private func times(of leg: PlaybackLeg) -> [ClockTime] {
    var clock = OutputTimestamper(leg, timeline: video.timeline, timing: .mirror)
    let shown = video.timeline.clipped(to: leg.span).timeline
    let order = leg.direction == .forward ? Array(0..<shown.count) : (0..<shown.count).reversed()
    return order.map { clock.next(shown.span(of: $0)).start }
  }

  private func copy(_ leg: PlaybackLeg, _ cancellation: Cancellation, _ give: (Buffer, TimeSpan) throws -> Void) throws
  {
    let stream = try PacketStream(reading, target, prepare: source.index.prepareReading)
    defer { stream.stop() }
    let tolerance = ClockTime(nanoseconds: 1_000_000)
    let starts = video.timeline.starts
    while let sample = try stream.next(cancellation) {
      guard let time = sample.streamTime else { continue }
      let frame = starts.endOfPrefix { $0 + tolerance < time }
      guard frame < starts.count else { continue }
      var span = video.timeline.span(of: frame)
      if frame == starts.count - 1 { span.end = max(span.end, leg.span.end) }
      try give(sample.buffer, leg.place(span))
    }
  }
}

/// Encodes frames to packets.
private struct PacketEncoder: Sendable {
  let element: String
  let settings: [(name: String, value: String)]
  /// Elements that convert the encoder's packets to the form of the source's packets.
  let tail: String?
  let format: String?
  let raw: Caps

  private var description: String {
    let properties = settings.map { " \($0.name)=\(Description.quoted($0.value.replacing("(gint64)", with: "")))" }
      .joined()
    return
      (["appsrc name=raw format=time block=true max-buffers=2 max-bytes=0", "videoconvert n-threads=2 dither=none"]
      + (format.map { ["video/x-raw,format=\($0)"] } ?? []) + ["\(element)\(properties)"] + (tail.map { [$0] } ?? []))
      .joined(separator: " ! ")
  }

  /// Returns the caps of the encoder's packets, by encoding a black frame. The caps do not depend
  /// on the content of the frames.
  func caps(_ target: String) throws -> Caps {
    let stream = try PacketStream(description, target) { pipeline in
      let source = try pipeline.appSource("raw")
      source.setCaps(raw)
      guard let size = raw.frameSize else { return }
      let black = try Buffer(size: size) { $0.initializeMemory(as: UInt8.self, repeating: 0) }
      black.stamp(pts: .zero, duration: ClockTime(nanoseconds: 40_000_000))
      _ = source.push(black)
      source.endOfStream()
    }
    defer { stream.stop() }
    guard let caps = try stream.next(Cancellation())?.caps else {
      throw RetrogradeError(.internalFailure, about: target, "\(element) outputs no packets")
    }
    return caps
  }

  /// Encodes the frames that a player outputs. The player runs on a separate thread.
  /// - Parameter frames: numbers of the player's frames to encode; other frames are skipped.
  func run(
    _ begin: @escaping @Sendable () -> VideoPlayer, frames: Range<Int>, _ target: String, _ cancellation: Cancellation,
    _ give: (Buffer, TimeSpan) throws -> Void
  ) throws {
    var input: AppSource?
    let stream = try PacketStream(description, target) { pipeline in
      let source = try pipeline.appSource("raw")
      source.setCaps(raw)
      input = source
    }
    defer { stream.stop() }
    guard let input else { return }
    let feeder = try Worker("feed encoder") {
      defer { input.endOfStream() }
      let player = begin()
      var number = 0
      while let frame = try player.next() {
        if frames.contains(number), !input.push(frame.buffer) { return }
        number += 1
      }
    }
    do {
      while let sample = try stream.next(cancellation) {
        // The stream time of a packet equals the time of the packet's frame
        // (Quirk.x264encLateSegment).
        guard let time = sample.streamTime else { continue }
        try give(sample.buffer, TimeSpan(start: time, end: time + (sample.buffer.duration ?? .zero)))
      }
    } catch {
      stream.stop()  // wakes the feeder
      _ = try? feeder.join()
      throw error
    }
    stream.stop()
    try feeder.join()
    try cancellation.check()
  }
}
