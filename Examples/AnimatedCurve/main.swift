// A curve that grows, as a movie, drawn straight into its frames.
//
//     swift run example-animated-curve curve.mp4
import Retrograde

let output = CommandLine.arguments.dropFirst().first ?? "curve.mp4"
let movie = try await MovieWriter(output, width: 640, height: 360, frameRate: FrameRate(parsing: "30") ?? .usual)
let frames = 90
for number in 0..<frames {
  let progress = Double(number + 1) / Double(frames)
  try await movie.add { context in
    context.fill(.white)
    let swing = 140 * (1 - progress)
    var curve = Path()
    curve.move(to: Point(x: 60, y: 180))
    curve.addCurve(
      to: Point(x: 60 + 520 * progress, y: 180), control1: Point(x: 60 + 170 * progress, y: 180 - swing - 40),
      control2: Point(x: 60 + 350 * progress, y: 180 + swing + 40))
    context.stroke(
      curve,
      with: .linear(
        from: Point(x: 60, y: 0), to: Point(x: 580, y: 0),
        stops: [.init(0, Color(red: 0.1, green: 0.3, blue: 0.9)), .init(1, Color(red: 0.9, green: 0.2, blue: 0.3))]),
      Stroke(width: 10))
    context.fill(Path(center: Point(x: 60 + 520 * progress, y: 180), radius: 12), with: .color(.black))
  }
}
let summary = try await movie.finish()
print("\(output): \(summary.frames) frames")
