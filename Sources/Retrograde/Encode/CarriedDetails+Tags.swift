import Containers
import GStreamer
import RetrogradeEngine

extension CarriedDetails {
  /// Comments to write into the output: comments of the source that are valid for the output, and
  /// comments made from tags that the muxer does not write.
  var comments: [String] {
    let all = loopComments.played + (holdsComments ? freeComments + promoted(source.index.tags?.withDate) : [])
    // Leave out the comment with `secondDate`, because the muxer writes this date as a tag.
    return all.unique.filter { $0 != secondDate.map { "DATE=\($0)" } }
  }

  /// Returns the comments to write for a stream: comments of the source that are valid for the
  /// output, and comments made from tags that the muxer does not write. Empty unless the output is
  /// Matroska or WebM, since other containers have no comments per stream.
  func comments(of tags: TagList?) -> [String] {
    guard container?.isMatroska ?? false else { return [] }
    return freeTags(of: tags).filter { !$0.saysTimes }.map(\.comment)
      + promoted(streamOnly(tags)?.removing(Array(CarriedDetails.ofStreams)))
  }

  /// Returns the comments to write for a stream in Ogg. Omits comments with a non-ASCII name, and
  /// comments that would be wrong in the output, because they describe the source's encoding or
  /// contain times of the source.
  static func oggComments(of tags: TagList?) -> [String] {
    (tags?.strings("extended-comment") ?? []).compactMap { NamedTag(comment: $0) }
      .filter { tag in !tag.isTechnical && !tag.saysLoop && !tag.saysTimes && tag.name.utf8.allSatisfy { $0 < 0x80 } }
      .map(\.comment)
  }

  /// Warnings about tags and loudspeaker positions that the output does not store. A creation time
  /// in the source's header causes no warning (docs/limits-outputs.md).
  var unsupportedTags: [Warning] {
    let tags = source.facts?.hasHeaderTime ?? false ? source.index.tags : source.index.tags?.withDate
    var names: [String] = []
    if let tags, let held = heldTags {
      names = unwritten(tags, held)
      let kept = Set(keptTags.compactMap { TagList.tag(named: $0.name) } + (keepsWaveChunks ? ["midi-base-note"] : []))
      names.removeAll(where: kept.contains)
      if holdsComments { names = names.filter { !isPromoted($0, tags) } }
      if !holdsComments, unsupportedDate(tags) != nil { names.append("date") }
    }
    names += lostLanguages.map(\.name)
    let timed = freeTags.filter(\.saysTimes).map(\.name)
    if container != nil {
      names += freeTags.filter { !$0.saysTimes && !(holdsComments && holdsName(of: $0)) }.map(\.name)
    }
    return [
      CarriedDetails.warning(names, "which this container's muxer does not write"),
      CarriedDetails.warning(timed, "whose times may be wrong for the output"),
      CarriedDetails.warning(unsupportedStreamTags, "which this container's muxer does not write", kind: "stream tag"),
      unsupportedLoudspeakers,
    ].compactMap { $0 }
  }

  /// Warning if a comment of a FLAC source sets loudspeakers other than FLAC's default, and the
  /// output is not FLAC.
  private var unsupportedLoudspeakers: Warning? {
    guard let mask = named(source.index.tags).first(where: \.saysLoudspeakers), container?.isFLAC == false,
      audio.contains(where: { $0.codec.mediaType == "audio/x-flac" }), !isHeldByFLAC(mask)
    else { return nil }
    return Warning(
      .detailLeftOut,
      "left out: the channel layout of the source (\(mask.text)); FLAC's default layout is used")
  }

  /// True if the comment only sets the loudspeakers that FLAC has by default for the number of
  /// channels.
  private func isHeldByFLAC(_ comment: NamedTag) -> Bool {
    comment.saysLoudspeakers
      && audio.contains { $0.codec.mediaType == "audio/x-flac" && $0.caps.channelMask == comment.loudspeakers }
  }

  /// Returns the names of tags that get lost if the muxer writes only the tags in `held`.
  private func unwritten(_ tags: TagList, _ held: Set<String>) -> [String] {
    tags.names.filter { name in
      // FFmpeg writes its own name into every file, so that name is no detail of the source.
      let isOfFFmpeg = name == "application-name" && tags.string(name)?.hasPrefix("Lav") ?? false
      return !held.contains(name) && !CarriedDetails.others.contains(name) && !isOfFFmpeg
    }
  }

  private static func warning(_ names: [String], _ reason: String, kind: String = "tag") -> Warning? {
    let names = names.unique.sorted()
    guard !names.isEmpty else { return nil }
    return Warning(
      .detailLeftOut,
      "left out: the \(kind)\(names.count == 1 ? "" : "s") \(names.joined(separator: ", ")), \(reason)",
      count: names.count)
  }

