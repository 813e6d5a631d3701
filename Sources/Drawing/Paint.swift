/// Colour or gradient with which a shape is filled or stroked.
public enum Paint: Hashable, Sendable {
  case color(Color)
  /// Colours along a line, each at a place from 0 (its start) to 1 (its end).
  case linear(from: Point, to: Point, stops: [Stop])
  /// Colours around a point, each at a place from 0 (the centre) to 1 (at `radius`).
  case radial(center: Point, radius: Double, stops: [Stop])

  /// A colour at a place of a gradient.
  public struct Stop: Hashable, Sendable {
    public var place: Double
    public var color: Color

    public init(_ place: Double, _ color: Color) {
      self.place = place
      self.color = color
    }
  }
}

/// How a line is drawn.
public struct Stroke: Hashable, Sendable {
  /// In pixels.
  public var width: Double
  /// Round ends and corners, rather than square ones.
  public var isRound: Bool
  /// The lengths of dashes and of the gaps between them, in turn, in pixels; empty: a whole line.
  public var dashes: [Double]

  public init(width: Double, isRound: Bool = true, dashes: [Double] = []) {
    self.width = width
    self.isRound = isRound
    self.dashes = dashes
  }
}

/// Text in a font, to be drawn.
public struct Text: Hashable, Sendable {
  public enum Alignment: Hashable, Sendable { case left, center, right }

  public var string: String
  /// Font as Pango reads it: family, style, size in pixels, such as `Sans Bold 32`.
  public var font: String
  public var color: Color
  public var alignment: Alignment
  /// An edge around the letters, which keeps them readable over any image, and its width in pixels.
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
