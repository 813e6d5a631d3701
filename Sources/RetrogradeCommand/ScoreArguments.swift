import ArgumentParser
import Glibc
import Retrograde
import RetrogradeEngine
import Paths

/// Options of an order of play in place of a loop.
struct ScoreArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Stretches of the source, one after the other, backwards where the second place comes first: '0..3, 3..1, 1..end'; "
        + "with speeds (x0.5, ramp 1..0.25), pauses (hold 0.8), and audio (forward, mute). @file reads them from a file.",
      valueName: "score"),
    transform: Score.argument)
  var score: Score?

  @Option(
    help: ArgumentHelp(
      "For how many seconds the sounds of two stretches of a score overlap where they would click (0.005).",
      valueName: "seconds"))
  var joint: Double?

  @Option(
    help: ArgumentHelp(
      "For how many seconds the picture of a stretch goes on while that of the next comes, where it does not follow (0).",
      valueName: "seconds"))
  var dissolve = 0.0

  @Option(
    help: ArgumentHelp(
      "blend: make frames between those of stretches that are played slower than the source, each a mixture of two.",
      valueName: "way"))
  var interpolate: PlaybackOptions.Interpolation?

  @Flag(help: "Audio keeps its pitch at another speed, where it would follow it.")
  var keepPitch = false

  func validate() throws {
    if !(0...60).contains(dissolve) { throw ValidationError("--dissolve must be 0 to 60 seconds.") }
    if let joint, !(0...10).contains(joint) { throw ValidationError("--joint must be 0 to 10 seconds.") }
  }

  func apply(to playback: inout PlaybackOptions) {
    playback.score = score
    playback.keepsPitch = keepPitch
    playback.dissolve = ClockTime(seconds: dissolve)
    playback.interpolation = interpolate
    playback.joint = joint.map { ClockTime(seconds: $0) }
  }
}

extension Score {
  /// Reads an argument, or the file that it names.
  @Sendable static func argument(_ text: String) throws -> Score {
    do {
      guard text.hasPrefix("@") else { return try Score(parsing: text) }
      let path = String(text.dropFirst())
      guard let bytes = fileBytes(at: path, most: 1 << 24) else {
        throw ValidationError("--score: \(path) can't be read: \(String(cString: strerror(errno))).")
      }
      guard let score = String(validating: bytes, as: UTF8.self) else {
        throw ValidationError("--score: \(path) is not text.")
      }
      return try Score(parsing: score)
    } catch let error as RetrogradeError {
      throw ValidationError(error.message.inOptions)
    }
  }
}
