import GStreamer
import MediaTime

/// Priming samples that audio encoders insert before the audio, and the delay of all streams that
/// makes room for the priming.
struct AudioPriming: Sendable, Codable {
  /// Timestamp at which all streams start, after the priming; 0 if the container has edit lists,
  /// which hide the priming.
  private(set) var leadIn = ClockTime.zero
  /// Number of priming sample frames of each stream.
  private(set) var samples: [Int]

  /// Creates priming from earlier measurements.
  init(leadIn: ClockTime, samples: [Int]) {
    self.leadIn = leadIn
    self.samples = samples
  }

  /// Measures the priming of each stream's encoder in the pipeline. If the container has no edit
  /// lists, packets get timestamps that are earlier by the priming, because players play the
  /// priming too.
  init(_ pipeline: Pipeline, _ audio: [EncodingPipeline.Stream], hasEditLists: Bool) {
    samples = audio.map { _ in 0 }
    for (index, stream) in audio.enumerated() {
      guard let encoder = pipeline.element(stream.name)?.downstream.first(where: { $0.isOfClass("Encoder") }),
        let factory = encoder.factoryName, let packets = encoder.staticPad("src")?.possibleCaps,
        let rate = stream.caps.int("rate")
      else { continue }
      let count = EncoderDelay(encoder: factory, packets: packets, raw: stream.caps).samples
      guard count > 0 else { continue }
      samples[index] = count
      if hasEditLists { continue }
      let delay = ClockTime(sampleIndex: count, rate: rate)
      leadIn = max(leadIn, delay)
      encoder.staticPad("src")?.onBuffer { $0.withPresentationTime(earlierBy: delay) }
    }
  }
}
