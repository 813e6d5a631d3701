import Retrograde

private func makeLoop() async throws {
  let options = ReverseOptions(
    playback: PlaybackOptions(loop: .pingPong, frameRate: 15), encoding: EncodingOptions(width: 480))
  let summary = try await Reverser("jump.mp4", options: options).reverse(to: "loop.gif")
  for warning in summary.warnings { print("warning:", warning) }
}
