import GStreamer
import RetrogradeEngine

extension FrameConverter {
  /// - Parameters:
  ///   - caps: of the frames that are given.
  ///   - preparation: elements that they go through first, in `gst-launch-1.0` syntax.
  ///   - orientation: GST_TAG_IMAGE_ORIENTATION, by which they are turned upright; nil: they are left as they
  ///     are.
  ///   - form: the caps of the output, in caps syntax; an area of several pixels becomes their mean.
  convenience init(
    _ caps: Caps, _ preparation: [String] = [], orientation: String?, to form: String, _ cancellation: Cancellation
  ) throws {
    let turn = orientation.flatMap { EncodingDescription.directions[$0] }
    // Sides of one pixel are stretched, so that shape does not matter here.
    try self.init(
      caps,
      preparation + ["videoconvert dither=none"] + [turn.map { "videoflip video-direction=\($0)" }].compactMap { $0 }
        + ["videoscale method=bilinear2 add-borders=false"], to: form, cancellation)
  }
}
