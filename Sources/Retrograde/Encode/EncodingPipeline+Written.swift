import GStreamer
import RetrogradeEngine

// Comparison of the pushed with the written streams.
extension EncodingPipeline {
  /// Pushed frames, samples and cues, by kind, in the order of the streams.
  struct Given: Sendable {
    var videos: [MuxedCount.Given] = []
    var audio: [MuxedCount.Given] = []
    var texts: [MuxedCount.Given] = []
  }

  /// Counts of the written frames and samples.
  struct Counts: Sendable {
    /// Frames of each video.
    var frames: [Int] = []
    /// Sample frames of each audio stream.
    var samples: [Int] = []
    /// Cues of each stream of text.
    var cues: [Int] = []
  }

  /// Content of the file.
  struct Written: Sendable {
    var counts = Counts()
    /// From the earliest start of any video or audio to the latest end.
    var span: TimeSpan?
    /// Warnings about data that was given and is not in it, by the file's own timestamps.
    var warnings: [Warning] = []
    var streams: [WrittenMedia.Stream] = []
    /// Warnings about quality that was given up for a size that was asked for.
    var concessions: [Warning] = []
  }
}

extension WrittenMedia.Stream {
  /// - Parameters:
  ///   - orientation: GST_TAG_IMAGE_ORIENTATION.
  ///   - level: quality that is left of an animation; nil: all.
  ///   - format: name of an animation's format; nil: it is none.
  /// - Returns: nil where nothing was written of it.
  init?(video reached: MuxedCount.Reached, orientation: String?, _ level: AnimationLevel?, as format: String?) {
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

  /// - Returns: nil where nothing was written of it.
  init?(audio reached: MuxedCount.Reached) {
    guard let caps = reached.caps else { return nil }
    self.init(audio: caps, reached.raw)
  }
}
