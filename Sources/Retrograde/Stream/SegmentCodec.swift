import Containers
import Glibc
import MediaTime
import RetrogradeEngine

/// Codec of video segments.
enum SegmentCodec: String {
  /// H.264, which every browser plays.
  case h264
  case hevc, vp9

  /// Returns the codecs to offer for a video at one size: H.264 first, then the source's codec if
  /// it is HEVC or VP9 and can be encoded in real time.
  ///
  /// AV1 is not offered, because it can't be encoded well in real time: at sufficient speed
  /// (`cpu-used` 10, 43 frames of 1080p a second on two cores), libaom made some frames look like
  /// their neighbours, and exceeded the target bit rate for noise.
  ///
  /// - Parameters:
  ///   - pixels: number of pixels in a frame.
  ///   - frameRate: number of frames per second.
  static func all(for video: VideoSource, pixels: Double, frameRate: Double) -> [SegmentCodec] {
    let own = [hevc, vp9].first { Codec(of: video.video.caps) == Codec(named: $0.rawValue) }
    guard let own, let (encoder, speed) = own.encoder, Codec(named: own.rawValue)?.encoder == encoder else {
      return [h264]
    }
    let watched = pixels * frameRate
    let made = speed * Double(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    return made >= watched * SegmentCodec.reserve ? [h264, own] : [h264]
  }

  /// Required speed of an encoder, relative to playback, measured without a decoder. It is above 1
  /// because in use, the source is decoded at the same time.
  private static let reserve = 1.5

  /// GStreamer encoder whose settings this type knows, and its speed on one core, in pixels of
  /// moving video per second. Two cores encoded 57 (HEVC) and 73 (VP9) frames of 1080p a second.
  /// nil for H.264, which is offered whatever its speed.
  private var encoder: (name: String, pixelsPerSecond: Double)? {
    switch self {
    case .h264: nil
    case .hevc: ("x265enc", 59e6)
    case .vp9: ("vp9enc", 76e6)
    }
  }

  /// Name of the codec, such as `VP9`; nil for H.264, which is offered for every source. Other
  /// codecs are offered only if the source has them.
  var nameOfSourceCodec: String? { self == .h264 ? nil : rawValue.uppercased() }

  /// Constant rate factor of x264 (x264's default); nil for the other encoders, whose quality
  /// ``settings(rate:buffer:)`` sets.
  var quality: Int? { self == .h264 ? 23 : nil }

  /// Speed preset of the encoder. x264 uses a faster preset than for files: encoding is a third
  /// faster, and the output is 1.5 times as large. Other encoders use their fastest preset.
  var preset: String {
    switch self {
    case .h264: "superfast"
    case .hevc: "ultrafast"
    case .vp9: "8"
    }
  }

  /// Largest bit rate of a segment relative to the target bit rate. It is above 1 for VP9, because
  /// libvpx lacks a quantizer that is coarse enough for noise: segments of noise had 1.9 times the
  /// target bit rate.
  var excess: Double { self == .vp9 ? 2.2 : 1 }

  /// Returns encoder properties for constant quality, limited by a bit rate.
  ///
  /// - Parameters:
  ///   - rate: limit in bits per second.
  ///   - buffer: size of the encoder's rate buffer, as playing time at `rate`. A segment may exceed
  ///     the limit by this amount.
  func settings(rate: Int, buffer: ClockTime) -> [String: String] {
    let milliseconds = "\(buffer.nanoseconds / 1_000_000)"
    switch self {
    case .h264:
      return ["bitrate": "\(rate / 1000)", "vbv-buf-capacity": milliseconds]
    case .hevc:
      // Disable open groups of pictures, because their first frames would need frames of the
      // previous segment.
      let most = "vbv-maxrate=\(rate / 1000):vbv-bufsize=\(Int(Double(rate) * buffer.seconds) / 1000)"
      return ["option-string": "crf=24:\(most):bframes=0:open-gop=0"]
    case .vp9:
      // `min-quantizer` 16 gives a quality like x264's, with 10 to 33 % more bytes (SSIM of two
      // videos: 0.9907 and 0.9817; with x264: 0.9903 and 0.9838). CBR also makes libvpx output each
      // frame without delay.
      return [
        "end-usage": "cbr", "target-bitrate": "\(rate)", "min-quantizer": "16", "max-quantizer": "63",
        "buffer-size": milliseconds, "buffer-initial-size": milliseconds, "buffer-optimal-size": milliseconds,
      ]
    }
  }

  /// Encoder properties that do not depend on the quality: they make the encoder output frames in
  /// display order.
  var fixedSettings: [String: String] {
    // B-frames save a seventh of the bits but take a sixth more time. Without an edit list, players
    // disagree about the timestamps of B-frames.
    self == .h264 ? ["bframes": "0"] : [:]
  }
}
