import Foundation
import Retrograde

func drawAMovie() async throws {
  let movie = try await MovieWriter("curve.mp4", width: 640, height: 360, frameRate: 30)
  for number in 0..<90 {
    try await movie.add { context in
      context.fill(.white)
      var line = Path()
      line.move(to: Point(x: 20, y: 180))
      line.addLine(to: Point(x: 20 + Double(number) * 6, y: 180))
      context.stroke(line, with: .color(.black), Stroke(width: 4))
    }
  }
  try await movie.add(imageAt: "end.png")
  try await movie.finish()
}

func drawALoop() async throws {
  let movie = try await MovieWriter("there-and-back.gif", width: 320, height: 180, frameRate: 12.5, loop: .pingPong)
  movie.cancel()
}

func drawAMovieWithAudio() async throws {
  let tone = MovieAudio(sampleRate: 48_000, channels: 1) { position in
    guard position < 3 * 48_000 else { return [] }
    return (position..<position + 4_800).map { Float(sin(Double($0) * 2 * .pi * 440 / 48_000)) }
  }
  let movie = try await MovieWriter("tone.mkv", width: 640, height: 360, frameRate: 30, audio: tone)
  movie.cancel()
}
