/// A place, in pixels from the upper left corner: x to the right, y downwards.
public struct Point: Hashable, Sendable {
  public var x: Double
  public var y: Double

  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }
}

/// A size in pixels.
public struct Size: Hashable, Sendable {
  public var width: Double
  public var height: Double

  public init(width: Double, height: Double) {
    self.width = width
    self.height = height
  }
}

/// An upright rectangle, in pixels.
public struct Rectangle: Hashable, Sendable {
  /// Its upper left corner.
  public var origin: Point
  public var size: Size

  public init(origin: Point, size: Size) {
    self.origin = origin
    self.size = size
  }

  public init(x: Double, y: Double, width: Double, height: Double) {
    self.init(origin: Point(x: x, y: y), size: Size(width: width, height: height))
  }

  public var center: Point { Point(x: origin.x + size.width / 2, y: origin.y + size.height / 2) }

  /// The largest rectangle of the shape of `size` that fits in this one, in its middle.
  public func fitting(_ size: Size) -> Rectangle {
    guard size.width > 0, size.height > 0 else { return self }
    let scale = min(self.size.width / size.width, self.size.height / size.height)
    let fitted = Size(width: size.width * scale, height: size.height * scale)
    return Rectangle(
      origin: Point(x: center.x - fitted.width / 2, y: center.y - fitted.height / 2), size: fitted)
  }
}

/// A colour with an opacity, each part from 0 to 1.
public struct Color: Hashable, Codable, Sendable {
  public var red: Double
  public var green: Double
  public var blue: Double
  /// Opacity: 1 hides the pixels behind.
  public var alpha: Double

  public init(red: Double, green: Double, blue: Double, alpha: Double = 1) {
    self.red = red
    self.green = green
    self.blue = blue
    self.alpha = alpha
  }

  /// A grey: 0 is black, 1 is white.
  public init(white: Double, alpha: Double = 1) {
    self.init(red: white, green: white, blue: white, alpha: alpha)
  }

  public static let black = Color(white: 0)
  public static let white = Color(white: 1)

  /// The same colour with another opacity.
  public func opacity(_ alpha: Double) -> Color { Color(red: red, green: green, blue: blue, alpha: alpha) }
}
