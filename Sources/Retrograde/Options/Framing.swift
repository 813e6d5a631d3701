import RetrogradeEngine

/// Crop, orientation and size of a frame in the output.
///
/// All values refer to the frame as it is displayed: upright, with square pixels. They are always
/// applied in this order: crop, rotation, flip, scale.
///
/// ```swift
/// let story = Framing(crop: .shape(width: 9, height: 16), scale: .pad(width: 1080, height: 1920))
/// ```
public struct Framing: Sendable, Codable, Hashable {
  /// Area of the frame to keep. `at` is the position of the area's upper left corner in the frame;
  /// nil: the area is centred.
  ///
  /// In video, sizes and positions are rounded down to even numbers. In images, only positions are
  /// rounded down: to a row and a column with chroma samples (with 4:2:0, every second one).
  public enum Crop: Sendable, Codable, Hashable {
    /// Largest rectangle of this aspect ratio, such as 9 to 16.
    case shape(width: Double, height: Double, at: Place? = nil)
    /// Rectangle of this size, in pixels.
    case area(width: Int, height: Int, at: Place? = nil)
  }

  /// Position in pixels, from the upper left corner of the frame.
  public struct Place: Sendable, Codable, Hashable {
    public var x: Int
    public var y: Int

    public init(x: Int, y: Int) {
      self.x = x
      self.y = y
    }
  }

  /// Clockwise rotation in degrees.
  public enum Rotation: Int, Sendable, Codable, CaseIterable {
    case quarter = 90
    case half = 180
    case threeQuarters = 270
  }

  /// Direction of a flip.
  public enum Flip: String, Sendable, Codable, CaseIterable {
    /// Exchanges left and right.
    case horizontal
    /// Exchanges top and bottom.
    case vertical
  }

  /// Output size in square pixels: 1 to 16384 a side. In video, sizes are rounded to even numbers.
  public enum Scale: Sendable, Codable, Hashable {
    /// This width; the height keeps the aspect ratio.
    case width(Int)
    /// This height; the width keeps the aspect ratio.
    case height(Int)
    /// Largest size that fits into this rectangle and keeps the aspect ratio.
    case fit(width: Int, height: Int)
    /// Like `fit`, then padded with black bars to exactly this size.
    case pad(width: Int, height: Int)
    /// Like `fit`, but never upscales.
    case limit(width: Int, height: Int)
  }

  /// Crop; nil: the complete frame.
  public var crop: Crop?
  /// Rotation; nil: none.
  public var rotation: Rotation?
  /// Flip; nil: none.
  public var flip: Flip?
  /// Scale; nil: the original size.
  public var scale: Scale?

  public init(crop: Crop? = nil, rotation: Rotation? = nil, flip: Flip? = nil, scale: Scale? = nil) {
    self.crop = crop
    self.rotation = rotation
    self.flip = flip
    self.scale = scale
  }
}

extension Framing.Crop {
  /// Parses `9:16`, `2.39:1`, `9:16@100,0`, `640x640` or `640x640+100+0`.
  public init?(parsing text: String) {
    let parts = text.lowercased().split(separator: "@", omittingEmptySubsequences: false)
    if parts.count == 2 || text.contains(":") {
      guard parts.count <= 2, let (width, height) = Framing.pair(parts[0], ":", { Double(decimal: $0) }), width > 0,
        height > 0, width.isFinite, height.isFinite
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
  /// Parses two values with a separator between them; returns nil if `text` has another form.
  static func pair<Value>(
    _ text: Substring, _ separator: Character, _ read: (String) -> Value?
  ) -> (Value, Value)? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    guard parts.count == 2, let first = read(String(parts[0])), let second = read(String(parts[1])) else { return nil }
    return (first, second)
  }
}

extension Framing {
  /// Settings that differ from the default.
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
