import Drawing
import GStreamer
import RetrogradeEngine

/// Stored size of a frame, with the pixel aspect ratio, rotation and flip for display.
struct ShownFrame: Sendable {
  /// Stored width in pixels.
  let width: Int
  let height: Int
  /// Pixel aspect ratio: displayed width of a pixel per unit of height.
  let aspect: Double
  /// Rotation and flip for display.
  let turn: FrameOrientation

  /// - Parameter orientation: value of the tag GST_TAG_IMAGE_ORIENTATION.
  init(_ raw: Caps, orientation: String?) {
    width = raw.int("width") ?? 0
    height = raw.int("height") ?? 0
    let ratio = raw.fraction("pixel-aspect-ratio") ?? (1, 1)
    aspect = ratio.numerator > 0 && ratio.denominator > 0 ? Double(ratio.numerator) / Double(ratio.denominator) : 1
    turn = FrameOrientation(orientation: orientation)
  }

  /// Display size, upright, in square pixels.
  var size: Size { turn.turned(Size(width: Double(width) * aspect, height: Double(height))) }

  /// Transform from points of the displayed frame to stored pixels.
  var stored: Transform {
    turn.source(of: Size(width: Double(width) * aspect, height: Double(height))).then(.scale(x: 1 / aspect, y: 1))
  }
}
