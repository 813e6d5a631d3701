// A title card, and then a clip that is played forwards and back, with an arrow that says which way.
//
//     swift run example-titled-boomerang jump.mp4 "The jump" boomerang.mp4
import Glibc
import Retrograde

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count == 3 else {
  print("usage: example-titled-boomerang CLIP TITLE OUTPUT")
  exit(64)
}
let (clip, title, output) = (arguments[0], arguments[1], arguments[2])
var reverser = Reverser(clip)
reverser.options.playback.loop = .pingPong
reverser.options.output.overwrites = true
reverser.title = Title(duration: ClockTime(seconds: 1.5)) { context, time in
  let size = context.size.height / 8
  let text = Text(
    title, font: "Sans Bold \(Int(size))", color: .white.opacity(min(1, time.seconds / 0.5)), alignment: .center)
  let taken = context.size(of: text, width: context.size.width)
  context.draw(
    text,
    in: Rectangle(
      x: 0, y: (context.size.height - taken.height) / 2, width: context.size.width, height: taken.height))
}
reverser.overlay = { context, frame in
  let size = context.size.height / 16
  let isForward = frame.direction == .forward
  let center = Point(x: context.size.width - 2 * size, y: 2 * size)
  var arrow = Path()
  arrow.move(to: Point(x: center.x + (isForward ? size : -size), y: center.y))
  arrow.addLine(to: Point(x: center.x + (isForward ? -size : size), y: center.y - size))
  arrow.addLine(to: Point(x: center.x + (isForward ? -size : size), y: center.y + size))
  arrow.close()
  context.fill(arrow, with: .color(.white.opacity(0.8)))
}
let reversal = reverser.start(to: output)
for await progress in reversal.progress where progress.stage == .reversing {
  print("\r\(Int(progress.fraction * 100))%", terminator: "")
}
let summary = try await reversal.summary()
print("\r\(output): \(summary.frames) frames, \(summary.duration)")
