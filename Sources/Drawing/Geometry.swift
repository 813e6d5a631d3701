/// Point, in pixels from the upper left corner: x points right, y points down.
public struct Point: Hashable, Sendable {
  public var x: Double
  public var y: Double

  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }
}

/// Size in pixels.
public struct Size: Hashable, Sendable {
  public var width: Double
  public var height: Double

  public init(width: Double, height: Double) {
    self.width = width
    self.height = height
  }
}

/// Axis-aligned rectangle, in pixels.
public struct Rectangle: Hashable, Sendable {
  /// Upper left corner.
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

  /// Returns the largest rectangle with the aspect ratio of `size` that fits in this rectangle,
  /// centred.
  public func fitting(_ size: Size) -> Rectangle {
    guard size.width > 0, size.height > 0 else { return self }
    let scale = min(self.size.width / size.width, self.size.height / size.height)
    let fitted = Size(width: size.width * scale, height: size.height * scale)
    return Rectangle(
      origin: Point(x: center.x - fitted.width / 2, y: center.y - fitted.height / 2), size: fitted)
  }
}

/// Colour with alpha; each component from 0 to 1.
public struct Color: Hashable, Codable, Sendable {
  public var red: Double
  public var green: Double
  public var blue: Double
  /// Opacity: 1 is opaque.
  public var alpha: Double

  public init(red: Double, green: Double, blue: Double, alpha: Double = 1) {
    self.red = red
    self.green = green
    self.blue = blue
    self.alpha = alpha
  }

  /// Creates a grey: 0 is black, 1 is white.
  public init(white: Double, alpha: Double = 1) {
    self.init(red: white, green: white, blue: white, alpha: alpha)
  }

  public static let black = Color(white: 0)
  public static let white = Color(white: 1)

  /// Returns the same colour with another opacity.
  public func opacity(_ alpha: Double) -> Color { Color(red: red, green: green, blue: blue, alpha: alpha) }
}
