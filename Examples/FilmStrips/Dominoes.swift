import Foundation
import Retrograde

/// One frame of the clip: a ball rolls in from the left, dominoes fall one after the other, and a
/// clock shows the time.
struct Dominoes {
  /// Seconds since the start of the clip.
  var time: Double

  private static let count = 7
  private static let ground = 216.0
  private static let size = Size(width: 16, height: 112)
  private static let spacing = 38.0
  /// Time at which the ball reaches the first domino, and the delay from each domino to the next.
  private static let start = 0.45
  private static let delay = 0.3
  /// Duration of a quarter turn.
  private static let fall = 0.55

  /// Angle between a domino and the next one that it leans on, and maximum angle of a leaning
  /// domino, in radians.
  private static let lean = 0.2
  private static let rest = 1.2

  private static func left(_ number: Int) -> Double { 62 + Double(number) * spacing }

  func draw(in context: DrawingContext) {
    context.fill(Color(red: 0.78, green: 0.9, blue: 0.98))
    let floor = Rectangle(x: 0, y: Dominoes.ground, width: context.size.width, height: context.size.height)
    context.fill(Path(floor), with: .color(Color(red: 0.45, green: 0.36, blue: 0.3)))
    // Draw the last domino first, because each domino leans over the next one.
    for number in (0..<Dominoes.count).reversed() { drawDomino(number, in: context) }
    let radius = 22.0
    // The ball rolls from beyond the left edge to the first domino, and stops there.
    let x = -radius + Dominoes.left(0) * min(1, time / Dominoes.start)
    context.fill(
      Path(center: Point(x: x, y: Dominoes.ground - radius), radius: radius),
      with: .color(Color(red: 0.85, green: 0.15, blue: 0.15)))
    let clock = Text(
      String(format: "0:%04.1f", time), font: "Monospace Bold 30", color: Color(white: 0.15), alignment: .right)
    context.draw(clock, in: Rectangle(x: 0, y: 10, width: context.size.width - 16, height: 50))
  }

  /// Returns the angle by which a domino has fallen, in radians.
  private func angle(of number: Int) -> Double {
    let elapsed = max(0, time - Dominoes.start - Double(number) * Dominoes.delay)
    let angle = Double.pi / 2 * pow(elapsed / Dominoes.fall, 2)
    // The last one falls flat; each of the others leans on the next.
    if number == Dominoes.count - 1 { return min(angle, Double.pi / 2) }
    return min(angle, Dominoes.rest, self.angle(of: number + 1) + Dominoes.lean)
  }

  private func drawDomino(_ number: Int, in context: DrawingContext) {
    let part = Double(number) / Double(Dominoes.count - 1)
    context.saved {
      // A domino turns about its lower right corner.
      context.translate(x: Dominoes.left(number) + Dominoes.size.width, y: Dominoes.ground)
      context.rotate(radians: angle(of: number))
      let domino = Rectangle(
        origin: Point(x: -Dominoes.size.width, y: -Dominoes.size.height), size: Dominoes.size)
      context.fill(
        Path(domino, radius: 3),
        with: .color(Color(red: 1 - 0.8 * part, green: 0.6 - 0.35 * part, blue: 0.05 + 0.75 * part)))
    }
  }
}
