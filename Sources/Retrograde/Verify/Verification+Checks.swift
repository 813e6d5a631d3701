import MediaTime
import RetrogradeEngine

/// Derives checks from the figures of a comparison of frames.
extension FrameComparison {
  /// - Parameters:
  ///   - judgesPixels: true if each frame's pixels should equal those of its source frame, up to
  ///     the loss of a codec.
  ///   - saysDurations: true if the mirror's container stores the duration of every frame,
  ///     including the last frame.
  ///   - leftOut: frames of the source that the mirror's format can't hold; nil if there are none.
  func checks(
    _ label: String, isLossless: Bool, judgesPixels: Bool, tolerance: ClockTime, saysDurations: Bool,
    leftOut: String? = nil
  ) -> [Verification.Check] {
    var checks = [
      Verification.Check(
        "frames\(label)", found == expected,
        (found == expected ? "\(found)" : "\(found), expected \(expected)") + (leftOut.map { "; \($0)" } ?? ""),
        ["found": Double(found), "expected": Double(expected)])
    ]
    checks.append(
      sourceFrames?.check(label)
        ?? .init("source frames\(label)", true, "not checked: this source can't be decoded without seeks"))
    let compared = min(found, expected)
    guard compared > 0 else { return checks }
    let figures = [
      "identical": Double(identical), "leastLikeness": worst.likeness, "misplaced": Double(misplaced.count),
    ]
    let finding: String
    if identical == compared {
      finding =
        conversion.map {
          "every pixel is the same after the source is converted from \($0.source) to \($0.mirror)"
            + ($0.isRounded ? ", which rounds colours" : "")
        } ?? "every pixel is the same"
    } else if let first = misplaced.first {
      finding =
        (misplaced.count == 1 ? "1 frame is" : "\(misplaced.count) frames are")
        + " closer to the source frame before or after the expected one; the first is frame \(first)"
    } else {
      finding =
        "\(identical) of \(compared) are the same in every pixel; frame \(worst.frame) differs most from its source "
        + "frame (PSNR \(Decimals.text(worst.likeness, 1)) dB)"
    }
    let isAlike =
      isLossless ? identical == compared : misplaced.isEmpty && worst.likeness >= FrameComparison.leastLikeness
    checks.append(.init("order\(label)", isAlike, finding, figures))
    if !isLossless, judgesPixels, identical < compared { checks += pictureChecks(label) }
    if !judgesPixels, let kept = picture.keptColour {
      checks.append(
        .init(
          "colours\(label)", kept >= FrameComparison.leastColour,
          "\(Decimals.text(kept * 100, 0)) % as strong as the source's", ["kept": kept]))
    }
    let (error, frame) = times.largestError
    let (last, meant) = times.lastDuration
    // Allow a deviation of the last frame's duration, because other programs may give the last
    // frame the duration of the previous frame.
    let isLastHeld = !saysDurations || abs((last - meant).seconds) <= max(tolerance.seconds, meant.seconds / 2)
    let holds = error <= tolerance && isLastHeld
    checks.append(
      .init(
        "times\(label)", holds,
        holds
          ? "at most \(Decimals.milliseconds(error)) off"
          : isLastHeld
            ? "frame \(frame) is \(Decimals.milliseconds(error)) off"
            : "the last frame is shown for \(Decimals.milliseconds(last)), expected \(Decimals.milliseconds(meant))",
        ["ms": error.seconds * 1000, "frame": Double(frame), "delay-ms": delay.seconds * 1000]))
    return checks
  }
}

extension FrameComparison {
  /// Largest accepted difference of a block's mean from its source block, in 8-bit levels: for any
  /// codec, and for a lossless codec. After conversions to RGB or 4:4:4 and back, the largest
  /// measured difference was 3.3.
  private static let mostDifference = (any: 24.0, lossless: 4.0)
  /// Largest accepted mean differences of blocks, in 8-bit levels: over all frames, over the blocks
  /// in one range of levels, and over one frame.
  private static let (mostMean, mostLevel, mostFrame) = (1.2, 2.5, 4.0)
  /// Limit for chroma instead of `mostLevel`. It is larger, because codecs reduce saturated colours
  /// more than brightness.
  private static let mostChroma = 5.0
  /// Smallest accepted share of the source's colourfulness; even a palette of few colours preserves
  /// this share.
  private static let leastColour = 0.25

