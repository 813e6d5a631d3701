import GStreamer
import MediaTime
import RetrogradeEngine

/// Peaks of the audio of an output, for drawing a waveform. The output is divided into equal
/// intervals, called points.
struct Waveform {
  /// Largest magnitude of the samples in the interval of each point, 0 to 1.
  private(set) var peaks: [Float]
  private let points: Range<Int>
  /// Number of points in the complete output.
  private let count: Int
  /// Number of sample frames in the complete output.
  private let length: Int

  /// - Parameter points: points to analyse. The complete output is divided into `count` points.
  init(
    _ track: AudioTrack, _ legs: PlaybackLegs, _ duration: ClockTime, _ points: Range<Int>, of count: Int,
    _ cancellation: Cancellation
  ) throws {
    (self.points, self.count) = (points, count)
    peaks = [Float](repeating: 0, count: points.count)
    length = max(duration.sampleIndex(rate: track.rate), 1)
    let frames = start(of: points.lowerBound)..<start(of: points.upperBound)
    do {
      let samples = try SampleStream(
        track, legs, from: ClockTime(sampleIndex: frames.lowerBound, rate: track.rate),
        to: ClockTime(sampleIndex: frames.upperBound, rate: track.rate), rate: track.rate, channels: track.channels,
        cancellation)
      var position = frames.lowerBound
      while let part = try samples.next() {
        add(part, track.channels, from: position)
        position += part.count / track.channels
      }
    } catch let error as GStreamerError {
      throw RetrogradeError(.internalFailure, "the audio can't be analysed: \(error.message)", underlying: error)
    }
  }

  /// Returns the first sample frame of a point, counted from the start of the output.
  private func start(of point: Int) -> Int { (point * length + count - 1) / count }

  /// - Parameter position: position of the first sample frame of `part` in the output, in sample
  ///   frames.
  private mutating func add(_ part: [Float32], _ channels: Int, from position: Int) {
    part.withUnsafeBufferPointer { samples in
      let frames = samples.count / channels
      var frame = 0
      while frame < frames {
        let point = min((position + frame) * count / length, points.upperBound - 1)
        // Start of the next point, or end of `part` if that is earlier.
        let next = min(max(start(of: point + 1) - position, frame + 1), frames)
        let end = point == points.upperBound - 1 ? frames : next
        var peak: Float32 = 0
        for index in frame * channels..<end * channels { peak = max(peak, abs(samples[index])) }
        let place = point - points.lowerBound
        peaks[place] = min(max(peaks[place], peak), 1)
        frame = end
      }
    }
  }
}
