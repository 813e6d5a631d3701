import Drawing

/// One of the eight ways in which a picture can lie: mirrored, left for right, or not, and then turned clockwise by quarters.
struct Turn: Hashable, Sendable {
  private var isMirrored = false
  private var quarters = 0

  static let none = Turn()

  /// - Parameter orientation: GST_TAG_IMAGE_ORIENTATION: how a picture has to be turned to be shown upright.
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

  /// This turn with left and right exchanged.
  private var mirrored: Turn {
    var turn = self
    turn.isMirrored.toggle()
    turn.quarters = (4 - quarters) % 4
    return turn
  }

  private func turned(by more: Int) -> Turn {
    var turn = self
    turn.quarters = (quarters + more) % 4
    return turn
  }

  /// This one, and then the other.
  func then(_ other: Turn) -> Turn { (other.isMirrored ? mirrored : self).turned(by: other.quarters) }

  /// Turn that undoes this one.
  var inverse: Turn {
    // To mirror again after a turn is to mirror first and turn the other way.
    var turn = self
    if !isMirrored { turn.quarters = (4 - quarters) % 4 }
    return turn
  }

  /// Whether width and height change places.
  var isSideways: Bool { quarters % 2 == 1 }

  /// GST_TAG_IMAGE_ORIENTATION.
  var orientation: String { (isMirrored ? "flip-rotate-" : "rotate-") + "\(quarters * 90)" }

  /// videoflip's `video-direction`; nil where it has nothing to do.
  var direction: String? { EncodingDescription.directions[orientation] }

  /// The way from places in a picture that is turned so to those where they were.
  /// - Parameter size: of the picture as it was.
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

  /// The size of a picture that is turned so.
  func turned(_ size: Size) -> Size {
    isSideways ? Size(width: size.height, height: size.width) : size
  }
}
