import Containers
import MediaTime
import RetrogradeEngine

/// What segments of video are encoded in, and how.
enum SegmentCodec: String {
  /// What every browser plays.
  case h264
  case vp9

  /// The codecs in which a video is had: the usual one first, then its own, as far as that can be made while it is watched.
  ///
  /// On two cores libvpx made 73 frames of 1080p a second, x265 (`superfast`) 28, libaom 15: fewer than are watched.
  static func all(for video: VideoSource) -> [SegmentCodec] {
    let isVP9 = Codec(of: video.video.caps) == Codec(named: "vp9")
    return isVP9 && Codec(named: "vp9")?.encoder == "vp9enc" ? [.h264, .vp9] : [.h264]
  }

  /// As the source's; nil where it need not be.
  var nameOfSourceCodec: String? { self == .vp9 ? "VP9" : nil }

  /// On x264's scale, its own default; nil: what `settings` say.
  var quality: Int? { self == .h264 ? 23 : nil }

  /// x264's: a third faster than what is usual elsewhere, and half as large again. libvpx's: its fastest.
  var preset: String { self == .h264 ? "superfast" : "8" }

  /// What a segment takes at the most, in parts of the rate that its encoder is told: libvpx has no coarser quantizer for noise, of which it made 1.9
  /// times as much.
  var excess: Double { self == .h264 ? 1 : 2.2 }

  /// Properties of the encoder, which keep it to a quality as far as the rate goes.
  ///
  /// - Parameters:
  ///   - rate: in bits per second.
  ///   - buffer: how far a segment may run ahead of it.
  func settings(rate: Int, buffer: ClockTime) -> [String: String] {
    let buffer = "\(buffer.nanoseconds / 1_000_000)"
    switch self {
    case .h264:
      return ["bitrate": "\(rate / 1000)", "vbv-buf-capacity": buffer]
    case .vp9:
      // No better than this quantizer: about as like the source as x264's, for a tenth to a third more bytes (SSIM of two films 0.9907 and 0.9817,
      // x264's 0.9903 and 0.9838); and it gives out each frame when it has it.
      return [
        "end-usage": "cbr", "target-bitrate": "\(rate)", "min-quantizer": "16", "max-quantizer": "63",
        "buffer-size": buffer, "buffer-initial-size": buffer, "buffer-optimal-size": buffer,
      ]
    }
  }

  /// What always holds: frames come out in the order in which they are shown.
  var fixedSettings: [String: String] {
    // B-frames take a sixth more time for a seventh fewer bits, and players differ in what they make of times without an edit list.
    self == .h264 ? ["bframes": "0"] : [:]
  }
}
