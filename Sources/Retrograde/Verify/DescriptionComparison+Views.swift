import GStreamer
import RetrogradeEngine

extension DescriptionComparison {
  /// Checks the layout of the two views of stereoscopic video, and in Matroska their order. Returns
  /// a check only if the mirror declares another one, or declares none although its container can.
  static func views(
    _ source: VideoSource, _ mirror: VideoSource, _ label: String, _ container: Container
  ) -> [Verification.Check] {
    let (own, other) = (source.caps.stereoLayout, mirror.caps.stereoLayout)
    // Outside of Matroska, H.264 from x264 always declares the left view first.
    if own != nil, own == other, container.isMatroska, source.caps.isRightViewFirst != mirror.caps.isRightViewFirst {
      let order = mirror.caps.isRightViewFirst ? "right view first, expected left" : "left view first, expected right"
      return [.init("views\(label)", false, order)]
    }
    guard own != other, other != nil || own.map(container.holdsViews) ?? false else { return [] }
    return [.init("views\(label)", false, "\(other ?? "none"), expected \(own ?? "none")")]
  }
}
