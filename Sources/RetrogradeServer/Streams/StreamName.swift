import Retrograde
import RetrogradeEngine

/// Order in which a file is played, as it stands in addresses: `usual`, a loop's name, or a score.
enum StreamName: Hashable, Sendable {
  /// The order that the server was told.
  case usual
  case loop(Loop)
  /// In the form that `Score` prints, so that one score has one name.
  case score(String)

  /// In bytes, and steps.
  private static let longest = (text: 400, steps: 32)

  init?(_ text: String) {
    if text == "usual" {
      self = .usual
    } else if let loop = Loop(rawValue: text) {
      self = .loop(loop)
    } else if text.utf8.count <= StreamName.longest.text, let score = try? Score(parsing: text),
      score.steps.count <= StreamName.longest.steps
    {
      self = .score("\(score)")
    } else {
      return nil
    }
  }

  var text: String {
    switch self {
    case .usual: "usual"
    case .loop(let loop): loop.rawValue
    case .score(let score): score
    }
  }

  /// Playback options of the stream, where the server was told `usual`.
  func playback(_ usual: PlaybackOptions) -> PlaybackOptions {
    var playback = usual
    switch self {
    case .usual: return usual
    case .loop(let loop):
      (playback.loop, playback.score) = (loop, nil)
    case .score(let text):
      // A score is the whole order of play.
      (playback.loop, playback.start, playback.end) = (.reverse, nil, nil)
      playback.score = try? Score(parsing: text)
    }
    return playback
  }
}
