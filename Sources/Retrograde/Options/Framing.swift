import RetrogradeEngine

/// Crop, orientation and size of a picture in the output.
///
/// All values refer to the picture as it is shown: upright, with square pixels. Whatever the order in which
/// they are set, they are applied in this one: the picture is cropped, then turned, then flipped, then
/// scaled.
///
/// ```swift
/// let story = Framing(crop: .shape(width: 9, height: 16), scale: .pad(width: 1080, height: 1920))
/// ```
public struct Framing: Sendable, Codable, Hashable {
  /// The rectangle that is left of the picture. Its upper left corner is at `at`, in pixels from that of the picture; nil: it lies in the
  /// middle.
  ///
  /// Sizes and places are rounded down to where the picture can be cut: in a film to even numbers, in images to where the source has a
  /// colour of its own, which in 4:2:0 is every other line and column.
  public enum Crop: Sendable, Codable, Hashable {
    /// The largest one of this shape, such as 9 to 16.
    case shape(width: Double, height: Double, at: Place? = nil)
    /// One of this size, in pixels.
    case area(width: Int, height: Int, at: Place? = nil)
  }

  /// In pixels, from the upper left corner of the picture.
  public struct Place: Sendable, Codable, Hashable {
    public var x: Int
    public var y: Int

    public init(x: Int, y: Int) {
      self.x = x
      self.y = y
    }
  }

  /// Angle by which the picture is turned, clockwise, in degrees.
  public enum Rotation: Int, Sendable, Codable, CaseIterable {
    case quarter = 90
    case half = 180
    case threeQuarters = 270
  }

  /// Which sides of the picture change places.
  public enum Flip: String, Sendable, Codable, CaseIterable {
    /// Left and right.
    case horizontal
    /// Top and bottom.
    case vertical
  }

  /// How large the picture is made, in pixels, which are square then: 1 to 16384 a side. In a film, sizes are rounded to even numbers.
  public enum Scale: Sendable, Codable, Hashable {
    /// This width; the height follows.
    case width(Int)
    /// This height; the width follows.
    case height(Int)
    /// The largest size that lies within this one.
    case fit(width: Int, height: Int)
    /// Like `fit`, and then exactly of this size, with black bars.
    case pad(width: Int, height: Int)
    /// Like `fit`, but never upscales.
    case limit(width: Int, height: Int)
  }

  /// nil: all of it.
  public var crop: Crop?
  /// nil: as it is.
  public var rotation: Rotation?
  /// nil: as it is.
  public var flip: Flip?
  /// nil: as large as it is.
  public var scale: Scale?

  public init(crop: Crop? = nil, rotation: Rotation? = nil, flip: Flip? = nil, scale: Scale? = nil) {
    self.crop = crop
    self.rotation = rotation
    self.flip = flip
    self.scale = scale
  }
}

extension Framing.Crop {
  /// Reads `9:16`, `2.39:1`, `9:16@100,0`, `640x640` or `640x640+100+0`.
  public init?(parsing text: String) {
    let parts = text.lowercased().split(separator: "@", omittingEmptySubsequences: false)
    if parts.count == 2 || text.contains(":") {
      guard parts.count <= 2, let (width, height) = Framing.pair(parts[0], ":", Double.init), width > 0, height > 0,
        width.isFinite, height.isFinite
      else { return nil }
      guard parts.count == 2 else {
        self = .shape(width: width, height: height)
        return
      }
      guard let (x, y) = Framing.pair(parts[1], ",", { Int($0) }), x >= 0, y >= 0 else { return nil }
      self = .shape(width: width, height: height, at: .init(x: x, y: y))
    } else {
      let parts = parts[0].split(separator: "+", omittingEmptySubsequences: false)
      guard let (width, height) = Framing.pair(parts[0], "x", { Int($0) }), width > 0, height > 0 else { return nil }
      switch parts.count {
      case 1: self = .area(width: width, height: height)
      case 3:
        guard let x = Int(parts[1]), let y = Int(parts[2]), x >= 0, y >= 0 else { return nil }
        self = .area(width: width, height: height, at: .init(x: x, y: y))
      default: return nil
      }
    }
  }
}

extension Framing {
  /// Two values with a separator between.
  static func pair<Value>(
    _ text: Substring, _ separator: Character, _ read: (String) -> Value?
  ) -> (Value, Value)? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    guard parts.count == 2, let first = read(String(parts[0])), let second = read(String(parts[1])) else { return nil }
    return (first, second)
  }
}

extension Framing {
  /// Settings that were asked for, by their names.
  var settings: [Setting] {
    var asked: [Setting] = []
    if crop != nil { asked.append(.crop) }
    if rotation != nil { asked.append(.rotation) }
    if flip != nil { asked.append(.flip) }
    switch scale {
    case .width: asked.append(.width)
    case .height: asked.append(.height)
    case .fit, .pad, .limit: asked.append(.fit)
    case nil: break
    }
    return asked
  }
}
