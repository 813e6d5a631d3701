import GStreamer
import RetrogradeEngine

extension FrameConverter {
  /// - Parameters:
  ///   - caps: caps of the input frames.
  ///   - preparation: elements before the conversion, in `gst-launch-1.0` syntax.
  ///   - orientation: value of the tag GST_TAG_IMAGE_ORIENTATION, by which frames are rotated
  ///     upright; nil: not rotated.
  ///   - form: output caps, in caps syntax. If the output is smaller than the input, pixels are
  ///     averaged.
  convenience init(
    _ caps: Caps, _ preparation: [String] = [], orientation: String?, to form: String, _ cancellation: Cancellation
  ) throws {
    let turn = orientation.flatMap { EncodingDescription.directions[$0] }
    // Frames are stretched to the output size without borders, even to a side of one pixel, since
    // the aspect ratio does not matter.
    try self.init(
      caps,
      preparation + ["videoconvert dither=none"] + [turn.map { "videoflip video-direction=\($0)" }].compactMap { $0 }
        + ["videoscale method=bilinear2 add-borders=false"], to: form, cancellation)
  }
}
