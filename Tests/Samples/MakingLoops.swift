import Retrograde

func makeALoop() async throws {
  var reverser = Reverser("jump.mp4")
  reverser.options.playback.loop = .pingPong
  reverser.options.playback.count = 3
  try await reverser.reverse(to: "boomerang.mp4")
}

func makeADance() async throws {
  var reverser = Reverser("jump.mp4")
  reverser.options.playback.score = Score([
    .stretch(from: 0, to: 4, speed: Speed(0.5)), .hold(.seconds(0.8)), .stretch(from: 4, to: 0, speed: Speed(2)),
  ])
  try await reverser.reverse(to: "dance.mp4")
}

func parseAScore(_ reverser: inout Reverser) throws {
  reverser.options.playback.score = try Score(parsing: "0..3, hold 0.8, 3..0 x2")
}

func makeALoopToBeRepeated() async throws {
  let playback = PlaybackOptions(loop: .pingPong, dropsSeam: true)
  try await Reverser("jump.mp4", options: ReverseOptions(playback: playback)).reverse(to: "loop.mp4")
}

func makeALoopThatCloses() async throws {
  let finder = LoopFinder("waves.mp4", lengths: .seconds(2) ... .seconds(6))
  let found = try await finder.find()
  try await finder.reverser(of: found, seam: .blend(.seconds(0.4))).reverse(to: "loop.mp4")
}
