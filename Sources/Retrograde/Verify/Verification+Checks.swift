import MediaTime
import RetrogradeEngine

/// What the figures of a comparison mean.
extension FrameComparison {
  func checks(_ label: String, isLossless: Bool, tolerance: ClockTime) -> [Verification.Check] {
    var checks = [
      Verification.Check(
        "frames\(label)", found == expected,
        found == expected ? "\(found)" : "\(found), and \(expected) are expected",
        ["found": Double(found), "expected": Double(expected)])
    ]
    let compared = min(found, expected)
    guard compared > 0 else { return checks }
    let figures = [
      "identical": Double(identical), "leastLikeness": worst.likeness, "misplaced": Double(misplaced.count),
    ]
    let finding: String
    if identical == compared {
      finding = "every pixel is the same"
    } else if let first = misplaced.first {
      finding = "\(misplaced.count) are nearer to a neighbour of their source frame, the first is frame \(first)"
    } else {
      finding =
        "\(identical) of \(compared) are the same to the pixel; frame \(worst.frame) is the least like its source, "
        + "\(Decimals.text(worst.likeness, 1)) dB"
    }
    let isAlike =
      isLossless ? identical == compared : misplaced.isEmpty && worst.likeness >= FrameComparison.leastLikeness
    checks.append(.init("order\(label)", isAlike, finding, figures))
    let (error, frame) = timing
    let holds = error <= tolerance
    checks.append(
      .init(
        "times\(label)", holds,
        holds
          ? "at most \(Decimals.milliseconds(error)) off" : "frame \(frame) is \(Decimals.milliseconds(error)) off",
        ["ms": error.seconds * 1000, "frame": Double(frame), "delay-ms": delay.seconds * 1000]))
    return checks
  }
}

extension AudioComparison {
  /// Audio may be this much off the video, in seconds: codecs' times are rounded to a millisecond.
  private static let mostSync = 0.003
  /// The padding that lossy codecs may add or take, in sample frames.
  private static let padding = 4096

  /// - Parameters:
  ///   - rates: of the source and of the mirror, in Hz.
  ///   - delay: how much later the mirror's video is; nil where there is none.
  func checks(
    _ label: String, rates: (source: Int, mirror: Int), delay: ClockTime?, isLossless: Bool
  ) -> [Verification.Check] {
    let isResampled = rates.source != rates.mirror
    let (expected, found) = stored ?? (expected, found)
    let tolerance = stored == nil ? AudioComparison.padding : 0
    let difference = abs(found - expected)
    let rate = isResampled ? ", at \(rates.mirror) Hz instead of \(rates.source)" : ""
    var checks = [
      Verification.Check(
        label, difference <= tolerance && !(isLossless && isResampled),
        (difference == 0 ? "\(found) samples" : "\(found) samples, and \(expected) are expected") + rate,
        ["found": Double(found), "expected": Double(expected), "rate": Double(rates.mirror)])
    ]
    guard let lag else {
      let isSilent = correlation == nil
      checks.append(
        .init(
          "\(label) samples", isSilent, isSilent ? "silence" : "nothing of the source's is found",
          ["correlation": correlation ?? 1]))
      return checks
    }
    let alike = correlation ?? 1
    let same = largestDifference == 0
    checks.append(
      .init(
        "\(label) samples", isLossless ? same : alike >= 0.9 && drift <= 2,
        same
          ? "every sample is the same"
          : drift > 2
            ? "some are moved by \(drift) samples against others"
            : "correlation \(Decimals.text(alike, 4)), largest difference \(Decimals.text(largestDifference, 4))",
        ["correlation": alike, "largestDifference": largestDifference, "drift": Double(drift)]))
    let sync = Double(lag) / Double(max(rates.mirror, 1)) - (delay?.seconds ?? 0)
    let holds = delay == nil ? lag == 0 : abs(sync) <= AudioComparison.mostSync
    let moved = "\(Decimals.text(abs(sync) * 1000, 1)) ms \(sync < 0 ? "early" : "late")"
    checks.append(
      .init(
        "\(label) sync", holds,
        lag == 0 && abs(sync) < 0.0005
          ? "exact" : delay == nil ? "\(lag) samples late" : "\(moved) against the video",
        ["lag": Double(lag), "ms": sync * 1000]))
    return checks
  }
}

/// Numbers for people.
enum Decimals {
  static func text(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite, abs(value) < 1e12 else { return "\(value)" }
    let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
    return "\((value * scale).rounded() / scale)"
  }

  static func milliseconds(_ time: ClockTime) -> String { text(time.seconds * 1000, 1) + " ms" }
}
