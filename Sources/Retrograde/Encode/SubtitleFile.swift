import Containers
import GStreamer
import Glibc
import MediaTime
import RetrogradeEngine

/// Separate subtitle files: read with GStreamer's `subparse`, and written as SubRip or WebVTT.
enum SubtitleFile {
  /// Reads a subtitle file in SubRip, WebVTT, MicroDVD, SAMI or another format that `subparse`
  /// knows.
  /// - Throws: ``RetrogradeError``.
  static func read(_ path: String, _ resources: Resources, _ cancellation: Cancellation) throws -> SubtitleTrack {
    let source = try Source(path, resources: resources, cancellation: cancellation)
    guard !isScript(source.path) else {
      throw RetrogradeError(
        .missingPlugin, about: path, "SSA and ASS subtitle files are not supported",
        remedy: "convert this file first: ffmpeg -i \(Shell.quoted(path)) subtitles.srt")
    }
    guard try !hasLongCue(source.path, cancellation) else {
      throw RetrogradeError(
        .damagedInput, about: path,
        "contains a subtitle of more than \(ByteCount(longestCue)), which takes too long to read",
        remedy: "split this subtitle")
    }
    do {
      let pipeline = try Pipeline(
        "\(source.sourceDescription) ! subparse ! text/x-raw ! appsink name=text sync=false async=false enable-last-sample=false"
      )
      defer { pipeline.set(.null) }
      let sink = try pipeline.appSink("text")
      pipeline.set(.playing)
      var caps: Caps?
      var cues: [Cue] = []
      while !cancellation.isCancelled {
        if let sample = sink.pull(timeout: ClockTime(nanoseconds: 100_000_000)) {
          guard let form = sample.caps, let start = sample.buffer.pts else { continue }
          caps = caps ?? form
          cues.append(
            Cue(
              span: TimeSpan(start: start, end: start + (sample.buffer.duration ?? ClockTime(seconds: 5))),
              bytes: try sample.buffer.withBytes { Array($0) }))
        } else if sink.isEndOfStream {
          break
        } else if case .failed(let error)? = pipeline.nextMessage() {
          throw error
        }
      }
      try cancellation.check()
      guard let caps else { throw RetrogradeError(.damagedInput, about: path, "contains no subtitles") }
      return SubtitleTrack(caps: caps, tags: nil, cues: cues.sorted { $0.span.start < $1.span.start })
    } catch let error as GStreamerError {
      throw RetrogradeError.reading(path, error)
    }
  }

  /// True for an SSA or ASS script: its first section is `[Script Info]`. `subparse` can't read
  /// such scripts.
  private static func isScript(_ path: String) -> Bool {
    guard let file = RandomAccessFile(path), let bytes = file.read(0..<min(file.size, 4096)) else { return false }
    // Only comments may precede `[Script Info]`.
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    let first = lines.lazy.map { $0.drop { $0 == "\u{FEFF}" || $0.isWhitespace } }
      .first { !$0.isEmpty && !$0.hasPrefix(";") }
    return first?.lowercased().hasPrefix("[script info]") == true
  }

  /// Longest accepted cue of SubRip and WebVTT, in bytes. `subparse` takes a minute for 160 kB of
  /// tags, because it removes the tags one by one.
  private static let longestCue = 32 << 10

  /// True if a SubRip or WebVTT file has a cue longer than ``longestCue``. Cues end with an empty
  /// line.
  private static func hasLongCue(_ path: String, _ cancellation: Cancellation) throws -> Bool {
    guard let file = RandomAccessFile(path), file.read(0..<min(file.size, 4096))?.contains("-->".utf8) == true else {
      return false
    }
    let piece = 1 << 20
    var (length, isLineEmpty) = (0, true)
    for start in stride(from: 0, to: file.size, by: piece) {
      try cancellation.check()
      for byte in file.read(start..<min(start + piece, file.size)) ?? [] {
        switch byte {
        // A line of spaces counts as empty.
        case 0x0D, 0x20, 0x09: break
        case 0x0A:
          length = isLineEmpty ? 0 : length + 1
          isLineEmpty = true
        default:
          length += 1
          isLineEmpty = false
        }
        if length > longestCue { return true }
      }
    }
    return false
  }

  /// Checks that subtitles can be written in the format of `path`.
  static func check(_ path: String) throws {
    guard ["srt", "vtt"].contains(path.split(separator: ".").last?.lowercased() ?? "") else {
      throw RetrogradeError(.usage, about: path, "subtitles can be written only as .srt or .vtt")
    }
  }

  /// Checks, before any encoding, that the source has text subtitles to write to `path`.
  static func check(_ path: String, has tracks: [SubtitleTrack]) throws {
    guard track(of: tracks) != nil else {
      throw RetrogradeError(
        .usage, about: path, "can't be written: the source has no text subtitles",
        remedy: "leave out \(setting: .subtitlesOutput)")
    }
  }

  /// Returns the track to write: the first text or script (SSA/ASS) track; nil if there is none.
  static func track(of tracks: [SubtitleTrack]) -> SubtitleTrack? { place(in: tracks).map { tracks[$0] } }

  /// Returns the index of the track to write; nil if there is none.
  static func place(in tracks: [SubtitleTrack]) -> Int? { tracks.firstIndex { $0.isText || $0.isScript } }

  /// Writes the cues of the first text or script (SSA/ASS) track in the order of play.
  /// - Parameters:
  ///   - location: path to write to.
  ///   - path: name of the output, for messages. Its extension selects the format.
  static func write(
    _ tracks: [SubtitleTrack], _ legs: [PlaybackLeg], lead: ClockTime, to location: String, for path: String
  ) throws {
    guard let track = track(of: tracks),
      var text = text(of: track, legs, lead: lead, isWeb: path.lowercased().hasSuffix("vtt"))
    else { return }
    let file = try ByteFile(location, for: path)
    try text.withUTF8 { try file.write(UnsafeRawBufferPointer($0)) }
  }

  /// Returns a track's cues as WebVTT in the order of play; nil if the track is not text.
  static func webText(of track: SubtitleTrack, _ legs: [PlaybackLeg]) -> String? {
    text(of: track, legs, lead: .zero, isWeb: true)
  }

  private static func text(
    of track: SubtitleTrack, _ legs: [PlaybackLeg], lead: ClockTime, isWeb: Bool
  ) -> String? {
    var played = track
    played.cues = track.played(legs).map {
      Cue(span: TimeSpan(start: $0.span.start + lead, end: $0.span.end + lead), bytes: $0.bytes)
    }
    guard let cues = played.texts(isWeb: isWeb) else { return nil }
    var text = isWeb ? "WEBVTT\n\n" : ""
    for (number, cue) in cues.enumerated() {
      if !isWeb { text += "\(number + 1)\n" }
      text += "\(clock(cue.span.start, isWeb)) --> \(clock(cue.span.end, isWeb))\n"
      // An empty line would end the cue.
      text += cue.text.split(separator: "\n").joined(separator: "\n") + "\n\n"
    }
    return text
  }

  /// Formats a time as `01:02:03,456`, or as `01:02:03.456` for WebVTT.
  private static func clock(_ time: ClockTime, _ isWeb: Bool) -> String {
    let text = max(time, .zero).description
    let padded = text.split(separator: ":").first?.count == 1 ? "0" + text : text
    return isWeb ? padded : padded.replacing(".", with: ",")
  }
}
