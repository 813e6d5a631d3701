import Containers
import Drawing
import GStreamer
import MediaTime
import RetrogradeEngine

/// Compares the metadata of a source and its mirror: number of streams, display parameters,
/// subtitles, chapters and tags.
enum DescriptionComparison {
  /// Checks the number of streams of each kind.
  static func streams(
    _ source: PlayableSource, _ mirror: PlayableSource, _ container: Container
  ) -> [Verification.Check] {
    // Expect only the streams that the container can store; `reverse` leaves out the others, with a
    // warning.
    let holdsAudio = container.imageFormat == nil
    let holdsVideo = !holdsAudio || !container.videoCodecs.isEmpty
    let videos = holdsVideo ? container.holdsOneVideo ? 1 : source.videos.count : 0
    let audio = holdsAudio ? container.holdsOneStream ? 1 : source.audio.count : 0
    let counts: [(subject: String, own: Int, expected: Int, found: Int)] = [
      ("video streams", source.videos.count, min(videos, source.videos.count), mirror.videos.count),
      ("audio streams", source.audio.count, min(audio, source.audio.count), mirror.audio.count),
      (
        "subtitle streams", source.index.subtitles.count, source.subtitles(for: container).count,
        mirror.index.subtitles.count
      ),
    ]
    return counts.filter { $0.own > 0 || $0.found > 0 }.map { count in
      let most = count.expected == 0 ? "none" : "only \(count.expected)"
      let left = count.own > count.expected ? "; the source has \(count.own), but the container can hold \(most)" : ""
      return Verification.Check(
        count.subject, count.found == count.expected, foundAndExpected(count.found, count.expected) + left,
        ["found": Double(count.found), "expected": Double(count.expected)])
    }
  }

  private static func foundAndExpected(_ found: Int, _ expected: Int, _ unit: String = "") -> String {
    found == expected ? "\(found)\(unit)" : "\(found)\(unit), expected \(expected)"
  }

  /// Checks size, orientation, colour and field order of a video.
  /// - Parameters:
  ///   - isAlike: true if the frames of both files match after rotation to upright.
  ///   - geometry: intended crop, rotation and scaling of the source's frames; nil: none.
  ///   - keepsAlpha: true if the mirror's codec keeps transparency.
  ///   - holdsFields: false for animated images, which are read as raw video, but can't declare
  ///     interlacing.
  static func frame(
    _ source: VideoSource, _ mirror: VideoSource, _ label: String, isBackward: Bool, isAlike: Bool,
    geometry: FrameGeometry?, keepsAlpha: Bool, holdsFields: Bool
  ) -> [Verification.Check] {
    let orientations = (
      source: source.video.tags?.string("image-orientation"), mirror: mirror.video.tags?.string("image-orientation")
    )
    let shown = geometry?.shown ?? ShownFrame(source.caps, orientation: orientations.source).size
    let found = ShownFrame(mirror.caps, orientation: orientations.mirror).size
    // Allow for rounding of sizes to even numbers, and of pixel aspect ratios.
    func near(_ a: Double, _ b: Double) -> Bool { abs(a - b) <= max(geometry == nil ? 0.5 : 2, a * 0.002) }
    func text(_ size: Size) -> String {
      "\(Int(size.width.rounded()))x\(Int(size.height.rounded()))"
    }
    let isSameSize = near(shown.width, found.width) && near(shown.height, found.height)
    var checks = [
      Verification.Check(
        "size\(label)", isSameSize,
        isSameSize ? text(found) : "\(text(found)), expected \(text(shown))",
        ["width": found.width, "height": found.height])
    ]
    if orientations.source != nil || orientations.mirror != nil {
      let expected = geometry.map(\.orientation) ?? orientations.source
      let isSame = expected == orientations.mirror
      // If the container can't store an orientation, the frames are written rotated.
      let isTurned = orientations.mirror == nil && isSameSize && isAlike
      checks.append(
        .init(
          "orientation\(label)", isSame || isTurned,
          isTurned
            ? "the pixels themselves are rotated (\(orientations.source ?? ""))"
            : isSame
              ? orientations.mirror ?? "none" : "\(orientations.mirror ?? "none"), expected \(expected ?? "none")"))
    }
    if source.caps.hasAlpha, keepsAlpha {
      let holds = mirror.caps.hasAlpha
      checks.append(.init("transparency\(label)", holds, holds ? "kept" : "none, but the source has it"))
    }
    // Skip JPEG and Theora: their colorimetry is fixed, and frames are converted to it.
    if let other = mirror.caps.string("colorimetry"), !source.caps.isRGB, !mirror.caps.isRGB,
      !["image/jpeg", "video/x-theora"].contains(mirror.video.caps.mediaType)
    {
      let own = source.caps.string("colorimetry")
      let isSame = own == other || areColours(mirror.caps, possibleFor: source.caps)
      checks.append(
        .init("colour\(label)", isSame, isSame ? other : "\(other), expected \(own ?? "none")"))
    }
    checks += light(source.caps, mirror.caps, label)
    let placing: Set = ["video/x-h264", "video/x-h265"]
    if let own = source.caps.string("chroma-site"), let other = mirror.caps.string("chroma-site"), own != other,
      placing.contains(source.video.caps.mediaType), placing.contains(mirror.video.caps.mediaType), geometry == nil
    {
      checks.append(.init("chroma\(label)", false, "samples at \(other), expected \(own)"))
    }
    let isInterlaced = (source.caps.isInterlaced, mirror.caps.isInterlaced)
    if isInterlaced.0 != isInterlaced.1, !(geometry?.deinterlaces ?? false) {
      let isStored = holdsFields && EncoderSettings.interlacedCodecs.contains(mirror.video.caps.mediaType)
      checks.append(
        .init(
          "interlace\(label)", isInterlaced.0 && !isStored,
          isInterlaced.1 ? "interlaced, but the source is progressive" : "progressive, but the source is interlaced"))
    }
    if let own = source.isTopFieldFirst, let other = mirror.isTopFieldFirst {
      let expected = own != isBackward
      checks.append(
        .init(
          "fields\(label)", other == expected,
          (other ? "top field first" : "bottom field first")
            + (other == expected ? "" : ", expected \(expected ? "top" : "bottom") field first")))
    }
    return checks
  }

