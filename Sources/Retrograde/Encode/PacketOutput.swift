import GStreamer
import Quirks
import RetrogradeEngine

/// Caps and conversion of packets that are written without encoding.
struct PacketForm: Sendable {
  /// Caps of the packets that are pushed into the pipeline, before the conversion.
  let given: Caps
  /// Caps of the packets at the muxer, after the conversion.
  let taken: Caps
  /// Elements that convert the source's packets to this form, in `gst-launch-1.0` syntax; empty if
  /// not needed.
  let conversion: [String]
}

/// Checks whether an output can hold a video's packets unchanged.
struct PacketOutput: Sendable {
  private let container: Container
  private let encoding: EncodingOptions
  private let playback: PlaybackOptions

  init(_ container: Container, _ options: ReverseOptions) {
    self.container = container
    encoding = options.encoding
    playback = options.playback
  }

  /// Returns the reason why the packets can't be copied, and the frames have to be encoded instead;
  /// nil if the packets can be copied.
  func refusal(of video: VideoIndex) -> Message? {
    if let obstacle = video.obstacle { return "\(obstacle)" }
    if let setting = asked { return "\(setting: setting) requires encoding" }
    if let name = encoding.videoCodec, Codec(named: name) != Codec(of: video.caps) {
      return "\(setting: .videoCodec) \(name) is another codec"
    }
    // Consecutive IDR pictures must differ in `idr_pic_id` (ITU-T H.264, 7.4.3). Only neighbours in
    // the source are certain to differ, so other pictures must not become neighbours.
    if video.caps.mediaType == "video/x-h264", joinsUnrelatedFrames {
      return
        "with \(setting: .frameRate), \(setting: .count) or \(setting: .score), H.264 pictures with equal numbers "
        + "could follow each other, which is not allowed"
    }
    if !container.carriesOrientation, let orientation = video.tags?.string("image-orientation"),
      orientation != "rotate-0"
    {
      return "this container can't hold the orientation of the video"
    }
    return form(of: video) == nil ? "this container can't hold these \(video.caps.codecName) packets unchanged" : nil
  }

  /// True if frames that are not neighbours in the source may become neighbours in the output.
  private var joinsUnrelatedFrames: Bool {
    playback.frameRate != nil || playback.score != nil
      || playback.count > 1 && [.reverse, .forward].contains(playback.loop)
  }

  /// Returns the extensions of containers that accept the packets unchanged. `why` is the reason if
  /// no container does, and otherwise nil.
  static func containers(for video: VideoIndex, _ options: ReverseOptions) -> ([String], why: String?) {
    let names = ["mp4", "mov", "mkv", "webm", "avi", "ts"].filter { name in
      (try? Container.of("mirror.\(name)")).map { PacketOutput($0, options).refusal(of: video) == nil } ?? false
    }
    return (
      names,
      names.isEmpty
        ? video.obstacle ?? "no output format can hold these \(video.caps.codecName) packets unchanged"
        : nil
    )
  }

  /// Requested setting that needs decoded frames.
  private var asked: Setting? {
    [
      (encoding.reencodes, Setting.reencodes), (encoding.profile != nil, .profile),
      (encoding.deinterlaces, .deinterlaces), (encoding.maxSize != nil, .maxSize),
    ].first { $0.0 }?.1 ?? encoding.framing.settings.first ?? encoding.forOneEncoder.first
  }

  /// Returns the form in which the container accepts the packets; nil if there is no such form.
  func form(of video: VideoIndex) -> PacketForm? {
    guard container.caps != nil, !container.videoCodecs.isEmpty else { return nil }
    // AVI does not store colorimetry, so refuse codecs that do not store it either: players would
    // assume other colours.
    if container.lacksTimes, video.caps.has("colorimetry"),
      !PacketOutput.describingColours.contains(video.caps.mediaType)
    {
      return nil
    }
    if video.needsItsContainer { return nil }
    if container.isTransportStream, ["image/x-j2c", "image/x-jpc"].contains(video.caps.mediaType),
      Quirk.mpegtsmuxJPEG2000.applies
    {
      return nil
    }
    let caps = PacketOutput.named(video.caps).withPossiblePixels
    // `vp9parse` does not set the chroma format of RGB, which `mp4mux` requires.
    if caps.mediaType == "video/x-vp9", !container.muxers.contains(where: { Registry.factory($0, takesAllOf: caps) }) {
      return nil
    }
    if container.takes(caps) { return PacketForm(given: caps, taken: caps, conversion: []) }
    for (parser, text) in PacketOutput.conversions[video.caps.mediaType] ?? [] {
      guard let taken = Caps(text), container.takes(taken) else { continue }
      return PacketForm(given: caps, taken: taken, conversion: [parser, text])
    }
    return nil
  }

  /// Returns the caps of packets with the field names that muxers expect
  /// (`Quirk.matroskamuxFFV1Version`).
  static func named(_ caps: Caps) -> Caps {
    guard caps.mediaType == "video/x-ffv", Quirk.matroskamuxFFV1Version.applies else { return caps }
    return caps.setting("ffversion", "1")
  }

  /// Returns elements that convert an encoder's packets to a form that `container` accepts; empty
  /// if no conversion is known.
  static func conversion(of codec: Codec, for container: Container) -> [String] {
    for (parser, text) in conversions[codec.caps.mediaType] ?? [] {
      if let taken = Caps(text), container.takes(taken) { return [parser, text] }
    }
    return []
  }

  private static let describingColours: Set = ["image/jpeg", "image/png", "video/x-h264", "video/x-h265"]

  /// Parsers, each with the caps of its output, by media type of the packets. In byte-stream
  /// format, which has no out-of-band headers, the parsers put parameter sets before each keyframe.
  private static let conversions = [
    "video/x-h264": [
      ("h264parse", "video/x-h264,stream-format=avc,alignment=au"),
      ("h264parse config-interval=-1", "video/x-h264,stream-format=byte-stream,alignment=au"),
    ],
    "video/x-h265": [
      ("h265parse", "video/x-h265,stream-format=hvc1,alignment=au"),
      ("h265parse config-interval=-1", "video/x-h265,stream-format=byte-stream,alignment=au"),
    ],
    "image/x-j2c": [("jpeg2000parse", "image/x-jpc,alignment=frame")],
  ]
}
