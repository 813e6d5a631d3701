import ArgumentParser
import Glibc
import Retrograde
import RetrogradeEngine
import Paths

/// Options for a score: a list of source ranges and pauses to play in order, instead of `--loop`.
struct ScoreArguments: ParsableArguments {
  @OptionGroup(title: "What to play") var parts: ScorePartArguments

  @OptionGroup(title: "Picture") var frames: ScoreFrameArguments

  @OptionGroup(title: "Sound") var audio: ScoreAudioArguments

  var score: Score? { parts.score }

  func validate() throws {
    if !(0...60).contains(frames.dissolve) { throw ValidationError("--dissolve must be 0 to 60 seconds.") }
  }

  func apply(to playback: inout PlaybackOptions) {
    playback.score = score
    audio.apply(to: &playback)
    playback.dissolve = ClockTime(seconds: frames.dissolve)
    playback.interpolation = frames.interpolate
  }
}

/// Option that lists the parts of a score, which are source ranges and pauses.
struct ScorePartArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Parts of the source to play in order, instead of --loop: '0..3, 3..1, 1..end'. A part FROM..TO is played "
        + "backwards if TO is earlier than FROM. After a part, you can write a speed (x0.5, or ramp 1..0.25 for a "
        + "gradual change) and how the part's audio plays (forward or mute). 'hold 0.8' is a pause of 0.8 seconds. "
        + "@FILE reads "
        + "the score from a file.",
      valueName: "score"),
    transform: Score.argument)
  var score: Score?
}

/// Options for the frames of a score.
struct ScoreFrameArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "With --score: length of the video crossfade at cuts, 0 (none) to 60 seconds. A cut is where a part "
        + "does not start at the position where the previous part ended.",
      valueName: "seconds"))
  var dissolve = 0.0

  @Option(
    help: ArgumentHelp(
      "With --score: how to add frames in slow parts. blend: each added frame is a mix of its two neighbours.",
      valueName: "method"))
  var interpolate: PlaybackOptions.Interpolation?
}

/// Options for the audio of a score.
struct ScoreAudioArguments: ParsableArguments {
  @Flag(help: "With --score: keep the audio's pitch in parts with another speed. Without it, pitch changes with speed.")
  var keepPitch = false

  @Option(
    help: ArgumentHelp(
      "Length of the audio crossfade that prevents clicks at cuts between parts, 0 to 10 seconds. (default: 0.005)",
      valueName: "seconds"))
  var joint: Double?

  func validate() throws {
    if let joint, !(0...10).contains(joint) { throw ValidationError("--joint must be 0 to 10 seconds.") }
  }

  func apply(to playback: inout PlaybackOptions) {
    playback.keepsPitch = keepPitch
    playback.joint = joint.map { ClockTime(seconds: $0) }
  }
}

extension Score {
  /// Parses the score in `text`, or in the file that `text` names after `@`.
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
