import Containers
import GStreamer
import MediaTime
import RetrogradeEngine

/// Compares the metadata of each stream (language, title, default, forced), and the start time of
/// the file.
enum StreamDescriptions {
  private struct Stream {
    var name: String
    var language: String?
    var title: String?
    var disposition: Disposition?
  }

  private static func streams(_ media: PlayableSource, _ container: Container) -> [[Stream]] {
    func named(_ kind: String, _ all: [(TagList?, Disposition?)]) -> [Stream] {
      all.enumerated().map { number, stream in
        Stream(
          name: "\(kind) \(number)", language: (stream.0?.language?.plain).map(TagList.shortLanguage),
          title: stream.0?.streamTitle,
          disposition: stream.1)
      }
    }
    return [
      named("video", media.videos.map { ($0.video.tags, $0.video.disposition) }),
      named("audio", media.audio.map { ($0.tags, $0.disposition) }),
      named("subtitles", media.subtitles(for: container).map { ($0.tags, $0.disposition) }),
    ]
  }

  /// Returns the longest priming of lossy codecs, in seconds, at a sample rate in Hz. This covers
  /// two AAC frames with the look-ahead of the AAC encoder, and the priming that muxers assume for
  /// AAC.
  static func mostPriming(_ rate: Int) -> Double { max(0.12, 2112 / Double(max(rate, 1))) }

  /// Returns the largest accepted shift of frames, in seconds, in a container that counts frames
  /// instead of storing times. The limit is half a frame, plus half a millisecond, because the
  /// source's container may round times to a millisecond.
  static func mostShift(_ frame: ClockTime) -> Double { frame.seconds / 2 + 0.0005 }

  /// Checks that the mirror starts at 0, or is delayed only by the priming of lossy audio.
  /// - Parameter frame: duration of a frame, if the container counts frames instead of storing
  ///   times; otherwise nil.
  static func start(
    _ mirror: PlayableSource, _ container: Container, delay: ClockTime, frame: ClockTime?, isExact: Bool
  ) -> Verification.Check {
    let start = mirror.legs.presentation.span.start + delay
    // A transport stream may start late: its clock precedes presentation times by up to a second,
    // or ten seconds for H.264 and HEVC (ISO/IEC 13818-1, 2.4.2.6).
    let clock =
      mirror.videos.contains { ["video/x-h264", "video/x-h265"].contains($0.video.caps.mediaType) } ? 10.0 : 1
    let rate = mirror.audio.map(\.rate).min() ?? 48_000
    let most = container.isTransportStream || !container.isKnown ? clock : isExact ? 0.02 : mostPriming(rate)
    let holds = abs(start.seconds) <= max(most, frame.map(mostShift) ?? 0)
    return .init(
      "start", holds, holds ? "\(start)" : "\(start), expected 0", ["ms": start.seconds * 1000])
  }

  /// Checks languages. If no stream of the mirror has a language, the check fails only if the
  /// mirror's container can store languages.
  static func languages(
    _ source: PlayableSource, _ mirror: PlayableSource, _ container: Container
  ) -> [Verification.Check] {
    // Compare only streams that both files have. Missing streams are reported by another check.
    let pairs = zip(streams(source, container), streams(mirror, container)).flatMap { Array(zip($0.0, $0.1)) }
    var own = pairs.map(\.0)
    let other = pairs.map(\.1)
    // In FLAC and Ogg, the language of the file is the language of its audio.
    if container.isFLAC || container.isOgg,
      let language = source.index.tags?.fileLanguages.first.map({ TagList.shortLanguage($0.text) })
    {
      for number in own.indices where own[number].language == nil && other[number].language == language {
        own[number].language = language
      }
    }
    guard own.contains(where: { $0.language != nil }) || other.contains(where: { $0.language != nil }) else {
      return []
    }
    if !other.contains(where: { $0.language != nil }) {
      return [
        .init(
          "languages", !container.carriesLanguages,
          container.carriesLanguages ? "the mirror has none" : "none; the mirror's container can't hold them")
      ]
    }
    let differing = zip(own, other).filter { own, other in
      // Some formats, such as ASF, declare a language even if it is unknown.
      own.language != other.language && (container.isKnown || own.language != nil && other.language != nil)
    }
    let finding = differing.map { own, other in
      "\(own.name): \(other.language ?? "none"), expected \(own.language ?? "none")"
    }
    return [
      .init(
        "languages", differing.isEmpty,
        finding.isEmpty ? own.compactMap(\.language).joined(separator: ", ") : finding.joined(separator: "; "))
    ]
  }

