package import Containers
package import MediaTime

/// Warnings about data that the container declares but that the source lacks.
extension ContainerReport {
  /// Kind and length of an indexed stream.
  package struct Found: Sendable {
    package var kind: StreamKind
    package var frames: Int?
    package var end: ClockTime
  }

  /// Tolerance for containers that round times to a millisecond.
  private static let rounding = ClockTime(nanoseconds: 2_000_000)
  /// Tolerance for lengths that are numbers of audio samples: shorter than any sample.
  private static let partOfSample = ClockTime(nanoseconds: 1000)
  /// Difference in duration that is tolerated even in a file known to be damaged, because
  /// containers may declare the duration of the last frame in two ways.
  private static let vagueness = ClockTime(nanoseconds: 60_000_000)

  private var tolerance: ClockTime { countsSamples ? ContainerReport.partOfSample : ContainerReport.rounding }

  /// Returns warnings about declared data that is missing from `found`.
  /// - Parameters:
  ///   - isDamaged: true if damage is already known. Smaller differences are then reported, too.
  ///   - isWhole: true if all declared streams are indexed.
  package func warnings(_ found: [Found], isDamaged: Bool, isWhole: Bool = true) -> [Warning] {
    // `last` excludes subtitles, because they may extend beyond the point where data is missing.
    guard let whole = found.map(\.end).max(),
      let last = found.filter({ $0.kind != .subtitles }).map(\.end).max()
    else { return [] }
    let end = presentationEnd
    let allowed = isDamaged ? ContainerReport.vagueness : slack
    let isShort = isWhole && allowed.flatMap { allowed in end.map { $0 - whole > allowed } } ?? false
    guard isCut || isShort else { return brokenAt.map { [broken(at: $0, found, last)] } ?? [] }
    let isCut = isCut || countsSamples && brokenAt == nil
    var (parts, count) = missing(from: found)
    let isLater = end.map { $0 - last > tolerance } ?? false
    let place =
      isCut ? "cut: the file ends at \(last.inSeconds)" : "damaged: the file can be read until \(last.inSeconds)"
    let message: Message
    if let end, isLater || !parts.isEmpty {
      if parts.isEmpty { parts.append((end - last).atMostInSeconds) }
      message = "\(place) of \(end.inSeconds): \(parts.joined(separator: " and ")) are missing"
    } else if end != nil {
      message = "cut: the end of the file is missing, but all video and audio that the file declares is present"
    } else if !parts.isEmpty {
      message = "\(place), before the end of its container: at least \(parts.joined(separator: " and ")) are missing"
    } else {
      message = "\(place), before the end of its container; how much is missing is unknown"
    }
    let span = TimeSpan(start: last, end: isLater ? end ?? last : last)
    return [Warning(isCut ? .truncated : .damaged, message, count: count, span: span)]
  }

  private func broken(at place: Int, _ found: [Found], _ last: ClockTime) -> Warning {
    guard let count = missing(from: found).count else {
      return Warning(
        .damaged, "damaged: the file can't be read at byte \(place); that data is missing from the output")
    }
    let all = streams.compactMap(\.frames).reduce(0, +)
    return Warning(
      .damaged,
      "damaged: the file can't be read at byte \(place): at least \(count) of \(all) frames are missing, from "
        + "\(last.inSeconds) on", count: count, span: TimeSpan(start: last, end: last))
  }

  /// Returns a warning that data of the file at `path` is missing; nil if no data is known to be
  /// missing.
  package func warning(naming path: String) -> Warning? {
    if isCut {
      return Warning(
        .truncated, "cut: \(path) is incomplete: the file ends too early; the rest is missing from the output too")
    }
    return gaps.map { ContainerReport.missingPackets($0, of: path) }
      ?? brokenAt.map {
        Warning(.damaged, "damaged: \(path) can't be read at byte \($0); that data is missing from the output")
      }
  }

  /// Warnings about packets missing from the middle of the file.
  package var missingPackets: [Warning] {
    gaps.map { [ContainerReport.missingPackets($0, of: $0.of)] } ?? []
  }

  private static func missingPackets(_ gaps: Gaps, of file: String) -> Warning {
    let places = gaps.count == 1 ? "1 place" : "\(gaps.count) places"
    return Warning(
      .damaged, "damaged: packets of \(file) are missing in \(places), between about \(gaps.start) and \(gaps.end)",
      count: gaps.count, span: TimeSpan(start: gaps.start, end: gaps.end))
  }

