import Retrograde

private func drawMovie() async throws {
  let movie = try await MovieWriter("curve.mp4", width: 640, height: 360, frameRate: 30)
  for number in 0..<90 {
    try await movie.add { context in drawCurve(Double(number) / 89, in: context) }
  }
  try await movie.finish()
}

private func drawCurve(_ grown: Double, in context: DrawingContext) {
  context.fill(.white)
  var curve = Path()
  curve.move(to: Point(x: 60, y: 180))
  curve.addCurve(
    to: Point(x: 60 + 520 * grown, y: 180), control1: Point(x: 60 + 170 * grown, y: 60),
    control2: Point(x: 60 + 350 * grown, y: 300))
  context.stroke(curve, with: .color(.black), Stroke(width: 10))
  let percent = Text("\(Int(grown * 100)) %", font: "Sans Bold 24", color: .black, alignment: .center)
  context.draw(percent, in: Rectangle(x: 0, y: 300, width: 640, height: 40))
}
