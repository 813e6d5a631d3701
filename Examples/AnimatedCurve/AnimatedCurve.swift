import ArgumentParser
import Foundation
import Retrograde

/// Makes a movie of a growing curve, drawn directly into its frames, with a rising tone.
///
///     swift run example-animated-curve curve.mp4
@main struct AnimatedCurve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "example-animated-curve", abstract: "Makes a movie of a growing curve, with a rising tone.")

  @Argument(help: "Movie to make.") var output = "curve.mp4"

  private static let frames = 90
  private static let frameRate: FrameRate = 30
  private static let sampleRate = 48_000

  func run() async throws {
    let movie = try await MovieWriter(
      output, width: 640, height: 360, frameRate: Self.frameRate, audio: Self.tone)
    for number in 0..<Self.frames {
      let grown = Double(number + 1) / Double(Self.frames)
      try await movie.add { context in Self.draw(grown, in: context) }
    }
    let summary = try await movie.finish()
    print("\(output): \(summary.frames) frames")
  }

  /// - Parameter grown: drawn share of the curve, from 0 to 1.
  private static func draw(_ grown: Double, in context: DrawingContext) {
    context.fill(.white)
    let swing = 140 * (1 - grown)
    var curve = Path()
    curve.move(to: Point(x: 60, y: 180))
    curve.addCurve(
      to: Point(x: 60 + 520 * grown, y: 180), control1: Point(x: 60 + 170 * grown, y: 180 - swing - 40),
      control2: Point(x: 60 + 350 * grown, y: 180 + swing + 40))
    context.stroke(
      curve,
      with: .linear(
        from: Point(x: 60, y: 0), to: Point(x: 580, y: 0),
        stops: [.init(0, Color(red: 0.1, green: 0.3, blue: 0.9)), .init(1, Color(red: 0.9, green: 0.2, blue: 0.3))]),
      Stroke(width: 10))
    context.fill(Path(center: Point(x: 60 + 520 * grown, y: 180), radius: 12), with: .color(.black))
  }

  /// Tone that rises from 220 to 440 Hz and lasts as long as the video.
  private static let tone: MovieAudio = {
    let count = frameRate.start(of: frames).sampleIndex(rate: sampleRate)
    return MovieAudio(sampleRate: sampleRate, channels: 1) { position in
      (position..<min(position + 4_800, count)).map { sample in
        let time = Double(sample) / Double(sampleRate)
        let turns = 220 * time + 110 * time * time * Double(sampleRate) / Double(count)
        return Float(0.2 * sin(2 * .pi * turns))
      }
    }
  }()
}
