import GStreamer
import MediaTime
import RetrogradeEngine

/// Range of a track's audio in the order of play, as 32-bit floats with the requested sample rate
/// and number of channels.
final class SampleStream {
  private var player: AudioPlayer
  private let pipeline: Pipeline
  private let source: AppSource
  private let sink: AppSink
  private let cancellation: Cancellation
  private let channels: Int
  /// Source channel of each output channel; nil: the order is unchanged.
  private let order: [Int]?
  private var hasEnded = false

  /// - Parameters:
  ///   - from: start in the output, in the order of play.
  ///   - end: end in the output; nil: the end of the output.
  ///   - rate: sample rate to convert to.
  ///   - order: source channel of each output channel; nil: the order is unchanged.
  init(
    _ track: AudioTrack, _ legs: PlaybackLegs, from: ClockTime = .zero, to end: ClockTime? = nil, rate: Int,
    channels: Int, order: [Int]? = nil, _ cancellation: Cancellation
  ) throws {
    self.order = order
    self.cancellation = cancellation
    self.channels = channels
    player = AudioPlayer(track, legs, from: from, to: end, isPadded: true)
    pipeline = try Pipeline(
      "appsrc name=in format=time block=true max-buffers=2 caps=\(Description.quoted(track.caps.description)) ! "
        + "audioconvert dithering=none ! audioresample ! "
        + "audio/x-raw,format=F32LE,layout=interleaved,rate=\(rate),channels=\(channels) ! "
        + "appsink name=out sync=false enable-last-sample=false")
    source = try pipeline.appSource("in")
    sink = try pipeline.appSink("out")
    pipeline.set(.playing)
  }

  deinit { pipeline.set(.null) }

  /// Returns the next samples, interleaved; nil after the last one.
  func next() throws -> [Float32]? {
    while true {
      try cancellation.check()
      if let sample = sink.pull(timeout: .zero) { return try samples(sample) }
      if hasEnded {
        guard !sink.isEndOfStream else { return nil }
        if let sample = sink.pull(timeout: ClockTime(nanoseconds: 100_000_000)) { return try samples(sample) }
        if case .failed(let error)? = pipeline.nextMessage() { throw error }
      } else if let part = try player.next() {
        part.buffer.stamp(pts: part.shown.start, duration: part.shown.duration)
        guard source.push(part.buffer) else {
          throw GStreamerError(kind: .other, element: nil, message: "samples can't be compared", debug: nil)
        }
      } else {
        source.endOfStream()
        hasEnded = true
      }
    }
  }

  /// Reads at least `count` sample frames, or all remaining sample frames if they are fewer.
  func take(_ count: Int) throws -> [Float32] {
    var taken: [Float32] = []
    while taken.count < count * channels, let more = try next() { taken += more }
    return taken
  }

  private func samples(_ sample: Sample) throws -> [Float32] {
    let samples = try sample.buffer.withBytes { Array($0.bindMemory(to: Float32.self)) }
    guard let order else { return samples }
    return samples.indices.map { samples[$0 - $0 % channels + order[$0 % channels]] }
  }
}
