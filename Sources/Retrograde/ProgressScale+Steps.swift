import MediaTime
import RetrogradeEngine

// How long steps take beside each other, more or less: encoding video takes the most, by far.

extension [ExpectedStep] {
  /// Steps of reversing a source of which nothing is known yet.
  /// - Parameter isFetched: whether it comes from the web.
  static func reversing(isVerified: Bool, isFetched: Bool = false) -> [ExpectedStep] {
    [
      ExpectedStep(.fetching, isFetched ? 3 : 0), ExpectedStep(.indexing, 1), ExpectedStep(.reversing, 12),
      ExpectedStep(.finishing, 0.3),
    ]
      + (isVerified ? comparing(videos: 1, audio: 1) : [])
  }

  /// Steps of comparing a mirror with its source.
  static func comparing(videos: Int, audio: Int) -> [ExpectedStep] {
    [ExpectedStep(.indexingSource, 1), ExpectedStep(.indexingMirror, 1)] + compared(videos: videos, audio: audio)
  }

  /// Steps of the comparison that remain when both are indexed.
  static func compared(videos: Int, audio: Int) -> [ExpectedStep] {
    (0..<videos).map { ExpectedStep(.comparingVideo($0), 6) }
      + (0..<audio).map { ExpectedStep(.comparingAudio($0), videos > 0 ? 1 : 2) }
  }
}

extension OutputPlan {
  /// About as many frames as encoders hold back, to look ahead, until they hear that there are no more.
  private static let heldFrames = 50.0

  private var frames: Double {
    videos.first.flatMap { VideoPlayer.frameCount($0, source.legs, timing: options.playback.timing) }.map(Double.init)
      ?? 0
  }

  /// Steps that follow when the source is indexed.
  var steps: [ExpectedStep] {
    let writing: (reversing: Double, finishing: Double) =
      if choice.container.animation == .gif {
        (1, 9)  // It gets its palette, and is written, when all its frames are known.
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
