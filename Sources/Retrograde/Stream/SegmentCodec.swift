import Containers
import Glibc
import MediaTime
import RetrogradeEngine

/// Codec of the segments of a video.
enum SegmentCodec: String {
  /// The codec that every browser plays.
  case h264
  case hevc, vp9

  /// The codecs in which a video is had at a size: the usual one first, then its own, where that can be made while it is watched.
  ///
  /// AV1 can't: at the speeds that would do (`cpu-used` 10, 43 frames of 1080p a second on two cores) libaom gave some frames the look of their
  /// neighbours, and noise took more than the rate that it was told.
  ///
  /// - Parameters:
  ///   - pixels: of a frame.
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

  /// Speed of an encoder by itself, in multiples of playback: the source is decoded at the same time.
  private static let reserve = 1.5

  /// The only one of GStreamer's encoders whose settings are known here, and how many pixels of moving
  /// pictures it encodes in a second on one core: of 1080p, two of them made 57 and 73 frames (HEVC, VP9).
  /// Nil for the codec that is always there.
  private var encoder: (name: String, pixelsPerSecond: Double)? {
    switch self {
    case .h264: nil
    case .hevc: ("x265enc", 59e6)
    case .vp9: ("vp9enc", 76e6)
    }
  }

  /// Name of the codec if it is the source's own; nil for the usual one.
  var nameOfSourceCodec: String? { self == .h264 ? nil : rawValue.uppercased() }

  /// Quality on x264's scale, its own default; nil: `settings` has it.
  var quality: Int? { self == .h264 ? 23 : nil }

  /// Speed of x264: a third faster than the usual one elsewhere, with files half as large again. The others':
  /// their fastest.
  var preset: String {
    switch self {
    case .h264: "superfast"
    case .hevc: "ultrafast"
    case .vp9: "8"
    }
  }

  /// Largest size of a segment, in parts of the rate that its encoder is told: libvpx has no coarser
  /// quantizer for noise, of which it made 1.9 times as much.
  var excess: Double { self == .vp9 ? 2.2 : 1 }

  /// Properties of the encoder, which keep it to a quality as far as the rate goes.
  ///
  /// - Parameters:
  ///   - rate: in bits per second.
  ///   - buffer: how far a segment may run ahead of it.
  func settings(rate: Int, buffer: ClockTime) -> [String: String] {
    let milliseconds = "\(buffer.nanoseconds / 1_000_000)"
    switch self {
    case .h264:
      return ["bitrate": "\(rate / 1000)", "vbv-buf-capacity": milliseconds]
    case .hevc:
      // An open group's frames would need those of the segment before.
      let most = "vbv-maxrate=\(rate / 1000):vbv-bufsize=\(Int(Double(rate) * buffer.seconds) / 1000)"
      return ["option-string": "crf=24:\(most):bframes=0:open-gop=0"]
    case .vp9:
      // No better than this quantizer: about as like the source as x264's, for a tenth to a third more bytes (SSIM of two films 0.9907 and 0.9817,
      // x264's 0.9903 and 0.9838); and it gives out each frame when it has it.
      return [
        "end-usage": "cbr", "target-bitrate": "\(rate)", "min-quantizer": "16", "max-quantizer": "63",
        "buffer-size": milliseconds, "buffer-initial-size": milliseconds, "buffer-optimal-size": milliseconds,
      ]
    }
  }

  /// Properties that always hold: frames come out in the order in which they are shown.
  var fixedSettings: [String: String] {
    // B-frames take a sixth more time for a seventh fewer bits, and players treat times without an edit list
    // in different ways.
    self == .h264 ? ["bframes": "0"] : [:]
  }
}