  private var unsupportedStreamTags: [String] {
    guard let held = container?.heldStreamTags else { return [] }
    let lists = videos.map(\.video.tags) + audio.map(\.tags) + subtitles.map(\.tags)
    return lists.flatMap { tags -> [String] in
      let own = streamOnly(tags)
      let free = freeTags(of: tags)
      let names = (own?.names ?? []).filter { !held.contains($0) && !CarriedDetails.ofStreams.contains($0) }
      guard container?.isMatroska ?? false else { return names + free.map(\.name) }
      return names.filter { own?.comments(of: $0) == nil } + free.filter(\.saysTimes).map(\.name)
    }
  }

  /// Returns the tags of a stream that are not tags of the whole file.
  private func streamOnly(_ tags: TagList?) -> TagList? { tags?.removing(source.index.tags?.names ?? []) }

  /// Tags that have a separate warning, or that describe the source's encoding.
  private static let others = Set(
    EncodingPipeline.technical + [
      "image", "preview-image", "attachment", "image-orientation", "datetime", "language-code", "language-name",
    ])

  /// Like `others`, but for tags of streams. Also contains the title, and the name of the encoding
  /// application.
  private static let ofStreams = others.union(["title", "application-name"])

  private var holdsComments: Bool { container?.holdsComments ?? false && !isOnlyTheora }

  /// Names of the file tags that the output's muxer or encoder writes; nil if unknown.
  private var heldTags: Set<String>? { isOnlyTheora ? [] : container?.heldTags }

  /// True if the output is Ogg with only Theora video. Such an output has no tags, since theoraenc
  /// writes none (1.22 to 1.28).
  private var isOnlyTheora: Bool { container?.isOgg ?? false && audio.isEmpty && !videos.isEmpty }

  private var freeTags: [NamedTag] {
    let isWritten = writtenTags?.time != nil && heldTags?.contains("datetime") ?? true
    let created = container?.holdsHeaderTime ?? true || !holdsComments || isWritten ? nil : created
    let kept = keptTags + languagesOfFile
    return named(source.index.tags).filter { !kept.contains($0) && (container?.isFLAC ?? true || !isHeldByFLAC($0)) }
      + [created.map { NamedTag(name: "CREATION_TIME", text: TagList.dateTime($0)) }].compactMap { $0 }
  }

  /// Returns the comments of a stream that are not also comments of the whole file.
  private func freeTags(of stream: TagList?) -> [NamedTag] {
    let known = freeTags
    return named(stream).filter { tag in
      !known.contains(tag) && !(TagList.tag(named: tag.name).flatMap { source.index.tags?.has($0) } ?? false)
    }
  }

  /// Tags of a WAVE source that a WAVE output keeps in copied RIFF chunks (`waveChunks`).
  private var keptTags: [NamedTag] { keepsWaveChunks ? source.facts?.tags ?? [] : [] }

  private var keepsWaveChunks: Bool { container?.isWave ?? false && !hasSoundtrack && source.facts?.wave != nil }

  /// Tags for the muxer. In MP3, the language of the audio is a tag of the file.
  var writtenTags: TagList? { writtenTags(audioLanguage: audio.first?.tags?.language?.plain) }

  /// Returns the tags for the muxer.
  /// - Parameter audioLanguage: language of the audio; nil if undefined.
  func writtenTags(audioLanguage: String?) -> TagList? {
    var kept = source.index.tags?.removing(container?.miswrittenTags ?? [])
    if let secondDate { kept = (kept?.removing(["datetime"])).merging(TagList(dateTime: secondDate)) }
    let language = container?.tagger == nil ? languageOfFile?.text : audioLanguage
    return kept.merging(language.flatMap { TagList(language: $0) })?.withPlainLanguage
  }

  /// Date to write instead of the creation time in the source's header; nil if the source does not
  /// have two different dates. FLAC and Ogg write `datetime` as the date, so the creation time
  /// would be a second date.
  private var secondDate: String? {
    heldTags?.contains("datetime") ?? false ? source.index.tags?.dateBesidesTime : nil
  }

  /// `LANGUAGE` comments of the source file. FLAC and Ogg outputs store the language as a tag of
  /// their audio. Empty for other outputs, or without audio.
  private var languagesOfFile: [NamedTag] {
    guard container.map({ $0.isFLAC || $0.isOgg }) ?? false, !audio.isEmpty else { return [] }
    return source.index.tags?.fileLanguages ?? []
  }

  /// Languages of the file that differ from the language that FLAC and Ogg write for the audio.
  private var lostLanguages: [NamedTag] {
    let written = audio.compactMap { $0.tags?.language?.plain } + [languageOfFile?.text].compactMap { $0 }
    let held = Set(written.map(TagList.shortLanguage))
    return languagesOfFile.filter { !held.contains(TagList.shortLanguage($0.text)) }
  }

