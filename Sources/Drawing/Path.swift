/// Lines and curves to fill or stroke.
///
/// ```swift
/// var path = Path()
/// path.move(to: Point(x: 0, y: 100))
/// path.addCurve(to: Point(x: 200, y: 100), control1: Point(x: 50, y: 0), control2: Point(x: 150, y: 200))
/// ```
public struct Path: Hashable, Sendable {
  enum Element: Hashable, Sendable {
    case move(Point)
    case line(Point)
    case curve(Point, Point, Point)
    /// Clockwise arc; angles are in radians, and 0 points right.
    case arc(center: Point, radius: Double, from: Double, to: Double)
    case close
  }
  var elements: [Element] = []

  public init() {}

  /// Creates an axis-aligned rectangle; the corners are round if `radius` is above 0.
  public init(_ rectangle: Rectangle, radius: Double = 0) {
    let (left, top) = (rectangle.origin.x, rectangle.origin.y)
    let (right, bottom) = (left + rectangle.size.width, top + rectangle.size.height)
    if radius > 0 {
      let quarter = Double.pi / 2
      let corners = [
        (right - radius, top + radius), (right - radius, bottom - radius), (left + radius, bottom - radius),
        (left + radius, top + radius),
      ]
      for (number, corner) in corners.enumerated() {
        let start = Double(number - 1) * quarter
        addArc(center: Point(x: corner.0, y: corner.1), radius: radius, from: start, to: start + quarter)
      }
    } else {
      move(to: Point(x: left, y: top))
      addLine(to: Point(x: right, y: top))
      addLine(to: Point(x: right, y: bottom))
      addLine(to: Point(x: left, y: bottom))
    }
    close()
  }

  /// Creates a circle.
  public init(center: Point, radius: Double) {
    addArc(center: center, radius: radius, from: 0, to: 2 * .pi)
    close()
  }

  /// Starts a new subpath at `point`.
  public mutating func move(to point: Point) { elements.append(.move(point)) }
  /// Adds a straight line to `point`.
  public mutating func addLine(to point: Point) { elements.append(.line(point)) }
  /// Adds a cubic Bézier curve to `point`.
  public mutating func addCurve(to point: Point, control1: Point, control2: Point) {
    elements.append(.curve(control1, control2, point))
  }
  /// Adds a clockwise arc; angles are in radians, and 0 points right. A line joins the current
  /// point to the start of the arc.
  public mutating func addArc(center: Point, radius: Double, from start: Double, to end: Double) {
    elements.append(.arc(center: center, radius: radius, from: start, to: end))
  }
  /// Closes the subpath with a straight line to its start.
  public mutating func close() { elements.append(.close) }
}
