import Containers
import GStreamer
import MediaTime
import RetrogradeEngine

/// Writes a video file within a size limit. Encodes at the bit rate that the limit and the duration
/// allow. If the file is too large, encodes again at a lower bit rate.
struct SizeLimitedEncode {
  private let plan: OutputPlan
  /// Size limit in bytes.
  private let limit: Int
  private let seconds: Double
  private let frameRate: Double
  /// Bit rate of each video without a size limit, in bits per second; nil if the encoder uses
  /// constant quality.
  private let usualRate: Int?
  private let audioRates: [Int]
  /// Estimated size of container headers and tables, in bytes.
  private let overhead: Double

  /// Largest number of attempts to meet the limit.
  private static let tries = 3
  /// Lowest number of bits per pixel for which frames keep their size; with fewer bits, smaller
  /// frames look better.
  private static let fewestBits = 0.03
  /// Smallest size of the shorter side after scaling, in pixels.
  private static let smallestSide = 96.0
  /// Largest share of a small file that audio may take.
  private static let audioShare = 0.25
  /// Bit rate per channel below which audio is not reduced, in bits per second.
  private static let lowestAudio = 24_000
  /// Assumed bit rate of audio whose bit rate is unknown, in bits per second.
  private static let usualAudio = 160_000

  /// - Throws: ``RetrogradeError`` of code `usage` if the output has no video, or no encoder with a
  ///   bit rate.
  init(_ plan: OutputPlan, limit: ByteCount) throws {
    self.plan = plan
    self.limit = limit.bytes
    seconds = max((plan.source.legs.duration ?? .zero).seconds, 0.001)
    frameRate = max((plan.source.video?.shown.timeline.frameRate ?? 0) * plan.source.legs.meanSpeed, 1)
    guard let video = plan.choice.videos.first else {
      throw RetrogradeError(
        .usage, about: plan.output,
        "\(setting: .maxSize) can't be used: the output has no video whose bit rate could be reduced")
    }
    guard let encoder = video.codec?.encoder, EncoderSettings.hasRate(encoder) else {
      throw RetrogradeError(
        .usage, about: plan.output,
        "\(setting: .maxSize) can't be used: \(video.codec?.encoder ?? "the encoder") has no bit rate setting",
        remedy: "add \(setting: .videoCodec) h264, or use .mp4")
    }
    usualRate = video.bitrate
    audioRates = plan.choice.audioBitrates.map { $0 ?? SizeLimitedEncode.usualAudio }
    // Each packet has a header or a table entry, whose size is assumed to be 24 bytes.
    let packets = frameRate * Double(plan.choice.videos.count) + 50 * Double(audioRates.count)
    overhead = 4096 + seconds * 24 * packets
  }

  /// - Returns: figures of the written file, such as the numbers of frames and samples.
  /// - Throws: ``RetrogradeError`` of code `cannotCreateOutput` if the file does not fit the limit.
  func write(_ outputs: Outputs, _ work: Work) throws -> Feed.Counts {
    let audio = lowered(audioRates)
    let heard = Double(audio.reduce(0, +)) / 8 * seconds
    let rest = overhead + heard
    // Encoders keep the bit rate to within a few per cent, so leave some room.
    let room = Double(limit) * 0.97 - rest
    var rate = room * 8 / seconds / Double(plan.choice.videos.count)
    rate = min(rate, usualRate.map(Double.init) ?? highestRate)
    var smallest: Int?
    for number in 1...SizeLimitedEncode.tries {
      guard rate >= 1000 else { break }
      let made = try changed(rate: Int(rate), audio: audio)
      var counts = try made.writeOnce(outputs, work)
      let size = RandomAccessFile(try outputs.location(of: plan.output))?.size ?? 0
      Log.job.info("\(plan.output): \(size) bytes at \(Int(rate)) bit/s of video, try \(number)")
      if size <= limit {
        counts.qualityReductions = qualityReductions(made, audio)
        return counts
      }
      smallest = min(smallest ?? size, size)
      rate *= 0.97 * max(room, 0) / max(Double(size) - rest, 1)
    }
    throw RetrogradeError(
      .cannotCreateOutput, about: plan.output,
      "does not fit in \(ByteCount(limit).decimal)"
        + (smallest.map { ": the smallest possible result has \(ByteCount($0).decimal)" }
          ?? ": its audio alone needs that much"),
      remedy: "make it shorter with \(setting: .end), or leave out the audio with \(setting: .noAudio)")
  }

