import GStreamer
import MediaTime
import RetrogradeEngine

/// How loud audio is along an output.
struct Waveform {
  /// The greatest magnitude in each of the parts, 0 to 1.
  private(set) var peaks: [Float]

  init(
    _ track: AudioTrack, _ legs: PlaybackLegs, _ duration: ClockTime, points: Int, _ cancellation: Cancellation
  ) throws {
    peaks = [Float](repeating: 0, count: points)
    let length = max(duration.sampleIndex(rate: track.rate), 1)
    do {
      let samples = try SampleStream(track, legs, rate: track.rate, channels: track.channels, cancellation)
      var position = 0
      while let part = try samples.next() {
        let count = part.count / track.channels
        add(part, track.channels, from: position, of: length)
        position += count
      }
    } catch let error as GStreamerError {
      throw RetrogradeError(.internalFailure, "the audio can't be looked at: \(error.message)", underlying: error)
    }
  }

  /// - Parameter position: of the first sample frame of the part, of `length` in all.
  private mutating func add(_ part: [Float32], _ channels: Int, from position: Int, of length: Int) {
    let points = peaks.count
    part.withUnsafeBufferPointer { samples in
      let count = samples.count / channels
      var frame = 0
      while frame < count {
        let point = min((position + frame) * points / length, points - 1)
        // Where the next point begins, or the part ends.
        let next = min(max(((point + 1) * length + points - 1) / points - position, frame + 1), count)
        let end = point == points - 1 ? count : next
        var peak: Float32 = 0
        for index in frame * channels..<end * channels { peak = max(peak, abs(samples[index])) }
        peaks[point] = min(max(peaks[point], peak), 1)
        frame = end
      }
    }
  }
}
