import GStreamer
import MediaTime
import RetrogradeEngine

/// Number of priming samples that an audio encoder inserts before the first sample of its input,
/// measured in the decoded audio.
///
/// Most encoders do not report the number (`Quirk.avencAACPriming`, `Quirk.lamemp3encPriming`). So
/// the priming is measured: noise is encoded and decoded, then located in the decoded audio.
struct EncoderDelay {
  /// Priming in sample frames; 0 if measuring fails, or if the codec's stream itself declares the
  /// priming (Opus).
  let samples: Int

  private static let length = 16_384
  /// Longest delay that can be found, in sample frames: well above the priming of AAC and MP3, even
  /// for 192 kHz audio that is resampled to 48 kHz.
  private static let reach = 8192
  private static let probe = 2048

  /// - Parameters:
  ///   - encoder: the factory name.
  ///   - packets: caps of the encoder's output.
  ///   - raw: caps of the encoder's input.
  init(encoder: String, packets: Caps, raw: Caps) {
    samples = (try? EncoderDelay.measure(encoder, packets, raw)) ?? 0
    Log.encode.info("\(encoder): puts \(samples) samples before the first")
  }

  private static func measure(_ encoder: String, _ packets: Caps, _ raw: Caps) throws -> Int {
    guard let rate = raw.int("rate"), let channels = raw.int("channels"),
      let decoder = AudioDecoder(for: packets)?.factory
    else { return 0 }
    // The channel mask does not matter, since all channels get the same noise, so use caps with the
    // default mask.
    guard let format = Caps(floatSamplesOf: channels, rate: rate)?.description else { return 0 }
    let pipeline = try Pipeline(
      "appsrc name=in format=time block=true caps=\(Description.quoted(format)) ! audioconvert ! audioresample ! \(encoder) ! "
        + "\(decoder) ! audioconvert ! audioresample ! audio/x-raw,format=F32LE,layout=interleaved,rate=\(rate) ! "
        + "appsink name=out sync=false async=false")
    defer { pipeline.set(.null) }
    let source = try pipeline.appSource("in")
    let sink = try pipeline.appSink("out")
    let noise = noise()
    let buffer = try Buffer(size: length * channels * 4) { bytes in
      let samples = bytes.bindMemory(to: Float32.self)
      for frame in 0..<length { for channel in 0..<channels { samples[frame * channels + channel] = noise[frame] } }
    }
    buffer.stamp(pts: .zero, duration: ClockTime(sampleIndex: length, rate: rate))
    pipeline.set(.playing)
    guard source.push(buffer) else { return 0 }
    source.endOfStream()
    var heard: [Float32] = []
    // Wait as long as necessary: a timeout could end the measurement on a busy machine, and the
    // output would then be out of sync.
    while heard.count < length + reach, !sink.isEndOfStream {
      guard let sample = sink.pull(timeout: ClockTime(nanoseconds: 100_000_000)) else {
        if case .failed? = pipeline.nextMessage() { break }
        continue
      }
      let count = sample.caps?.int("channels") ?? channels
      try sample.buffer.withBytes { bytes in
        let samples = bytes.bindMemory(to: Float32.self)
        for index in stride(from: 0, to: samples.count, by: max(count, 1)) { heard.append(samples[index]) }
      }
    }
    return lag(of: heard, against: noise)
  }

  /// Returns the delay of `noise` in `heard`, found by cross-correlation with the middle of
  /// `noise`.
  private static func lag(of heard: [Float32], against noise: [Float32]) -> Int {
    let start = (length - probe) / 2
    var best = (lag: 0, score: Float32.leastNormalMagnitude)
    heard.withUnsafeBufferPointer { heard in
      noise.withUnsafeBufferPointer { noise in
        for lag in 0..<reach where start + lag + probe <= heard.count {
          var score: Float32 = 0
          for index in start..<start + probe { score += noise[index] * heard[index + lag] }
          if score > best.score { best = (lag, score) }
        }
      }
    }
    return best.lag
  }

  /// Returns noise that is the same in every call, with only low frequencies, which every codec
  /// preserves.
  private static func noise() -> [Float32] {
    var state: UInt32 = 1
    var previous: Float32 = 0
    return (0..<length).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      previous += (Float32(state >> 8) / Float32(1 << 24) - 0.5 - previous) * 0.3
      return previous
    }
  }
}
