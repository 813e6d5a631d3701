import GStreamer
import RetrogradeEngine

// Comparison of the pushed data with the data that reached the file.
extension EncodingPipeline {
  /// Pushed frames, samples and cues, by kind, in the order of the streams.
  struct PushedTotals: Sendable {
    var videos: [MuxedCount.PushedData] = []
    var audio: [MuxedCount.PushedData] = []
    var texts: [MuxedCount.PushedData] = []
  }

  /// Counts of the written frames, sample frames and cues.
  struct Counts: Sendable {
    /// Frames of each video.
    var frames: [Int] = []
    /// Sample frames of each audio stream.
    var samples: [Int] = []
    /// Cues of each subtitle stream.
    var cues: [Int] = []
  }

  /// Content of the file.
  struct Written: Sendable {
    var counts = Counts()
    /// Span from the earliest start to the latest end of all video and audio.
    var span: TimeSpan?
    /// Warnings about pushed data that is missing in the file (with times in the file), about
    /// details that did not fit in the file, about reduced pixel formats, and about times that an
    /// animation can't store.
    var warnings: [Warning] = []
    var streams: [WrittenMedia.Stream] = []
    /// Warnings about quality that was reduced to meet the size limit.
    var qualityReductions: [Warning] = []
  }
}

extension WrittenMedia.Stream {
  /// - Parameters:
  ///   - orientation: value of the tag GST_TAG_IMAGE_ORIENTATION.
  ///   - level: level to which the quality of an animation was reduced to meet the size limit; nil:
  ///     not reduced.
  ///   - format: name of the animation format; nil: no animation.
  /// - Returns: nil if nothing was written.
  init?(video reached: MuxedCount.MuxedData, orientation: String?, _ level: AnimationLevel?, as format: String?) {
    guard reached.count > 0, var caps = reached.caps else { return nil }
    var rate = reached.packetRate
    if let level {
      for side in ["width", "height"] {
        if let length = caps.int(side) { caps = caps.setting(side, "\(level.scaled(length))") }
      }
      rate = rate.map { $0 / Double(level.step) }
    }
    self.init(video: caps, reached.raw, rate: rate, orientation: orientation)
    if let format { codec = format }
  }

  /// - Returns: nil if nothing was written.
  init?(audio reached: MuxedCount.MuxedData) {
    guard let caps = reached.caps else { return nil }
    self.init(audio: caps, reached.raw)
  }
}
