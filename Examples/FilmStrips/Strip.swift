import Retrograde

/// Film strip: frames side by side on black film, below its title.
struct Strip {
  var title: String
  var frames: [Image]

  private static let film = Color(white: 0.11)
  private static let margin = 12.0
  private static let holes = 18.0

  /// Draws the strip across the whole width, 200 pixels high.
  func draw(in context: DrawingContext, top: Double) {
    let width = context.size.width
    let name = Text(title, font: "Sans Bold 15", color: Color(white: 0.1))
    context.draw(name, in: Rectangle(x: Strip.margin, y: top + 4, width: width, height: 24))
    let film = Rectangle(x: 0, y: top + 32, width: width, height: 168)
    context.fill(Path(film), with: .color(Strip.film))
    for x in stride(from: 8.0, to: width, by: 24) {
      for y in [film.origin.y + 5, film.origin.y + film.size.height - 13] {
        context.fill(Path(Rectangle(x: x, y: y, width: 12, height: 8), radius: 2), with: .color(Color(white: 0.9)))
      }
    }
    let step = (width - Strip.margin) / Double(max(frames.count, 1))
    for (number, frame) in frames.enumerated() {
      context.draw(
        frame,
        in: Rectangle(
          x: Strip.margin + Double(number) * step, y: film.origin.y + Strip.holes, width: step - Strip.margin,
          height: film.size.height - 2 * Strip.holes))
    }
  }
}
