import MediaTime
import Retrograde

/// HTTP Live Streaming playlists (RFC 8216, version 7), available before any segment is encoded.
///
/// The parameter `suffix` of these functions is a text after each address, such as `?token=…`.
enum Playlist {
  /// Returns the master playlist of a stream. Renditions in the source's codec are left out:
  /// players switch between variants during playback, and a switch of codecs was not tested with
  /// any player.
  /// - Parameter base: path of the stream's parts, relative to the playlist.
  static func master(_ stream: some MirrorStream, at base: String, suffix: String = "") -> String {
    let videos = stream.renditions.filter { $0.isVideo && $0.sourceCodec == nil }
    let audios = stream.renditions.filter { !$0.isVideo }
    var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-INDEPENDENT-SEGMENTS"]
    // Without video, each audio stream is a variant.
    if !videos.isEmpty {
      for (number, audio) in audios.enumerated() {
        lines.append(
          media(
            "AUDIO", group: "audio", name: name(audio.title, audio.language, "Audio", number), language: audio.language,
            isDefault: number == 0, channels: audio.channels, "\(base)/\(audio.name)/media.m3u8\(suffix)"))
      }
    }
    for (number, subtitles) in stream.subtitles.enumerated() {
      lines.append(
        media(
          "SUBTITLES", group: "subtitles", name: name(subtitles.title, subtitles.language, "Subtitles", number),
          language: subtitles.language, isDefault: false, channels: nil,
          "\(base)/subtitles/\(number).m3u8\(suffix)"))
    }
    for variant in videos.isEmpty ? audios : videos {
      let together = videos.isEmpty ? [] : audios
      let peak = together.map(\.peakBandwidth).max() ?? 0
      let average = together.map(\.averageBandwidth).max() ?? 0
      let codecs = [variant.codecs] + Set(together.map(\.codecs)).sorted()
      var attributes = [
        "BANDWIDTH=\(possible(variant.peakBandwidth) + possible(peak))",
        "AVERAGE-BANDWIDTH=\(possible(variant.averageBandwidth) + possible(average))",
        "CODECS=\"\(codecs.joined(separator: ","))\"",
      ]
      if case .video(let width, let height, let rate) = variant.kind {
        attributes += ["RESOLUTION=\(width)x\(height)", "FRAME-RATE=\(decimal(rate))"]
      }
      if !together.isEmpty { attributes.append("AUDIO=\"audio\"") }
      if !stream.subtitles.isEmpty { attributes.append("SUBTITLES=\"subtitles\"") }
      lines += [
        "#EXT-X-STREAM-INF:" + attributes.joined(separator: ","), "\(base)/\(variant.name)/media.m3u8\(suffix)",
      ]
    }
    return text(lines)
  }

  /// Returns the media playlist of a rendition; the segments have relative addresses.
  static func media(_ rendition: SegmentedMirror.Rendition, suffix: String = "") -> String {
    var lines = head(rendition.segments.map(\.duration))
    lines.append("#EXT-X-INDEPENDENT-SEGMENTS")
    lines.append("#EXT-X-MAP:URI=\"init.mp4\(suffix)\"")
    for (number, segment) in rendition.segments.enumerated() {
      lines += ["#EXTINF:\(seconds(segment.duration)),", "\(number).m4s\(suffix)"]
    }
    return text(lines + ["#EXT-X-ENDLIST"])
  }

  /// Returns a playlist of subtitles, with one file for the whole stream.
  static func subtitles(_ number: Int, of duration: ClockTime, suffix: String = "") -> String {
    text(
      head([duration]) + ["#EXTINF:\(seconds(duration)),", "\(number).vtt\(suffix)", "#EXT-X-ENDLIST"])
  }

  /// Adds a timestamp map to a WebVTT file. The file's times equal the times of the segments, and
  /// the segments begin at 0 of the MPEG-2 clock (RFC 8216, 3.5).
  static func timed(_ text: String) -> String {
    guard text.hasPrefix("WEBVTT"), !text.contains("X-TIMESTAMP-MAP"), let end = text.firstIndex(where: \.isNewline)
    else { return text }
    return text[..<end] + "\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000" + text[end...]
  }

  private static func head(_ durations: [ClockTime]) -> [String] {
    // Durations in EXTINF, rounded to whole seconds, must not exceed the target duration (RFC 8216,
    // 4.3.3.1).
    let longest = durations.max() ?? .zero
    let target = max((longest + ClockTime(seconds: 0.5)).nanoseconds / 1_000_000_000, 1)
    return [
      "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:\(target)", "#EXT-X-MEDIA-SEQUENCE:0",
      "#EXT-X-PLAYLIST-TYPE:VOD",
    ]
  }

  private static func media(
    _ type: String, group: String, name: String, language: String?, isDefault: Bool, channels: Int?, _ address: String
  ) -> String {
    var attributes = ["TYPE=\(type)", "GROUP-ID=\"\(group)\"", "NAME=\"\(name.quotable)\""]
    if let language { attributes.append("LANGUAGE=\"\(language.quotable)\"") }
    attributes += ["DEFAULT=\(isDefault ? "YES" : "NO")", "AUTOSELECT=YES"]
    if let channels { attributes.append("CHANNELS=\"\(channels)\"") }
    return "#EXT-X-MEDIA:" + (attributes + ["URI=\"\(address)\""]).joined(separator: ",")
  }

  /// Returns a name that is unique within its group: every name after the first ends with a number.
  private static func name(_ title: String?, _ language: String?, _ kind: String, _ number: Int) -> String {
    let name = title.flatMap { $0.isEmpty ? nil : $0 } ?? language ?? kind
    return number == 0 ? name : "\(name) \(number + 1)"
  }

  /// Returns `bandwidth`, in bits per second, clamped so that a sum of two cannot overflow.
  private static func possible(_ bandwidth: Int) -> Int { min(max(bandwidth, 0), 1 << 50) }

  private static func text(_ lines: [String]) -> String { lines.joined(separator: "\n") + "\n" }

  /// Returns the time in seconds, to the nanosecond and without trailing zeros.
  static func seconds(_ time: ClockTime) -> String {
    let value = max(time.nanoseconds, 0)
    let digits = String(value % 1_000_000_000)
    let fraction = (String(repeating: "0", count: 9 - digits.count) + digits).trimmingZeros
    return "\(value / 1_000_000_000)" + (fraction.isEmpty ? "" : "." + fraction)
  }

  /// Returns the value rounded to three decimals.
  private static func decimal(_ value: Double) -> String {
    seconds(ClockTime(seconds: (value * 1000).rounded() / 1000))
  }
}

extension SegmentedMirror.Rendition {
  var isVideo: Bool { if case .video = kind { true } else { false } }

  fileprivate var channels: Int? { if case .audio(let channels, _) = kind { channels } else { nil } }
}

extension String {
  /// Text with each quote replaced by an apostrophe, and each control character by a space. Quoted
  /// strings in a playlist can contain neither quotes nor line ends.
  fileprivate var quotable: String {
    String(
      String.UnicodeScalarView(
        unicodeScalars.map { $0 == "\"" ? "'" : $0.properties.generalCategory == .control ? " " : $0 }))
  }

  fileprivate var trimmingZeros: String { String(reversed().drop { $0 == "0" }.reversed()) }
}