  /// Checks the loudspeaker positions of more than two audio channels, if both files declare
  /// positions, and the mirror's format can store the source's positions. Returns a check only if
  /// the positions differ.
  static func loudspeakers(
    _ source: AudioTrack, _ mirror: AudioTrack, _ label: String, _ container: Container
  ) -> [Verification.Check] {
    let (own, other) = (source.caps.channelMask ?? 0, mirror.caps.channelMask ?? 0)
    guard source.channels > 2, own != 0, other != 0, Speakers.order(of: own, as: other, source.channels) == nil,
      mirror.codec.mediaType != "audio/x-raw" || container.isWave
    else { return [] }
    let names = [own, other].map { "0x\(String($0, radix: 16))" }
    return [
      .init("\(label): loudspeakers", false, "channel mask \(names[1]), expected \(names[0])")
    ]
  }

  /// Returns true if the mirror's colour codes (range, matrix, transfer, primaries) equal the
  /// source's. A code that the source does not declare may be missing in the mirror too, or be the
  /// code that players assume.
  private static func areColours(_ mirror: Caps, possibleFor source: Caps) -> Bool {
    let assumed = source.removing(["colorimetry"]).withColorimetry.colourCodes ?? []
    let own = source.colourCodes ?? assumed.map { _ in 0 }
    guard let other = mirror.colourCodes, other.count == own.count, own.count == assumed.count else { return false }
    return own.indices.allSatisfy { own[$0] == 0 ? [0, assumed[$0]].contains(other[$0]) : own[$0] == other[$0] }
  }

  /// Checks HDR10's mastering display and content light level. Allows for the rounding in
  /// containers.
  private static func light(_ source: Caps, _ mirror: Caps, _ label: String) -> [Verification.Check] {
    // Skip formats for which frames are converted to RGB or another colorimetry (GIF, JPEG),
    // because they can't store HDR10 data.
    guard !source.isRGB, !mirror.isRGB, mirror.string("colorimetry") == source.string("colorimetry") else { return [] }
    return Caps.lightFields.compactMap { field, name in
      func numbers(_ text: String?) -> [Double] { text?.split(separator: ":").compactMap { Double($0) } ?? [] }
      guard let own = source.string(field), source.declaresLight(field) else { return nil }
      let (wanted, given) = (numbers(own), numbers(mirror.string(field)))
      let holds =
        wanted.count == given.count && zip(wanted, given).allSatisfy { abs($0 - $1) <= max(2, abs($0) * 0.005) }
      return .init(
        "\(name)\(label)", holds,
        holds ? own : "\(mirror.string(field) ?? "none"), expected \(own)")
    }
  }

  /// Checks subtitles, chapters and tags.
  /// - Parameter delay: delay of all streams of the mirror relative to the presentation, such as
  ///   audio priming causes.
  static func details(
    _ source: PlayableSource, _ mirror: PlayableSource, _ container: Container, delay: ClockTime
  ) -> [Verification.Check] {
    subtitles(source, mirror, container, delay) + chapters(source, mirror, container, delay)
      + tags(source, mirror, container) + plays(source, mirror, container)
  }

