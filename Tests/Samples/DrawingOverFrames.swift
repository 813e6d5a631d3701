import Retrograde

func drawOverFrames() async throws {
  var reverser = Reverser("jump.mp4")
  reverser.overlay = { context, frame in
    let text = Text("\(frame.sourceTime)", font: "Monospace Bold 24", outline: (.black, 2))
    context.draw(text, in: Rectangle(x: 16, y: 16, width: context.size.width, height: 40))
  }
  try await reverser.reverse(to: "pmuj.mp4")
  reverser.overlay = Overlays.all([Overlays.timecode, Overlays.caption("once more")])
  reverser.title = Title(duration: .seconds(1.5)) { context, time in
    let opacity = min(1, time / .seconds(0.5))
    let text = Text("The jump", font: "Sans Bold 48", color: .white.opacity(opacity), alignment: .center)
    context.draw(text, in: context.bounds)
  }
}