  /// First language of the source file; nil if an audio stream has a language of its own, which is
  /// written instead.
  private var languageOfFile: NamedTag? {
    audio.allSatisfy { $0.tags?.language == nil } ? languagesOfFile.first : nil
  }

  /// Creation time of the source, in seconds since 1970.
  var created: Int? { source.index.tags?.time ?? source.facts?.created }

  private var freeComments: [String] {
    freeTags.filter { !$0.saysTimes && holdsName(of: $0) }.map(\.comment)
  }

  /// False for a non-ASCII name in Ogg, since GStreamer leaves out such names (Vorbis I
  /// specification, 5.2.2).
  private func holdsName(of tag: NamedTag) -> Bool {
    tag.name.utf8.allSatisfy { $0 < 0x80 } || !(container?.isOgg ?? false)
  }

  /// Returns the comments whose names GStreamer does not know as tags, except comments about loops
  /// or about the source's encoding.
  private func named(_ tags: TagList?) -> [NamedTag] {
    (tags?.strings("extended-comment") ?? []).compactMap { NamedTag(comment: $0) }
      .filter { !$0.isTechnical && !$0.saysLoop }
  }

  /// Returns the tags that the muxer does not write, converted to comments.
  private func promoted(_ tags: TagList?) -> [String] {
    guard let tags, let held = heldTags else { return [] }
    let names = unwritten(tags, held).filter { $0 != "date" || !tags.hasSameDay || !held.contains("datetime") }
    return names.filter { !CarriedDetails.places.contains($0) }.flatMap { comments(of: $0, tags) }
      + [tags.place.map { "\(NamedTag.location)=\($0)" }, unsupportedDate(tags).map { "DATE=\($0)" }].compactMap { $0 }
  }

  private func comments(of tag: String, _ tags: TagList) -> [String] {
    guard tag == "performer", container?.isMatroska ?? false else { return tags.comments(of: tag) ?? [] }
    return tags.strings(tag).map { "\(TagList.matroskaPerformer)=\($0)" }
  }

  /// Returns the source's date if it is incomplete (a year, or a year and a month) and the muxer
  /// does not write it; otherwise nil. Most muxers write only complete dates.
  private func unsupportedDate(_ tags: TagList) -> String? {
    guard let held = heldTags, !held.contains("datetime"), let date = tags.partialDate else { return nil }
    // The muxer of ID3 tags writes a date that is only a year (gstid3v2mux.cc).
    return container?.caps == nil && !date.contains("-") ? nil : date
  }

  private func isPromoted(_ name: String, _ tags: TagList) -> Bool {
    CarriedDetails.places.contains(name) ? tags.place != nil : tags.comments(of: name) != nil
  }

  private static let places: Set = [
    "geo-location-latitude", "geo-location-longitude", "geo-location-elevation",
  ]
}

extension TagList {
  /// Comments with the language of the file.
  var fileLanguages: [NamedTag] {
    strings("extended-comment").compactMap { NamedTag(comment: $0) }.filter { $0.name.uppercased() == "LANGUAGE" }
  }

  /// Date that differs from the day of the list's creation time. nil if both are the same day, if
  /// the list lacks one of the two, or if the date has other characters than digits and hyphens.
  fileprivate var dateBesidesTime: String? {
    guard time != nil, !hasSameDay, let date = dateComment ?? texts(of: "date")?.first else { return nil }
    return date.utf8.allSatisfy { "0123456789-".utf8.contains($0) } && TagList(dateTime: date) != nil ? date : nil
  }

  /// True if `date` is the day of `datetime`.
  fileprivate var hasSameDay: Bool {
    guard let date = texts(of: "date")?.first, let time = texts(of: "datetime")?.first else { return false }
    return time.hasPrefix(date)
  }

  /// Place of the recording, in ISO 6709 format.
  fileprivate var place: String? {
    guard let latitude = double("geo-location-latitude"), let longitude = double("geo-location-longitude") else {
      return nil
    }
    return NamedTag.place(
      latitude: latitude, longitude: longitude, altitude: double("geo-location-elevation"), decimals: 5)
  }
}

extension Container {
  /// Names of tags that the muxer writes with wrong values (`Quirk.qtmuxShowNumbers`) or wrong names;
  /// these tags become comments. matroskamux calls the performer `LEAD_PERFOMER`, and qtmux writes a
  /// box `perf`, which qtdemux reads as the artist (1.22 to 1.28).
  var miswrittenTags: [String] {
    hasEditLists ? ["show-season-number", "show-episode-number", "performer"] : isMatroska ? ["performer"] : []
  }

