import Retrograde

func makeALoop() async throws {
  var reverser = Reverser("jump.mp4")
  reverser.options.playback.loop = .pingPong
  reverser.options.playback.count = 3
  try await reverser.reverse(to: "boomerang.mp4")
}

func makeALoopToBeRepeated() async throws {
  let playback = PlaybackOptions(loop: .pingPong, dropsSeam: true)
  try await Reverser("jump.mp4", options: ReverseOptions(playback: playback)).reverse(to: "loop.mp4")
}
