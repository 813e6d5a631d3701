/// Colour or gradient to fill or stroke a shape with.
public enum Paint: Hashable, Sendable {
  case color(Color)
  /// Gradient along a line; the `place` of a stop is 0 at the start of the line, 1 at its end.
  case linear(from: Point, to: Point, stops: [Stop])
  /// Gradient around a point; the `place` of a stop is 0 at the centre, 1 at the distance `radius`.
  case radial(center: Point, radius: Double, stops: [Stop])

  /// Colour at a position in a gradient.
  public struct Stop: Hashable, Sendable {
    public var place: Double
    public var color: Color

    public init(_ place: Double, _ color: Color) {
      self.place = place
      self.color = color
    }
  }
}

/// Line style.
public struct Stroke: Hashable, Sendable {
  /// Width of the line, in pixels.
  public var width: Double
  /// True for round ends and corners; false for ends cut off at the end point, and mitred corners.
  public var isRound: Bool
  /// Alternating lengths of dashes and gaps, in pixels; empty for a solid line.
  public var dashes: [Double]

  public init(width: Double, isRound: Bool = true, dashes: [Double] = []) {
    self.width = width
    self.isRound = isRound
    self.dashes = dashes
  }
}

/// Text to draw, with its font, colour and alignment.
public struct Text: Hashable, Sendable {
  public enum Alignment: Hashable, Sendable { case left, center, right }

  public var string: String
  /// Font in Pango's syntax: family, style, size in pixels, such as `Sans Bold 32`.
  public var font: String
  public var color: Color
  public var alignment: Alignment
  /// Colour of the outline around the letters, and width of the outline in pixels. An outline keeps
  /// text legible over any image.
  public var outline: (color: Color, width: Double)? {
    get { outlineColor.map { ($0, outlineWidth) } }
    set { (outlineColor, outlineWidth) = (newValue?.color, newValue?.width ?? 0) }
  }
  private var outlineColor: Color?
  private var outlineWidth = 0.0

  public init(
    _ string: String, font: String = "Sans 32", color: Color = .white, alignment: Alignment = .left,
    outline: (color: Color, width: Double)? = nil
  ) {
    self.string = string
    self.font = font
    self.color = color
    self.alignment = alignment
    self.outline = outline
  }
}
