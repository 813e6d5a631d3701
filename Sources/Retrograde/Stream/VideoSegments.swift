import Containers
import GStreamer
import MediaTime
import RetrogradeEngine

/// Segments of one video in one codec at one size.
struct VideoSegments: Sendable {
  private let source: PlayableSource
  private let video: VideoSource
  private let timing: Timing
  let cuts: SegmentCuts
  private let encoder: SegmentEncoder
  private let header: SegmentEncoder.Header
  let initialization: [UInt8]
  let rendition: SegmentedMirror.Rendition

  /// Bit rate limit, in bits per pixel of each frame: twice the bit rate that x264 needs for most
  /// videos at the requested quality.
  private static let bitsPerPixel = 0.2
  /// Smallest bit rate limit, in bits per second.
  private static let leastRate = 300_000
  /// Size of the encoder's rate buffer, as playing time. A segment may exceed the bit rate by this
  /// amount.
  private static let buffer = ClockTime.milliseconds(500)

  /// - Parameter height: height of the rendition, in pixels.
  init(
    _ source: PlayableSource, _ video: VideoSource, _ kind: SegmentCodec, height: Int, _ cuts: SegmentCuts,
    _ name: String, _ settings: SegmentedMirror.Settings, _ cancellation: Cancellation
  ) throws {
    (self.source, self.video, self.cuts, timing) = (source, video, cuts, settings.playback.timing)
    let frameRate = cuts.frameRate
    var options = EncodingOptions(
      quality: settings.isLossless ? .lossless : .source, videoCodec: kind.rawValue,
      constantRateFactor: settings.isLossless ? nil : kind.quality, preset: kind.preset,
      framing: Framing(scale: .height(height)))
    options.deinterlaces = video.caps.isInterlaced
    var choice = try EncodingChoice(
      output: name, in: .segments,
      .init(
        videos: [.init(raw: video.caps, index: video.video)], duration: source.index.presentationEnd,
        frameRate: frameRate), options: options)
    // All browsers can play 8-bit 4:2:0.
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
    stream.encoderOptions = kind.fixedSettings
    if !settings.isLossless {
      stream.encoderOptions.merge(kind.settings(rate: rate, buffer: VideoSegments.buffer)) { $1 }
    }
    encoder = SegmentEncoder(
      description: EncodingDescription(path: "", choice: choice).packets(
        .video, 0, PacketOutput.conversion(of: codec, for: .segments)),
      stream: stream, kind: .video, name: name, resources: settings.resources)
    var header = try encoder.header(cancellation)
    if kind == .vp9 {
      header.description = VP9Configuration.description(
        header.description, ofLevel: VP9Configuration.level(width: width, height: height, rate: frameRate))
    }
    self.header = header
    initialization =
      MP4Initialization(
        kind: .video(width: width, height: height), description: header.description, timescale: cuts.timescale,
        duration: cuts.times.last ?? 0
      ).bytes
    // Upper bounds of the bit rates: each segment starts with a full rate buffer, so it may exceed
    // `rate` by the size of the buffer. RFC 8216, 4.3.4.2 defines the peak over contiguous segments
    // that together have at least half the target length. The peak is highest for the first two
    // segments: they may exceed `rate` by two buffers within three quarters of the target length.
    let ahead = VideoSegments.buffer / settings.target
    let pieces = (1 / SegmentCuts.piece.seconds).rounded(.up) + 1
    let overhead =
      (Double(MP4Fragment.overhead(samples: Int(frameRate.rounded(.up)))) + pieces
        * Double(MP4Fragment.overhead(samples: 0))) * 8
    rendition = .init(
      kind: .video(width: width, height: height, frameRate: frameRate),
      name: ["\(height)", kind.nameOfSourceCodec?.lowercased()].compactMap { $0 }.joined(separator: "-"),
      codecs: header.codecs, averageBandwidth: Int(Double(rate) * kind.excess * (1 + ahead) + overhead),
      peakBandwidth: Int(Double(rate) * kind.excess * (1 + 2 * ahead / 0.75) + overhead),
      segments: cuts.all, sourceCodec: kind.nameOfSourceCodec)
  }

  func pieces(of number: Int) -> Int { cuts.pieces(of: number).count }

  /// Makes segment `number`.
  ///
  /// - Parameters:
  ///   - piece: first fragment to deliver (``SegmentCuts/pieces(of:)``).
  ///   - take: gets each fragment as soon as it is made.
  func make(
    _ number: Int, from piece: Int, _ cancellation: Cancellation, _ take: @escaping @Sendable ([UInt8]) -> Void
  ) throws {
    let bounds = cuts.pieces(of: number)
    let frames = bounds[piece]..<cuts.segments[number].upperBound
    let span = TimeSpan(start: cuts.shown[frames.lowerBound].start, end: cuts.shown[frames.upperBound - 1].end)
    let pieces = SegmentPieces(cuts, frames, bounds: bounds, name: encoder.name, take: take)
    let given = try encoder.encode(header, cancellation) { pipeline, sink in
      var given = MuxedCount.PushedData(count: 0)
      let player = VideoPlayer(
        video, source.legs, from: span.start, to: span.end, timing: timing, cancellation)
      while let frame = try player.next(offset: .zero - span.start) {
        guard let place = cuts.place(of: frame.shown.start, among: frames), pieces.note(place) else { continue }
        sink.setFieldOrder(of: frame.caps)
        try pipeline.push(frame.buffer, to: sink)
        given.add(1, frame.buffer)
      }
      return given
    } take: {
      try pieces.add($0)
    }
    guard pieces.count == given.count, given.count > 0 else {
      throw RetrogradeError(
        .damagedInput, about: encoder.name,
        "only \(pieces.count) of \(frames.count) frames from \(span.start) on were encoded")
    }
    pieces.finish()
  }
}
