import GStreamer
import RetrogradeEngine

/// Converts frames with transparency to the colours that are seen on a black background, with
/// their alpha.
///
/// The colours of fully transparent pixels are not seen, and may differ in a correct mirror: GIF
/// can't store them, and libwebp replaces them.
struct SeenFrames {
  /// Caps of the converted frames.
  let caps: Caps
  private let converter: FrameConverter
  private let reducer: FrameConverter

  /// - Parameters:
  ///   - caps: caps of the input frames.
  ///   - preparation: elements before the conversion, in `gst-launch-1.0` syntax.
  ///   - orientation: GST_TAG_IMAGE_ORIENTATION of the prepared frames.
  ///   - size: size of the upright frames.
  init(
    _ caps: Caps, _ preparation: [String], orientation: String?, size: (width: Int, height: Int),
    _ cancellation: Cancellation
  ) throws {
    let form = "video/x-raw,format=BGRA,width=\(size.width),height=\(size.height)"
    guard let seen = Caps("\(form),pixel-aspect-ratio=(fraction)1/1,framerate=(fraction)0/1") else {
      throw GStreamerError(kind: .other, element: nil, message: "frames can't be compared", debug: nil)
    }
    self.caps = seen
    converter = try FrameConverter(caps.withRange, preparation, orientation: orientation, to: form, cancellation)
    reducer = try FrameConverter(seen, orientation: nil, to: Thumbnail.seenForm, cancellation)
  }

  /// Converts a frame.
  /// - Parameter other: converted frame of the other file; partly transparent pixels get the alpha
  ///   of its pixels, or 255 if their alpha is 128 or more. nil: alpha is kept.
  func convert(_ frame: Buffer, _ caps: Caps, roundedLike other: Buffer? = nil) throws -> Buffer {
    try converter.convert(frame, caps.withRange).premultiplied(self.caps, roundedLike: other)
  }

  /// Converts a frame to a thumbnail.
  func thumbnail(_ frame: Buffer, _ caps: Caps, roundedLike other: Buffer? = nil) throws -> Thumbnail {
    try Thumbnail(seen: reducer.convert(convert(frame, caps, roundedLike: other), self.caps))
  }
}
