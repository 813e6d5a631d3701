import GStreamer
import RetrogradeEngine

extension DescriptionComparison {
  /// Checks the layout of the two views of stereoscopic video. Returns a check only if the mirror
  /// declares another layout, or declares none although its container can.
  static func views(
    _ source: VideoSource, _ mirror: VideoSource, _ label: String, _ container: Container
  ) -> [Verification.Check] {
    let (own, other) = (source.caps.stereoLayout, mirror.caps.stereoLayout)
    guard own != other, other != nil || own.map(container.holdsViews) ?? false else { return [] }
    return [.init("views\(label)", false, "\(other ?? "none"), expected \(own ?? "none")")]
  }
}
