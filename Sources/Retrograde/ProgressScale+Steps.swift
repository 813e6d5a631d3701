import MediaTime
import RetrogradeEngine

// The weights of the steps are approximate relative durations: encoding video takes by far the
// longest.

extension [ExpectedStep] {
  /// Returns the expected steps of a reversal, before anything is known about the source.
  /// - Parameter isFetched: true if the source is fetched from the web.
  static func reversing(isVerified: Bool, isFetched: Bool = false) -> [ExpectedStep] {
    [
      ExpectedStep(.fetching, isFetched ? 3 : 0), ExpectedStep(.indexing, 1), ExpectedStep(.reversing, 12),
      ExpectedStep(.finishing, 0.3),
    ]
      + (isVerified ? comparing(videos: 1, audio: 1) : [])
  }

  /// Returns the steps of comparing a mirror (a reversed file) with its source.
  static func comparing(videos: Int, audio: Int) -> [ExpectedStep] {
    [ExpectedStep(.indexingMirror, 1), ExpectedStep(.indexingSource, 1)] + compared(videos: videos, audio: audio)
  }

  /// Returns the steps of a comparison that remain after both files are indexed.
  static func compared(videos: Int, audio: Int) -> [ExpectedStep] {
    (0..<videos).map { ExpectedStep(.comparingVideo($0), 6) }
      + (0..<audio).map { ExpectedStep(.comparingAudio($0), videos > 0 ? 1 : 2) }
  }
}

extension OutputPlan {
  /// Approximate number of frames that an encoder still holds for look-ahead after the last frame
  /// was pushed.
  private static let heldFrames = 50.0

  private var frames: Double {
    videos.first.flatMap { VideoPlayer.frameCount($0, source.legs, timing: options.playback.timing) }.map(Double.init)
      ?? 0
  }

  /// Steps that follow the indexing of the source.
  var steps: [ExpectedStep] {
    let writing: (reversing: Double, finishing: Double) =
      if choice.container.animation == .gif {
        (1, 9)  // The palette depends on all frames, so the file is written after the last one.
      } else if videos.isEmpty {
        (2, 0.1)
      } else if choice.videos.allSatisfy({ $0.packets != nil }) {
        (1, 0.1)
      } else {
        (12, 12 * OutputPlan.heldFrames / max(frames, OutputPlan.heldFrames))
      }
    return [ExpectedStep(.reversing, writing.reversing), ExpectedStep(.finishing, writing.finishing)]
      + (options.output.isVerified ? .comparing(videos: videos.count, audio: audio.count) : [])
  }
}
