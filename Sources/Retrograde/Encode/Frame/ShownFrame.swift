import Drawing
import GStreamer
import RetrogradeEngine

/// A stored frame, and how it is shown.
struct ShownFrame: Sendable {
  /// Width as it is stored, in pixels.
  let width: Int
  let height: Int
  /// Pixel aspect ratio: width of a shown pixel for each unit of height.
  let aspect: Double
  /// How it is turned to be shown.
  let turn: Turn

  /// - Parameter orientation: GST_TAG_IMAGE_ORIENTATION.
  init(_ raw: Caps, orientation: String?) {
    width = raw.int("width") ?? 0
    height = raw.int("height") ?? 0
    let ratio = raw.fraction("pixel-aspect-ratio") ?? (1, 1)
    aspect = ratio.numerator > 0 && ratio.denominator > 0 ? Double(ratio.numerator) / Double(ratio.denominator) : 1
    turn = Turn(orientation: orientation)
  }

  /// The size in which it is shown, upright, in square pixels.
  var size: Size { turn.turned(Size(width: Double(width) * aspect, height: Double(height))) }

  /// The way from places in the frame as it is shown to pixels as they are stored.
  var stored: Transform {
    turn.source(of: Size(width: Double(width) * aspect, height: Double(height))).then(.scale(x: 1 / aspect, y: 1))
  }
}