  private func pictureChecks(_ label: String) -> [Verification.Check] {
    let names = [picture.isRGB ? "green" : "brightness", "blue", "red", "transparency"]
    var figures: [String: Double] = [:]
    var (parts, levels): ([String], [String]) = ([], [])
    for (plane, name) in zip(picture.planes, names) where plane.count > 0 {
      let isChroma = !picture.isRGB && ["blue", "red"].contains(name)
      let usual = plane.usual(identical: identical)
      let least = isUnconverted ? FrameComparison.mostDifference.lossless : FrameComparison.mostDifference.any
      let most = max(least, 6 * Double(usual))
      figures["worst-\(name)"] = plane.worst.difference
      figures["usual-\(name)"] = Double(usual)
      figures["mean-\(name)"] = plane.mean
      figures["level-\(name)"] = plane.worstLevel
      figures["frame-\(name)"] = plane.worstFrame.difference
      let place = plane.worst
      if place.difference > most {
        let scale = isChroma ? 2 : 1
        parts.append(
          "frame \(place.frame) differs at x \(place.x * scale), y \(place.y * scale) by "
            + "\(Decimals.text(place.difference, 1)) of 255 in \(name)")
      }
      if abs(plane.mean) > FrameComparison.mostMean {
        levels.append("\(name) is off by \(Decimals.text(plane.mean, 1)) of 255 on average")
      } else if abs(plane.worstLevel) > (isChroma ? FrameComparison.mostChroma : FrameComparison.mostLevel) {
        levels.append("\(name) is off by \(Decimals.text(plane.worstLevel, 1)) of 255 in areas of uniform colour")
      } else if abs(plane.worstFrame.difference) > FrameComparison.mostFrame {
        let frame = plane.worstFrame
        levels.append("frame \(frame.frame) is off by \(Decimals.text(frame.difference, 1)) of 255 in \(name)")
      }
    }
    let cause = isUnconverted ? "a conversion of the pixel format" : "a lossy codec"
    let lost = "; such small differences can come from \(cause)"
    let worst = picture.planes.map(\.worst.difference).max() ?? 0
    return [
      .init(
        "picture\(label)", parts.isEmpty,
        parts.isEmpty
          ? "no square of 8x8 pixels differs by more than \(Decimals.text(worst, 1)) of 255\(lost)"
          : parts.joined(separator: ", "), figures),
      .init(
        "brightness\(label)", levels.isEmpty,
        levels.isEmpty ? "no change in brightness or colour" : levels.joined(separator: ", ")),
    ]
  }
}

extension AudioComparison {
  /// Largest accepted offset of lossy audio from the video, in seconds. It allows for containers
  /// that round times to a millisecond.
  private static let mostSync = 0.0015
  /// Largest number of sample frames that lossy codecs may add or remove.
  private static let padding = 4096
  /// Largest accepted change of level, in dB: for lossy codecs, and for rounding.
  private static let mostGain = (lossy: 1.0, exact: 0.01)

  /// Required exactness of the mirror's samples.
  enum Exactness {
    /// A codec that models speech (AMR, Speex) was used. It preserves level and pitch, but not the
    /// waveform.
    case modelled
    /// Another lossy codec was used, or the audio was resampled. The waveform is approximately
    /// preserved.
    case alike
    /// Only rounding is allowed.
    case rounded
    /// Samples must be bit-exact.
    case same

    var isExact: Bool { self == .rounded || self == .same }
  }

  /// - Parameters:
  ///   - rates: sample rates of the source and of the mirror, in Hz.
  ///   - keepsRate: true if the mirror's codec supports the source's sample rate.
  ///   - start: expected time of the first sample. Containers may round this time to a millisecond.
  ///   - delay: delay of the mirror's video; nil if there is no video.
  ///   - frame: duration of a frame, if the container counts frames instead of storing times;
  ///     otherwise nil.
  ///   - isPrimed: true if the codec's priming is played, because the container can't mark the
  ///     priming for removal.
  func checks(
    _ label: String, rates: (source: Int, mirror: Int), keepsRate: Bool, start: ClockTime, delay: ClockTime?,
    isPrimed: Bool, frame: ClockTime?, _ exactness: Exactness
  ) -> [Verification.Check] {
    let isResampled = rates.source != rates.mirror
    let (expected, found) = stored ?? (expected, found)
    let tolerance = stored == nil ? AudioComparison.padding : 0
    let difference = abs(found - expected)
    var checks = [
      Verification.Check(
        label, difference <= tolerance,
        difference == 0 ? "\(found) samples" : "\(found) samples, expected \(expected)",
        ["found": Double(found), "expected": Double(expected), "rate": Double(rates.mirror)])
    ]
    if isResampled {
      let isMeant = !keepsRate && exactness != .same
      checks.append(
        .init(
          "\(label) rate", isMeant,
          "\(rates.mirror) Hz instead of \(rates.source) Hz" + (isMeant ? ", which the codec doesn't support" : ""),
          ["rate": Double(rates.mirror)]))
    }
    guard let lag else {
      let isSilent = correlation == nil
      checks.append(
        .init(
          "\(label) samples", isSilent, isSilent ? "silence" : "the source's audio was not found",
          ["correlation": correlation ?? 1]))
      return checks
    }
    checks += samples(label, rate: rates.mirror, exactness)
    checks.append(
      sync(label, lag, rates.mirror, start, delay, isPrimed: isPrimed, frame: frame, isExact: exactness.isExact))
    return checks
  }

