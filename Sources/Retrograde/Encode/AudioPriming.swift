import GStreamer
import MediaTime

/// Samples that encoders put before the audio, and the places of times by which audio and video start
/// together all the same.
struct AudioPriming: Sendable, Codable {
  /// Time by which everything starts later than 0, if the container has no edit lists.
  private(set) var leadIn = ClockTime.zero
  /// Sample frames of priming, by stream.
  private(set) var samples: [Int]

  /// - Parameters: priming found where they were encoded: see the properties of the same names.
  init(leadIn: ClockTime, samples: [Int]) {
    self.leadIn = leadIn
    self.samples = samples
  }

  /// Finds the encoder of each stream in the pipeline. If the container has no edit lists, it gives the
  /// packets the times at which their samples are really heard.
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
