import Retrograde

private func makeLoop() async throws {
  let playback = PlaybackOptions(loop: .pingPong)
  try await Reverser("jump.mp4", options: ReverseOptions(playback: playback)).reverse(to: "boomerang.mp4")
}