  private func samples(_ label: String, rate: Int, _ exactness: Exactness) -> [Verification.Check] {
    let alike = correlation ?? 1
    let same = largestDifference == 0
    let parts = windows.finding(exactness)
    let mostDrift =
      switch exactness {
      case .same, .rounded: 0
      // Allow for a measurement error: low notes correlate nearly as well at a lag that is wrong by
      // a few samples.
      case .alike: max(2, rate / 2000)
      case .modelled: Int.max
      }
    var text = "correlation \(Decimals.text(alike, 4)), largest difference \(Decimals.text(largestDifference, 4))"
    if same {
      text = "every sample is the same"
    } else if parts.differing.count > 0 {
      text = "differ from the source between \(span(parts.differing)); " + text
    } else if drift > mostDrift {
      text = "some are shifted by \(drift) samples relative to others"
    } else if !exactness.isExact, parts.quiet > 0 {
      text += "; \(parts.quiet) of \(parts.quiet + parts.judged) blocks are too quiet to judge after a lossy codec"
    }
    let holds =
      switch exactness {
      case .same: same
      case .rounded: parts.differing.count == 0 && drift <= mostDrift
      case .alike: parts.differing.count == 0 && alike >= 0.7 && drift <= mostDrift
      case .modelled: parts.differing.count == 0 && alike >= 0.3
      }
    let gain = parts.gain ?? 0
    let most = exactness.isExact ? AudioComparison.mostGain.exact : AudioComparison.mostGain.lossy
    let isLevel = parts.louder.count == 0 && abs(gain) <= most
    return [
      .init(
        "\(label) samples", holds, text,
        [
          "correlation": alike, "largestDifference": largestDifference, "drift": Double(drift),
          "differing": Double(parts.differing.count), "judged": Double(parts.judged), "quiet": Double(parts.quiet),
        ]),
      .init(
        "\(label) level", isLevel,
        isLevel
          ? "\(Decimals.text(gain, 2)) dB"
          : parts.louder.count > 0
            ? "louder or quieter than the source between \(span(parts.louder))"
            : "\(Decimals.text(gain, 2)) dB relative to the source",
        ["dB": gain, "windows": Double(parts.louder.count)]),
    ]
  }

  private func span(_ stretch: SampleWindows.WindowRange) -> String {
    "\(windows.time(of: stretch.first)) and \(windows.time(of: stretch.last + 1))"
  }

  private func sync(
    _ label: String, _ lag: Int, _ rate: Int, _ start: ClockTime, _ delay: ClockTime?, isPrimed: Bool,
    frame: ClockTime?, isExact: Bool
  ) -> Verification.Check {
    let late = Double(lag) / Double(max(rate, 1))
    let sync = late - (delay?.seconds ?? 0)
    var holds = abs(sync) <= AudioComparison.mostSync
    // Without video, a delay of the audio can't be told from a delay of the complete file, so allow
    // the delay of the priming.
    if delay == nil, isPrimed {
      holds = (-AudioComparison.mostSync...StreamDescriptions.mostPriming(rate)).contains(late)
    }
    if isExact {
      // Allow for containers that round the start to a millisecond, up or down.
      let part = Double(start.nanoseconds % 1_000_000) / 1e9
      let rounded = part > 0 ? -part - 1.5 / Double(max(rate, 1))...0.001 - part + 1.5 / Double(max(rate, 1)) : 0...0
      // If priming of another stream delays the complete file, allow a millisecond, because the
      // video's timestamps are rounded too.
      let isLater = (delay?.seconds ?? 0) > 0.002 && abs(sync) <= 0.001
      holds = delay == nil ? lag == 0 : rounded.contains(late) && holds || isLater
    }
    // In containers that count frames, timestamps are exact only to half a frame.
    if let frame, lag == 0 || !isExact { holds = holds || abs(sync) <= StreamDescriptions.mostShift(frame) }
    let moved = "\(Decimals.text(abs(sync) * 1000, 1)) ms \(sync < 0 ? "early" : "late")"
    return .init(
      "\(label) sync", holds,
      lag == 0 && abs(sync) < 0.0005
        ? "exact" : delay == nil ? "\(lag) samples late" : "\(moved) against the video",
      ["lag": Double(lag), "ms": sync * 1000])
  }
}

/// Formats numbers for messages.
enum Decimals {
  static func text(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite, abs(value) < 1e12 else { return "\(value)" }
    let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
    return "\((value * scale).rounded() / scale)"
  }

  static func milliseconds(_ time: ClockTime) -> String { text(time.seconds * 1000, 1) + " ms" }
}
