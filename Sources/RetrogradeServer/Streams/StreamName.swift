import Retrograde
import RetrogradeEngine

/// Order of play in addresses: `usual`, a loop's name, or a score.
enum StreamName: Hashable, Sendable {
  /// The server's default order.
  case usual
  case loop(Loop)
  /// Canonical form as printed by `Score`, so that each score has one name.
  case score(String)

  /// Maximum length of a score: bytes of text, and number of steps.
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

  /// Returns the playback options of the stream.
  /// - Parameter usual: the server's default options.
  func playback(_ usual: PlaybackOptions) -> PlaybackOptions {
    var playback = usual
    switch self {
    case .usual: return usual
    case .loop(let loop):
      (playback.loop, playback.score) = (loop, nil)
    case .score(let text):
      // A score defines the complete order of play.
      (playback.loop, playback.start, playback.end) = (.reverse, nil, nil)
      playback.score = try? Score(parsing: text)
    }
    return playback
  }
}
