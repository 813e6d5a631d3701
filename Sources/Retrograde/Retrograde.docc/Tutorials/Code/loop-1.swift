import Retrograde

private func makeLoop() async throws {
  try await Reverser("jump.mp4").reverse(to: "pmuj.mp4")
}
