import Containers
import GStreamer
import Glibc
import MediaTime
import RetrogradeEngine

/// Separate subtitle files: read in any format, and written as SubRip or WebVTT.
enum SubtitleFile {
  /// Reads a subtitle file in SubRip, WebVTT, MicroDVD, SAMI or another format that `subparse`
  /// knows.
  /// - Returns: the subtitles, and warnings about parts of the file that are left out.
  /// - Throws: ``RetrogradeError``.
  static func read(
    _ path: String, _ resources: Resources, _ cancellation: Cancellation
  ) throws -> (track: SubtitleTrack, warnings: [Warning]) {
    let source = try Source(path, resources: resources, cancellation: cancellation)
    let bytes = try bytes(of: source, path)
    guard !isScript(bytes) else {
      throw RetrogradeError(
        .missingPlugin, about: path, "SSA and ASS subtitle files are not supported",
        remedy: "convert this file first: ffmpeg -i \(Shell.quoted(path)) subtitles.srt")
    }
    guard let parser = try CueParser(bytes, cancellation) else {
      return (try parsed(bytes, path, resources, cancellation), [])
    }
    guard parser.longestCue <= longestCue else {
      throw RetrogradeError(
        .damagedInput, about: path, "contains a subtitle of more than \(ByteCount(longestCue))",
        remedy: "split this subtitle")
    }
    return (try track(path, Caps("text/x-raw, format=pango-markup"), parser.cues), parser.warnings)
  }

  /// Reads the file, and converts UTF-16 and UTF-32 to UTF-8.
  private static func bytes(of source: Source, _ path: String) throws -> [UInt8] {
    guard let file = RandomAccessFile(source.path) else { throw RetrogradeError(reading: path, errno: errno) }
    guard file.size <= largestFile else {
      throw RetrogradeError(.damagedInput, about: path, "is too large for subtitles: \(ByteCount(file.size))")
    }
    guard let bytes = file.read(0..<file.size) else {
      throw RetrogradeError(reading: path, errno: file.readingFailure ?? EIO)
    }
    return SubtitleEncoding.withoutWideCharacters(bytes)
  }

  /// Size of the largest subtitle file that is read, in bytes. Real files have a few megabytes at
  /// most.
  private static let largestFile = 64 << 20

  /// Reads a file in any format other than SubRip and WebVTT.
  private static func parsed(
    _ bytes: [UInt8], _ path: String, _ resources: Resources, _ cancellation: Cancellation
  ) throws -> SubtitleTrack {
    // The parsers of some formats drop the last line if no line break follows. `subparse` adds line
    // breaks, but not for all formats (gst_sub_parse_sink_event).
    let spool = try Spool(directory: resources.spoolDirectory)
    defer { withExtendedLifetime(spool) {} }
    _ = try (bytes + "\n\n".utf8).withUnsafeBytes { try spool.append($0) }
    do {
      let pipeline = try Pipeline(
        "filesrc location=\(Description.quoted(spool.path)) ! subparse ! text/x-raw "
          + "! appsink name=text sync=false async=false enable-last-sample=false")
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
      return try track(path, caps, cues)
    } catch let error as GStreamerError {
      throw RetrogradeError.reading(path, error)
    }
  }

  private static func track(_ path: String, _ caps: Caps?, _ cues: [Cue]) throws -> SubtitleTrack {
    guard let caps, !cues.isEmpty else { throw RetrogradeError(.damagedInput, about: path, "contains no subtitles") }
    return SubtitleTrack(caps: caps, tags: nil, cues: cues.sorted { $0.span.start < $1.span.start })
  }

  /// True for an SSA or ASS script: its first section is `[Script Info]`. `subparse` can't read
  /// such scripts.
  private static func isScript(_ bytes: [UInt8]) -> Bool {
    // Only comments may precede `[Script Info]`.
    let lines = String(decoding: bytes.prefix(4096), as: UTF8.self).split(whereSeparator: \.isNewline)
    let first = lines.lazy.map { $0.drop { $0.isWhitespace } }.first { !$0.isEmpty && !$0.hasPrefix(";") }
    return first?.lowercased().hasPrefix("[script info]") == true
  }

  /// Longest accepted cue of SubRip and WebVTT, in bytes. MP4 has 16 bits for the length of a cue.
  private static let longestCue = 32 << 10

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