  /// Estimated maximum bit rate of an encoder at constant quality, in bits per second.
  private var highestRate: Double { pixels * frameRate * 0.5 }

  private var pixels: Double { shown.width * shown.height }

  private var shown: (width: Double, height: Double) {
    plan.choice.videos.first?.geometry.map { ($0.shown.width, $0.shown.height) } ?? (1280, 720)
  }

  /// Returns the audio bit rates, reduced if audio would take too much of the file.
  private func lowered(_ rates: [Int]) -> [Int] {
    let room = (Double(limit) - overhead) * SizeLimitedEncode.audioShare * 8 / seconds
    let share = room / max(Double(rates.reduce(0, +)), 1)
    guard share < 1 else { return rates }
    return zip(rates, plan.audio).map { rate, track in
      min(rate, max(Int(max(Double(rate) * share, 0)), SizeLimitedEncode.lowestAudio * track.channels))
    }
  }

  /// Returns the plan with other bit rates, and with smaller frames if the video's bit rate is too
  /// low for the frame size.
  private func changed(rate: Int, audio: [Int]) throws -> OutputPlan {
    var options = plan.options
    options.encoding.isRateChosen = true
    if usualRate != rate { options.encoding.bitrate = rate }
    if audio != audioRates { options.encoding.audioBitrate = audio.min() }
    let side = SizeLimitedEncode.smallestSide / max(min(shown.width, shown.height), 1)
    let enough = SizeLimitedEncode.fewestBits * frameRate * max(pixels, 1)
    let factor = max((Double(rate) / enough).squareRoot(), side)
    // Without a size limit, the frame would be encoded at `usualRate` unscaled, so scale only below
    // that rate.
    if factor < 1, rate < usualRate ?? .max {
      let (width, height) = (Int(shown.width * factor), Int(shown.height * factor))
      if case .pad = options.encoding.framing.scale {
        options.encoding.framing.scale = .pad(width: width, height: height)
      } else {
        options.encoding.framing.scale = .fit(width: width, height: height)
      }
    }
    return try OutputPlan(plan.output, plan.source, options, plan.drawing)
  }

  private func qualityReductions(_ made: OutputPlan, _ audio: [Int]) -> [Warning] {
    func kilobits(_ rate: Int) -> String { "\(max(rate / 1000, 1)) kbit/s" }
    var lost: [String] = []
    if let rate = made.options.encoding.bitrate, usualRate.map({ rate < $0 }) ?? true {
      lost.append("\(kilobits(rate)) of video" + (usualRate.map { " instead of \(kilobits($0))" } ?? ""))
    }
    if let size = made.choice.videos.first?.geometry?.shown, size.width < shown.width {
      lost.append("\(Int(size.width))x\(Int(size.height)) pixels instead of \(Int(shown.width))x\(Int(shown.height))")
    }
    if let lowest = audio.min(), let usual = audioRates.min(), lowest < usual {
      lost.append("\(kilobits(lowest)) of audio instead of \(kilobits(usual))")
    }
    return Warning.qualityReductions(lost, under: ByteCount(limit))
  }
}

extension Warning {
  /// Returns warnings about quality that was reduced to meet the size limit.
  static func qualityReductions(_ lost: [String], under limit: ByteCount) -> [Warning] {
    guard !lost.isEmpty else { return [] }
    return [Warning(.converted, "reduced for \(setting: .maxSize) \(limit.decimal): \(lost.joined(separator: "; "))")]
  }
}