  /// Returns the delay of the chapters and subtitles in a mirror without video. If the container
  /// can't mark the priming of audio for removal, the priming delays all streams. The priming's
  /// length can't be measured in periodic audio. Therefore, the result is the delay of the first
  /// chapter, or of the first subtitle if there are no chapters. The result is 0 if this delay is
  /// negative, or longer than the longest priming.
  static func primingDelay(
    _ source: PlayableSource, _ mirror: PlayableSource, _ container: Container
  ) -> ClockTime {
    guard let track = mirror.audio.first, track.isPrimed(in: container) else { return .zero }
    let chapters = (
      wanted: Chapter.played(source.index.chapters, source.legs.all).first?.span.start,
      given: mirror.index.chapters.first?.span.start
    )
    let cues = (
      wanted: source.subtitles(for: container).first?.played(source.legs.all).first?.span.start,
      given: mirror.index.subtitles.first?.cues.first?.span.start
    )
    let pair = chapters.wanted == nil ? cues : chapters
    guard let wanted = pair.wanted, let given = pair.given else { return .zero }
    let delay = given - wanted - mirror.legs.presentation.span.start
    return (0...StreamDescriptions.mostPriming(track.rate)).contains(delay.seconds) ? delay : .zero
  }

  /// Checks the loop count of an animated image.
  private static func plays(
    _ source: PlayableSource, _ mirror: PlayableSource, _ container: Container
  ) -> [Verification.Check] {
    guard let plays = source.index.plays, let other = mirror.index.plays else { return [] }
    let own = min(plays, container.animation?.mostPlays ?? plays)
    func text(_ plays: Int) -> String { plays == 0 ? "endless" : "\(plays)" }
    return [.init("plays", own == other, own == other ? text(own) : "\(text(other)), expected \(text(own))")]
  }

  private static let tolerance = 2_000_000

  private static func near(_ a: ClockTime, _ b: ClockTime) -> Bool {
    abs((a - b).nanoseconds) <= DescriptionComparison.tolerance
  }

  /// Returns true if two end times differ by at most 20 ms. The tolerance is larger than for start
  /// times, because some formats round end times to hundredths of a second.
  private static func isNearEnd(_ a: ClockTime, _ b: ClockTime) -> Bool {
    abs((a - b).nanoseconds) <= 10 * DescriptionComparison.tolerance
  }

  private static func contrast(_ found: (String, ClockTime), _ expected: (String, ClockTime)) -> String {
    "“\(found.0)” at \(found.1), expected “\(expected.0)” at \(expected.1)"
  }

  private static func subtitles(
    _ source: PlayableSource, _ mirror: PlayableSource, _ container: Container, _ delay: ClockTime
  ) -> [Verification.Check] {
    let start = mirror.legs.presentation.span.start
    return zip(source.subtitles(for: container), mirror.index.subtitles).enumerated().map { number, pair in
      let wanted = pair.0.played(source.legs.all).map { (span: $0.span, text: pair.0.text(of: $0)) }
      // Ignore the empty texts that MP4 stores for gaps.
      let given = pair.1.cues.map { (span: $0.span, text: pair.1.text(of: $0)) }.filter { !$0.text.isEmpty }
      let differing = zip(wanted, given).first { own, other in
        own.text != other.text || !near(own.span.start + delay, other.span.start - start)
          || !isNearEnd(own.span.end + delay, other.span.end - start)
      }
      let holds = differing == nil && wanted.count == given.count
      var finding = foundAndExpected(given.count, wanted.count, given.count == 1 ? " subtitle" : " subtitles")
      if wanted.count == given.count, let (own, other) = differing {
        finding =
          contrast((other.text, other.span.start - start), (own.text, own.span.start + delay))
          + "; the subtitle ends at \(other.span.end - start), expected \(own.span.end + delay)"
      }
      return .init(
        "subtitles \(number)", holds, finding, ["found": Double(given.count), "expected": Double(wanted.count)])
    }
  }

