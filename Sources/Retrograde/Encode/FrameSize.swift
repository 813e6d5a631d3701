import GStreamer
import RetrogradeEngine

/// The size of a frame, as it is stored and as it is shown.
struct FrameSize {
  /// As it is stored, in pixels.
  let width: Int
  let height: Int
  /// How much wider than high a pixel is shown.
  private let aspect: Double
  /// Whether it is shown lying on its side, by its orientation tag.
  private let isTurned: Bool

  init(_ raw: Caps, orientation: String?) {
    width = raw.int("width") ?? 0
    height = raw.int("height") ?? 0
    let ratio = raw.fraction("pixel-aspect-ratio") ?? (1, 1)
    aspect = ratio.numerator > 0 && ratio.denominator > 0 ? Double(ratio.numerator) / Double(ratio.denominator) : 1
    isTurned = ["90", "270"].contains { orientation?.hasSuffix($0) ?? false }
  }

  /// The size in which it is shown, upright, in square pixels.
  var shown: (width: Double, height: Double) {
    let stored = (width: Double(width) * aspect, height: Double(height))
    return isTurned ? (stored.height, stored.width) : stored
  }

  /// The size with square pixels in which it is to be stored, before it is turned where the container says how to turn it.
  /// - Parameter width: the width as it is shown; nil: as wide as it is.
  /// - Returns: nil where nothing is to be changed.
  /// - Throws: ``RetrogradeError`` of code `usage` if that is no size.
  func scaled(to width: Int?, for container: Container) throws -> (width: Int, height: Int)? {
    // Nothing but pixels tells players of GIF, WebP or PNG how wide to show them.
    guard width != nil || container.imageFormat != nil && aspect != 1 else { return nil }
    let shown = shown
    let wanted = Double(width ?? Int(shown.width.rounded()))
    let even = container.imageFormat == nil  // half of the lines and columns have colour
    func whole(_ value: Double) -> Int { even ? Int((value / 2).rounded()) * 2 : Int(value.rounded()) }
    let size = (width: whole(wanted), height: max(whole(wanted * shown.height / shown.width), even ? 2 : 1))
    guard size.width >= 1, size.width <= 16_384, size.height <= 16_384 else {
      throw RetrogradeError(.usage, "a frame of \(size.width)x\(size.height) can't be made")
    }
    return isTurned && container.carriesOrientation ? (size.height, size.width) : size
  }
}
