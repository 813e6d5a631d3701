import Retrograde

private func drawMovie() async throws {
  let movie = try await MovieWriter("curve.mp4", width: 640, height: 360, frameRate: 30)
  for _ in 0..<90 {
    try await movie.add { context in context.fill(.white) }
  }
  try await movie.finish()
}
