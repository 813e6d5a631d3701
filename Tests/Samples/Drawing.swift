import Retrograde

func drawACurve() -> Path {
  var path = Path()
  path.move(to: Point(x: 0, y: 100))
  path.addCurve(to: Point(x: 200, y: 100), control1: Point(x: 50, y: 0), control2: Point(x: 150, y: 200))
  return path
}
