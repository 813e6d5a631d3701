import Containers
import Glibc
import MediaTime
import RetrogradeEngine

/// Codec of video segments.
enum SegmentCodec: String {
  /// The codec that every browser plays.
  case h264
  case hevc, vp9

  /// Codecs offered for a video at one size: H.264 first, then the source's codec if it can be
  /// encoded in real time.
  ///
  /// AV1 can't: at sufficient speed (`cpu-used` 10, 43 frames of 1080p a second on two cores),
  /// libaom made some frames look like their neighbours, and noise exceeded the target bit rate.
  ///
  /// - Parameters:
  ///   - pixels: per frame.
  ///   - frameRate: in frames per second.
  static func all(for video: VideoSource, pixels: Double, frameRate: Double) -> [SegmentCodec] {
    let own = [hevc, vp9].first { Codec(of: video.video.caps) == Codec(named: $0.rawValue) }
    guard let own, let (encoder, speed) = own.encoder, Codec(named: own.rawValue)?.encoder == encoder else {
      return [h264]
    }
    let watched = pixels * frameRate
    let made = speed * Double(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    return made >= watched * SegmentCodec.reserve ? [h264, own] : [h264]
  }

  /// Required speed of an encoder alone, in multiples of playback: the source is decoded at the
  /// same time.
  private static let reserve = 1.5

  /// GStreamer encoder whose settings are known here, and its speed on one core, in pixels of
  /// moving video per second. Two cores encoded 57 (HEVC) and 73 (VP9) frames of 1080p a second.
  /// nil for H.264, which is always offered.
  private var encoder: (name: String, pixelsPerSecond: Double)? {
    switch self {
    case .h264: nil
    case .hevc: ("x265enc", 59e6)
    case .vp9: ("vp9enc", 76e6)
    }
  }

  /// Name of the codec if it is the source's; nil for H.264.
  var nameOfSourceCodec: String? { self == .h264 ? nil : rawValue.uppercased() }

  /// Quality on x264's scale, its default; nil: `settings` includes it.
  var quality: Int? { self == .h264 ? 23 : nil }

  /// Speed preset. x264: a third faster than the preset used elsewhere, with files 1.5 times as
  /// large. Others: their fastest.
  var preset: String {
    switch self {
    case .h264: "superfast"
    case .hevc: "ultrafast"
    case .vp9: "8"
    }
  }

  /// Largest size of a segment relative to the target bit rate. libvpx lacks a quantizer coarse
  /// enough for noise: it made 1.9 times as much.
  var excess: Double { self == .vp9 ? 2.2 : 1 }

  /// Properties of the encoder: constant quality, limited by a bit rate.
  ///
  /// - Parameters:
  ///   - rate: in bits per second.
  ///   - buffer: length by which a segment may exceed the rate.
  func settings(rate: Int, buffer: ClockTime) -> [String: String] {
    let milliseconds = "\(buffer.nanoseconds / 1_000_000)"
    switch self {
    case .h264:
      return ["bitrate": "\(rate / 1000)", "vbv-buf-capacity": milliseconds]
    case .hevc:
      // Frames of an open group would need those of the previous segment.
      let most = "vbv-maxrate=\(rate / 1000):vbv-bufsize=\(Int(Double(rate) * buffer.seconds) / 1000)"
      return ["option-string": "crf=24:\(most):bframes=0:open-gop=0"]
    case .vp9:
      // The least quantizer gives a quality like x264's, for 10 to 33 % more bytes (SSIM of two
      // videos: 0.9907 and 0.9817, x264's 0.9903 and 0.9838). CBR also outputs each frame at once.
      return [
        "end-usage": "cbr", "target-bitrate": "\(rate)", "min-quantizer": "16", "max-quantizer": "63",
        "buffer-size": milliseconds, "buffer-initial-size": milliseconds, "buffer-optimal-size": milliseconds,
      ]
    }
  }

  /// Properties for all qualities: frames are output in display order.
  var fixedSettings: [String: String] {
    // B-frames take a sixth more time for a seventh fewer bits, and players disagree about times
    // without an edit list.
    self == .h264 ? ["bframes": "0"] : [:]
  }
}