  /// Warning about frames of a FLIC file that are not shown.
  package var unshown: [Warning] {
    guard unchangedFrames > 0 else { return [] }
    let all = unchangedFrames + streams.compactMap(\.frames).reduce(0, +)
    return [
      Warning(
        .converted,
        "shorter: \(unchangedFrames) of \(all) frames are missing, since GStreamer's flxdec drops frames that repeat "
          + "the one before; later frames are shown too early", count: unchangedFrames)
    ]
  }

  /// Warning about additional programs of a transport stream, which are not read.
  package var unread: [Warning] {
    guard furtherPrograms > 0 else { return [] }
    let what = furtherPrograms == 1 ? "1 more program" : "\(furtherPrograms) more programs"
    return [
      Warning(
        .streamLeftOut,
        "left out: \(what) of the transport stream: only the first is read; extract the others to reverse them",
        count: furtherPrograms)
    ]
  }

  /// Returns a warning about the files that follow the first one in a concatenated file.
  package func laterFiles(after end: ClockTime) -> [Warning] {
    links > 1 ? [.laterFiles(links - 1, at: nextFile, after: end)] : []
  }

  /// Returns descriptions of the missing data of each stream, and the number of missing frames; the
  /// number is nil if no missing frames are known.
  private func missing(from found: [Found]) -> (parts: [String], count: Int?) {
    var parts: [String] = []
    var count: Int?
    for kind in [StreamKind.video, .audio] {
      let (listed, there) = (streams.filter { $0.kind == kind }, found.filter { $0.kind == kind })
      // If some streams were excluded, declared and found streams cannot be matched.
      guard listed.count == there.count else { continue }
      for (listed, there) in zip(listed, there) {
        if let frames = listed.frames, let got = there.frames {
          if frames > got {
            parts.append("\(frames - got) of \(frames) frames of video")
            count = (count ?? 0) + frames - got
          }
        } else if let end = listed.end, end - there.end > tolerance {
          parts.append("\((end - there.end).atMostInSeconds) of \(kind.rawValue)")
        }
      }
    }
    return (parts, count)
  }
}

extension ClockTime {
  /// Time in seconds, such as `5.055 s`.
  package var inSeconds: String {
    let milliseconds = (nanoseconds.magnitude + 500_000) / 1_000_000
    let rest = String(milliseconds % 1000)
    let sign = nanoseconds < 0 && milliseconds > 0 ? "-" : ""
    return "\(sign)\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest) s"
  }

  /// Length in seconds, without rounding it to 0: a few samples are `less than 0.001 s`.
  fileprivate var atMostInSeconds: String {
    nanoseconds < 1_000_000 ? "less than 0.001 s" : inSeconds
  }
}

extension Topology {
  /// Returns warnings about streams that the container declares but the demuxer skips silently.
  func unknown(of declared: ContainerReport, _ playback: PlaybackOptions) -> [Warning] {
    [StreamKind.video, .audio].filter { playback.wantsAny($0) }.flatMap { kind in
      let listed = declared.streams.filter { $0.kind == kind }
      let known = streams.count { $0.kind == kind } + missing.count { ($0.mediaType ?? "").hasPrefix("\(kind)/") }
      let lost = max(listed.count - known, 0)
      // The demuxer skips all empty streams, so these are among the lost streams. It is unknown
      // which other streams the demuxer skips, so these are only counted.
      let empty = min(listed.count { $0.isEmpty }, lost)
      func what(_ count: Int) -> String {
        listed.count == 1 ? "the \(kind) stream" : "\(count) of \(listed.count) \(kind) streams"
      }
      func leftOut(_ count: Int, _ why: String) -> Warning? {
        count == 0 ? nil : Warning(.streamLeftOut, "left out: \(what(count)) of the file: \(why)", count: count)
      }
      let isOne = lost - empty == 1
      let skipped =
        isOne ? "the stream because it begins too late or is" : "the streams because they begin too late or are"
      return [
        leftOut(empty, "the container declares \(empty == 1 ? "it" : "them"), but without packets"),
        leftOut(
          lost - empty,
          "the stream \(isOne ? "description is" : "descriptions are") damaged or incomplete, or GStreamer skips "
            + "\(skipped) too short"),
      ].compactMap { $0 }
    }
  }
}

extension Warning {
  /// Returns a warning about the files that follow the first one in a concatenated file.
  /// - Parameters:
  ///   - count: number of further files.
  ///   - place: byte offset of the second file; nil if unknown.
  ///   - end: end of the first file.
  package static func laterFiles(_ count: Int, at place: Int?, after end: ClockTime) -> Warning {
    Warning(
      .streamLeftOut,
      "left out: all but the first part, since this file is \(count + 1) files joined together; split it at "
        + "\(place.map { "byte \($0)" } ?? end.inSeconds) to reverse each part",
      count: count, span: TimeSpan(start: end, end: end))
  }
}
