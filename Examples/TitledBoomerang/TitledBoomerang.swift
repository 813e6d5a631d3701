import ArgumentParser
import Retrograde

/// Plays a clip forwards and back after a title card. An arrow shows the direction.
///
///     swift run example-titled-boomerang jump.mp4 "The jump" boomerang.mp4
@main struct TitledBoomerang: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "example-titled-boomerang", abstract: "Plays a clip forwards and back, after a title card.")

  @Argument(help: "Clip to play.") var clip: String
  @Argument(help: "Text of the title card.") var title: String
  @Argument(help: "Movie to make. An existing file is replaced.") var output: String

  func run() async throws {
    var reverser = Reverser(clip)
    reverser.options.playback.loop = .pingPong
    reverser.options.output.overwrites = true
    reverser.title = Title(duration: .seconds(1.5)) { context, time in Self.draw(title, at: time, in: context) }
    reverser.overlay = { context, frame in Self.drawArrow(frame.direction, in: context) }
    let reversal = reverser.start(to: output)
    for await progress in reversal.progress where progress.stage == .reversing {
      print("\r\(Int(progress.fraction * 100))%", terminator: "")
    }
    let summary = try await reversal.summary()
    print("\r\(output): \(summary.frames) frames, \(summary.duration)")
  }

  private static func draw(_ title: String, at time: ClockTime, in context: DrawingContext) {
    let size = context.size.height / 8
    let text = Text(
      title, font: "Sans Bold \(Int(size))", color: .white.opacity(min(1, time / .seconds(0.5))), alignment: .center)
    let taken = context.size(of: text, width: context.size.width)
    context.draw(
      text,
      in: Rectangle(
        x: 0, y: (context.size.height - taken.height) / 2, width: context.size.width, height: taken.height))
  }

  private static func drawArrow(_ direction: Direction, in context: DrawingContext) {
    let size = context.size.height / 16
    let center = Point(x: context.size.width - 2 * size, y: 2 * size)
    let tip = direction == .forward ? size : -size
    var arrow = Path()
    arrow.move(to: Point(x: center.x + tip, y: center.y))
    arrow.addLine(to: Point(x: center.x - tip, y: center.y - size))
    arrow.addLine(to: Point(x: center.x - tip, y: center.y + size))
    arrow.close()
    context.fill(arrow, with: .color(.white.opacity(0.8)))
  }
}