  private static func chapters(
    _ source: PlayableSource, _ mirror: PlayableSource, _ container: Container, _ delay: ClockTime
  ) -> [Verification.Check] {
    func flat(_ chapters: [Chapter]) -> [Chapter] { chapters.flatMap { [$0] + flat($0.children) } }
    let start = mirror.legs.presentation.span.start
    let wanted = flat(Chapter.played(source.index.chapters, source.legs.all))
    let given = flat(mirror.index.chapters)
    guard !wanted.isEmpty || !given.isEmpty else { return [] }
    if given.isEmpty, !container.holdsChapters {
      return [.init("chapters", true, "none; the source has \(wanted.count), but the container can't hold chapters")]
    }
    let differing = zip(wanted, given).first { own, other in
      container.holdsChapterTitles && own.title != other.title
        || !near(own.span.start + delay, other.span.start - start)
    }
    var finding = foundAndExpected(given.count, wanted.count)
    if wanted.count == given.count, let (own, other) = differing {
      finding = contrast((other.title, other.span.start - start), (own.title, own.span.start + delay))
    }
    return [
      .init(
        "chapters", differing == nil && wanted.count == given.count, finding,
        ["found": Double(given.count), "expected": Double(wanted.count)])
    ]
  }

  /// Names of the compared tags: those whose values are the same in all containers that store them,
  /// even if another program wrote the mirror.
  private static let compared = [
    "title", "artist", "album", "album-artist", "composer", "comment", "description", "copyright", "genre", "keywords",
    "lyrics", "isrc", "organization", "track-number", "track-count", "album-disc-number", "album-disc-count",
  ]

  private static func tags(
    _ source: PlayableSource, _ mirror: PlayableSource, _ container: Container
  ) -> [Verification.Check] {
    // Include the tags of the streams, because Ogg stores some tags per stream that other
    // containers store per file.
    let given = [mirror.index.tags] + mirror.videos.map(\.video.tags) + mirror.audio.map(\.tags)
    let source = source.index.tags
    // Include named comments, because some containers store a tag as a comment.
    let comments = given.flatMap { $0?.strings("extended-comment") ?? [] }.compactMap { NamedTag(comment: $0) }
    func isKept(_ name: String) -> Bool {
      let own = source?.texts(of: name) ?? []
      var found = given.flatMap { $0?.texts(of: name) ?? [] }
      found += comments.filter { TagList.tag(named: $0.name) == name }.map(\.text)
      // If date and creation time are on the same day, FLAC and Ogg files contain only the creation
      // time.
      if name == "date" { found += given.flatMap { $0?.texts(of: "datetime") ?? [] }.map { String($0.prefix(10)) } }
      // Also split each value, because some containers join several values into one.
      if own.count > 1 { found += found.flatMap { $0.split(separator: #/[,;] /#).map(String.init) } }
      return own.allSatisfy(found.contains)
    }
    // `theoraenc` writes no tags, so an Ogg file with only video may have none. Unknown formats may
    // be unable to hold tags.
    let isUntagged =
      (container.isOgg && mirror.audio.isEmpty || !container.isKnown)
      && !given.contains { tags in compared.contains { tags?.has($0) ?? false } }
    if isUntagged { return [] }
    let held = container.heldTags
    let wanted = compared.filter { source?.has($0) ?? false && held?.contains($0) ?? true }
    let hasCover = container.mostCovers > 0 && source?.has("image") ?? false
    let date = held.map { $0.contains("datetime") || container.holdsComments } ?? true ? source?.day : nil
    guard !wanted.isEmpty || hasCover || date != nil else { return [] }
    var differing = wanted.filter { !isKept($0) }
    if let date, !given.contains(where: { $0?.day == date }),
      !comments.contains(where: { $0.name.uppercased() == "DATE" && $0.text == date })
    {
      differing.append("date")
    }
    if hasCover, !given.contains(where: { $0?.hash(ofImage: "image") == source?.hash(ofImage: "image") }) {
      differing.append("cover art")
    }
    return [
      .init(
        "tags", differing.isEmpty,
        differing.isEmpty
          ? (wanted + (hasCover ? ["cover art"] : []) + (date == nil ? [] : ["date"])).joined(separator: ", ")
          : "not kept: \(differing.joined(separator: ", "))")
    ]
  }
}

extension TagList {
  /// Date of the content, as a day, month or year; nil if the tags have no such date. The creation
  /// time of the file is ignored.
  fileprivate var day: String? {
    partialDate ?? texts(of: "date")?.first ?? (time == nil ? texts(of: "datetime")?.first : nil)
  }
}

extension PlayableSource {
  /// Returns the subtitles that `container` can hold, converted to its format.
  func subtitles(for container: Container) -> [SubtitleTrack] {
    index.subtitles.compactMap { $0.form(for: container) }
  }
}

extension SubtitleTrack {
  /// Returns the text of a cue. Markup such as `<i>` stays, except in SSA and ASS scripts.
  fileprivate func text(of cue: Cue) -> String {
    let text = String(decoding: cue.bytes.prefix { $0 != 0 }, as: UTF8.self)
    let shown = isScript ? SubtitleText.plain(SubtitleText.line(text)) : SubtitleText.marked(text)
    return shown.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