  /// Checks stream titles, if the mirror's container can store them. Ignores streams that have no
  /// title in the source, or the same title as the file, because some GStreamer encoders copy the
  /// file's title to their stream.
  static func titles(
    _ source: PlayableSource, _ mirror: PlayableSource, _ container: Container
  ) -> [Verification.Check] {
    guard container.holdsTitles else { return [] }
    let pairs = zip(streams(source, container), streams(mirror, container)).flatMap { Array(zip($0.0, $0.1)) }
    let named = pairs.filter { $0.0.title != nil && $0.0.title != source.index.tags?.string("title") }
    guard !named.isEmpty else { return [] }
    let findings = named.filter { $0.0.title != $0.1.title }.map { own, other in
      "\(own.name): \(other.title ?? "none"), expected \(own.title ?? "none")"
    }
    return [
      .init(
        "stream titles", findings.isEmpty,
        findings.isEmpty ? named.compactMap(\.0.title).joined(separator: ", ") : findings.joined(separator: "; "))
    ]
  }

  /// Checks which streams are played by default, and which are forced.
  static func dispositions(
    _ source: PlayableSource, _ mirror: PlayableSource, _ container: Container
  ) -> [Verification.Check] {
    var findings: [String] = []
    for (own, other) in zip(streams(source, container), streams(mirror, container))
    where own.count == other.count && !own.isEmpty {
      guard (own + other).allSatisfy({ $0.disposition != nil }) else { continue }
      func chosen(_ streams: [Stream]) -> Int { streams.firstIndex { $0.disposition?.isDefault ?? false } ?? 0 }
      if chosen(own) != chosen(other) {
        findings.append("\(other[chosen(other)].name) is the default, expected \(own[chosen(own)].name)")
      }
      // Report only streams that became forced. A forced stream may lose its mark, because MP4
      // can't mark forced streams.
      for (own, other) in zip(own, other)
      where (other.disposition?.isForced ?? false) && !(own.disposition?.isForced ?? false) {
        findings.append("\(other.name) is forced, but not in the source")
      }
    }
    return findings.isEmpty ? [] : [.init("dispositions", false, findings.joined(separator: "; "))]
  }
}

extension AudioTrack {
  /// True if this track's codec changes the samples of `source` at most by rounding.
  func isExact(for source: AudioTrack) -> Bool {
    let exact = ["audio/x-raw", "audio/x-flac", "audio/x-alac", "audio/x-wavpack", "audio/x-tta"]
    guard exact.contains(codec.mediaType) else { return false }
    let format = caps.string("format") ?? ""
    return !["U8", "S8"].contains(format) || format == source.caps.string("format")
  }

  /// True if the codec models speech, so that it does not keep the waveform.
  var modelsSpeech: Bool { ["audio/AMR", "audio/AMR-WB", "audio/x-speex"].contains(codec.mediaType) }

  /// True if the codec's priming is played, because `container` can't mark the priming for removal.
  func isPrimed(in container: Container) -> Bool {
    // Ogg can't mark the priming of Speex.
    let isCut =
      container.hasEditLists || container.isOgg && !modelsSpeech || container.tagger != nil
      || codec.mediaType == "audio/x-opus"
    return !isWholeByCodec && !isCut
  }

  /// True if the codec supports a sample rate of `rate` Hz.
  func codecHolds(rate: Int) -> Bool {
    let low = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]
    switch codec.mediaType {
    case "audio/x-opus": return rate == 48_000
    case "audio/x-ac3", "audio/x-eac3": return [32_000, 44_100, 48_000].contains(rate)
    case "audio/mpeg":
      return low.contains(rate) || codec.int("mpegversion") != 1 && [7350, 64_000, 88_200, 96_000].contains(rate)
    case "audio/AMR": return rate == 8000
    case "audio/AMR-WB": return rate == 16_000
    default: return true
    }
  }
}