  /// Names of the file tags that the muxer writes; nil if unknown.
  var heldTags: Set<String>? {
    if imageFormat != nil || isTransportStream { return [] }
    if !isKnown { return nil }
    guard let caps else { return isFLAC ? Container.tagsInVorbis : Container.tagsInID3 }
    if caps.hasPrefix("video/quicktime") { return Container.tagsInMP4 }
    if caps == "video/x-msvideo" { return Container.tagsInAVI }
    if isWave { return Container.tagsInWAVE }
    return isOgg ? Container.tagsInVorbis : isMatroska ? Container.tagsInMatroska : nil
  }

  /// Names of the stream tags that the muxer writes; nil if unknown, for containers of a single
  /// stream, whose tags are the file's tags, and for Ogg (``CarriedDetails/oggComments(of:)``).
  var heldStreamTags: Set<String>? { holdsOneStream || isOgg ? nil : caps == "video/x-msvideo" ? [] : heldTags }

  /// True if the container's header has a creation time.
  var holdsHeaderTime: Bool { holdsTitles }

  /// Tags that `gst_avi_mux_write_tag` of gstavimux.c writes, 1.22 to 1.28.
  private static let tagsInAVI: Set = [
    "location", "artist", "comment", "copyright", "date", "genre", "keywords", "title", "encoder", "isrc",
  ]
  /// Tags that `gst_wavparse_tags_foreach` of gstwavenc.c writes, 1.22 to 1.28.
  private static let tagsInWAVE = tagsInAVI.union(["album", "album-artist"])

  /// Tags in the table `gst_matroska_tag_conv` of matroska-mux.c, 1.22 to 1.28.
  private static let tagsInMatroska: Set = [
    "title", "artist", "album", "comment", "date", "isrc", "copyright", "beats-per-minute", "license", "composer",
    "genre",
  ]

  /// Tags in the table `tag_matches_mp4` of gstqtmux.c, 1.22 to 1.28.
  private static let tagsInMP4: Set = [
    "album", "album-sortname", "artist", "artist-sortname", "album-artist", "album-artist-sortname",
    "application-name", "comment", "composer", "composer-sortname", "show-name", "show-sortname", "genre", "title",
    "title-sortname", "grouping",
    "description", "lyrics", "copyright", "keywords", "date", "beats-per-minute", "track-number", "track-count",
    "album-disc-number", "album-disc-count",
  ]

  /// Tags in the table `tag_matches` of gstvorbistag.c, 1.22 to 1.28.
  private static let tagsInVorbis: Set = [
    "title", "version", "album", "track-number", "album-disc-number", "track-count", "album-disc-count", "artist",
    "performer", "composer", "copyright", "license", "license-uri", "geo-location-name", "organization", "description",
    "genre", "datetime", "contact", "isrc", "comment", "replaygain-track-gain", "replaygain-track-peak",
    "replaygain-album-gain", "replaygain-album-peak", "replaygain-reference-level", "acoustid-id",
    "acoustid-fingerprint", "musicbrainz-trackid", "musicbrainz-releasetrackid", "musicbrainz-artistid",
    "musicbrainz-albumid", "musicbrainz-albumartistid", "musicbrainz-releasegroupid", "musicbrainz-trmid",
    "musicbrainz-sortname", "album-sortname", "title-sortname", "artist-sortname", "album-artist",
    "album-artist-sortname", "discid", "musicbrainz-discid", "beats-per-minute", "application-name",
  ]

  /// Tags in the table `add_funcs` of gstid3v2mux.cc, 1.22 to 1.28. The muxer writes only the year
  /// of a date, so dates are also written as comments.
  fileprivate static let tagsInID3: Set = [
    "artist", "album-artist", "title", "album", "copyright", "composer", "genre", "comment", "musicbrainz-artistid",
    "musicbrainz-albumid", "musicbrainz-albumartistid", "musicbrainz-releasegroupid", "musicbrainz-trmid",
    "musicbrainz-discid", "discid", "musicbrainz-releasetrackid", "musicbrainz-trackid", "artist-sortname",
    "musicbrainz-sortname", "album-sortname", "title-sortname", "track-number", "track-count", "album-disc-number",
    "album-disc-count", "beats-per-minute",
  ]
}

extension NamedTag {
  fileprivate var saysLoudspeakers: Bool { name.uppercased() == "WAVEFORMATEXTENSIBLE_CHANNEL_MASK" }

  /// Channel mask in the comment's text, which consists of hexadecimal digits.
  fileprivate var loudspeakers: UInt64? {
    let digits = text.lowercased().hasPrefix("0x") ? text.dropFirst(2) : text[...]
    return Int(digits, radix: 16).map(WAVEMask.places)
  }
}
