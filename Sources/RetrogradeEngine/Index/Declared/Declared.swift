import MediaTime

/// What a container says that it holds, whether or not it is there, and whether its bytes end before it does.
///
/// Demuxers give what there is and end, as if that were all: only the container's own words tell a file that was cut from a
/// whole one.
package struct Declared: Equatable, Sendable {
  package struct Stream: Equatable, Sendable {
    package var kind: StreamKind
    /// Frames of video; nil where that is not said.
    package var frames: Int?
    /// When it ends, in stream time; nil where that is not said.
    package var end: ClockTime?
  }

  /// The file ends inside something that says how long it is, or without the mark that the format ends with.
  package var isCut = false
  /// When the whole ends, in stream time.
  package var end: ClockTime?
  package var streams: [Stream] = []
  /// How much earlier than ``presentationEnd`` the media may end where nothing else shows that something is missing; nil: by any
  /// time, since what is said is not exact.
  package var slack: ClockTime?
  /// What it says is a count of samples: where some are missing, the end was cut off.
  package var countsSamples = false
  /// How many whole files there are one after the other, as Ogg allows (RFC 3533, 4).
  package var links = 1

  /// When the last stream ends, as far as anything is said of that.
  package var presentationEnd: ClockTime? { end ?? streams.compactMap(\.end).max() }

  /// A stream as it was found.
  package struct Found: Sendable {
    package var kind: StreamKind
    package var frames: Int?
    package var end: ClockTime
  }

  /// Containers round to a millisecond.
  private static let rounding = ClockTime(nanoseconds: 2_000_000)
  /// Where nothing shows that bytes are missing, the length of a last frame may be told in two ways.
  private static let vagueness = ClockTime(nanoseconds: 60_000_000)

  /// What of it is not in `found`.
  /// - Parameters:
  ///   - isDamaged: it is known already that not all could be read, so that all of it is counted.
  ///   - isWhole: no stream was left out because nobody wanted it.
  package func warnings(_ found: [Found], isDamaged: Bool, isWhole: Bool = true) -> [Warning] {
    guard let last = found.map(\.end).max() else { return [] }
    let end = presentationEnd
    let allowed = isDamaged ? Declared.vagueness : slack
    let isShort = isWhole && allowed.flatMap { allowed in end.map { $0 - last > allowed } } ?? false
    guard isCut || isShort else { return [] }
    let isCut = isCut || countsSamples
    var (parts, count) = missing(from: found)
    let isLater = end.map { $0 - last > Declared.rounding } ?? false
    let place =
      isCut ? "cut: the file ends at \(last.inSeconds)" : "damaged: the file can be read until \(last.inSeconds)"
    let message: String
    if let end, isLater || !parts.isEmpty {
      if parts.isEmpty { parts.append((end - last).inSeconds) }
      message = "\(place) of \(end.inSeconds): \(parts.joined(separator: " and ")) are missing"
    } else if end != nil {
      message = "cut: the file ends before its container does, after all of the media that it says it has"
    } else if !parts.isEmpty {
      message = "\(place) before its container does: at least \(parts.joined(separator: " and ")) are missing"
    } else {
      message = "\(place) before its container does, which does not say how much is missing"
    }
    let span = TimeSpan(start: last, end: isLater ? end ?? last : last)
    return [Warning(isCut ? .truncated : .damaged, message, count: count, span: span)]
  }

  /// What follows the first of several files in one.
  package func further(after end: ClockTime) -> [Warning] {
    guard links > 1 else { return [] }
    return [
      Warning(
        .streamLeftOut,
        "left out: what follows the first of \(links) Ogg files in this one; cut it at \(end.inSeconds) to have the parts mirrored one by one",
        count: links - 1, span: TimeSpan(start: end, end: end))
    ]
  }

  /// What each stream lacks, in words, and how many frames that is.
  private func missing(from found: [Found]) -> (parts: [String], count: Int?) {
    var parts: [String] = []
    var count: Int?
    for kind in [StreamKind.video, .audio] {
      let (listed, there) = (streams.filter { $0.kind == kind }, found.filter { $0.kind == kind })
      // Which of them were left out is not known here.
      guard listed.count == there.count else { continue }
      for (listed, there) in zip(listed, there) {
        if let frames = listed.frames, let got = there.frames {
          if frames > got {
            parts.append("\(frames - got) of \(frames) frames of video")
            count = (count ?? 0) + frames - got
          }
        } else if let end = listed.end, end - there.end > Declared.rounding {
          parts.append("\((end - there.end).inSeconds) of \(kind.rawValue)")
        }
      }
    }
    return (parts, count)
  }
}

extension ClockTime {
  /// Such as `5.055 s`.
  fileprivate var inSeconds: String {
    let milliseconds = (nanoseconds + 500_000) / 1_000_000
    let rest = String(milliseconds % 1000)
    return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest) s"
  }
}

extension Topology {
  /// Streams that the container lists and the demuxer passes over without a word.
  func unknown(of declared: Declared, _ options: ReverseOptions) -> [Warning] {
    [StreamKind.video, .audio].filter { options.wantsAny($0) }.compactMap { kind in
      let listed = declared.streams.count { $0.kind == kind }
      let known = streams.count { $0.kind == kind } + missing.count { ($0.mediaType ?? "").hasPrefix("\(kind)/") }
      guard listed > known else { return nil }
      let what = listed == 1 ? "the \(kind) stream" : "\(listed - known) of \(listed) \(kind) streams"
      return Warning(
        .streamLeftOut, "left out: \(what) of the file: what describes it there is damaged, or it begins too late",
        count: listed - known)
    }
  }
}

extension Declared {
  /// What the file at `path` says; nil where its format says nothing, or is not known.
  package init?(_ path: String) {
    guard let file = MovieFile(path), let start = file.read(0..<min(12, file.size)), start.count == 12,
      let found = Declared.read(file, path, start)
    else { return nil }
    self = found
  }

  private static func read(_ file: MovieFile, _ path: String, _ start: [UInt8]) -> Declared? {
    switch (start.text(0), start.text(4), start.text(8)) {
    case ("RIFF", _, "AVI "): return avi(file)
    case ("RIFF", _, "WAVE"), ("RF64", _, _), ("riff", _, _): return wave(path)
    case ("OggS", _, _): return ogg(file)
    case (_, "ftyp", _), (_, "moov", _), (_, "mdat", _), (_, "wide", _), (_, "free", _), (_, "styp", _):
      return movie(file)
    default: break
    }
    switch (start[0], start[1], start[2], start[3]) {
    case (0x1A, 0x45, 0xDF, 0xA3): return matroska(file)
    case (0x46, 0x4C, 0x56, _): return flv(file)
    case (0, 0, 1, 0xBA): return programStream(file)
    default: return transportStream(file) ?? audio(file)
    }
  }
}

extension MovieFile {
  /// An unsigned number; nil where that is not all in the file.
  func number(at offset: Int, _ count: Int, isLittleEndian: Bool = false) -> Int? {
    read(offset..<offset + count).flatMap { bytes in
      let value = (isLittleEndian ? bytes.reversed() : bytes).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return Int(exactly: value)
    }
  }

  func text(at offset: Int) -> String? { read(offset..<offset + 4)?.text(0) }
}
