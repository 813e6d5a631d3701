import Drawing

/// One of the eight orientations of a frame: optionally mirrored left to right, then rotated
/// clockwise by quarter turns.
struct FrameOrientation: Hashable, Sendable {
  private var isMirrored = false
  private var quarters = 0

  static let none = FrameOrientation()

  /// - Parameter orientation: value of the tag GST_TAG_IMAGE_ORIENTATION: the rotation and flip
  ///   that make a frame upright.
  init(orientation: String?) {
    guard let orientation, let degrees = orientation.split(separator: "-").last.flatMap({ Int($0) }) else { return }
    isMirrored = orientation.hasPrefix("flip")
    quarters = degrees / 90 % 4
  }

  init(_ framing: Framing) {
    quarters = (framing.rotation?.rawValue ?? 0) / 90
    switch framing.flip {
    case .horizontal: self = mirrored
    case .vertical: self = mirrored.turned(by: 2)
    case nil: break
    }
  }

  private init() {}

  /// This orientation, followed by an exchange of left and right.
  private var mirrored: FrameOrientation {
    var turn = self
    turn.isMirrored.toggle()
    turn.quarters = (4 - quarters) % 4
    return turn
  }

  private func turned(by more: Int) -> FrameOrientation {
    var turn = self
    turn.quarters = (quarters + more) % 4
    return turn
  }

  /// Returns this orientation, followed by the orientation `other`.
  func then(_ other: FrameOrientation) -> FrameOrientation {
    (other.isMirrored ? mirrored : self).turned(by: other.quarters)
  }

  /// Orientation that undoes this orientation.
  var inverse: FrameOrientation {
    // An orientation with mirroring undoes itself: mirroring after a rotation equals mirroring
    // first and rotating the other way.
    var turn = self
    if !isMirrored { turn.quarters = (4 - quarters) % 4 }
    return turn
  }

  /// True if width and height are exchanged.
  var isSideways: Bool { quarters % 2 == 1 }

  /// Value for the tag GST_TAG_IMAGE_ORIENTATION.
  var orientation: String { (isMirrored ? "flip-rotate-" : "rotate-") + "\(quarters * 90)" }

  /// `video-direction` of videoflip; nil if videoflip is not needed.
  var direction: String? { EncodingDescription.directions[orientation] }

  /// Returns the transform from positions in the rotated frame to positions in the original frame.
  /// - Parameter size: size of the original frame.
  func source(of size: Size) -> Transform {
    let (w, h) = (size.width, size.height)
    return switch (isMirrored, quarters) {
    case (false, 1): Transform(xx: 0, xy: 1, x0: 0, yx: -1, yy: 0, y0: h)
    case (false, 2): Transform(xx: -1, xy: 0, x0: w, yx: 0, yy: -1, y0: h)
    case (false, 3): Transform(xx: 0, xy: -1, x0: w, yx: 1, yy: 0, y0: 0)
    case (true, 0): Transform(xx: -1, xy: 0, x0: w, yx: 0, yy: 1, y0: 0)
    case (true, 1): Transform(xx: 0, xy: -1, x0: w, yx: -1, yy: 0, y0: h)
    case (true, 2): Transform(xx: 1, xy: 0, x0: 0, yx: 0, yy: -1, y0: h)
    case (true, 3): Transform(xx: 0, xy: 1, x0: 0, yx: 1, yy: 0, y0: 0)
    default: .identity
    }
  }

  /// Returns the size of the rotated frame.
  func turned(_ size: Size) -> Size {
    isSideways ? Size(width: size.height, height: size.width) : size
  }
}
