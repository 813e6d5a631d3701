package import Containers
package import GStreamer
import MediaTime
import Quirks

/// Path from the file to one stream's packets: the elements that `parsebin` found, in order.
package struct StreamPath: Sendable {
  struct Step: Sendable {
    /// Number that identifies the element in the paths of all streams.
    let element: Int
    let factory: String
    let pad: String
  }

  let kind: StreamKind
  private(set) var caps: Caps
  /// Tags of the stream, and any tags of the file that arrived with them.
  package internal(set) var tags: TagList?
  /// Orientation of the pictures as the container states it, including `rotate-0`; nil if not read.
  private(set) var orientation: String?
  var trim = GaplessInfo()
  /// Disposition; nil if the container cannot express it.
  package internal(set) var disposition: Disposition?
  /// Positions of the audio samples in the file, if the container states them.
  var stored: StoredAudio?
  /// Matroska track number if `matroskademux` outputs the packets without timestamps
  /// (`Quirk.matroskademuxProResTimes`); nil otherwise.
  private(set) var unstampedTrack: Int?
  /// Container's channel mask, if GStreamer does not report the mask: one bit for each
  /// `GstAudioChannelPosition`; 0 means that no channel belongs to a loudspeaker.
  private(set) var loudspeakers: UInt64?
  /// Container's sample format, if GStreamer does not report the format (`Quirk.qtdemuxByteOrder`).
  private(set) var sampleFormat: String?
  /// Difference in format between FLAC frames and the stream's header; nil if there is none. Each
  /// frame's timestamp is computed with the sample rate of that frame.
  var formChange: FLACChange?
  /// Sample format of a Wave64 file.
  var wave64: PCMFormat?
  let globalTags: TagList?
  private(set) var steps: [Step]

  /// True if a link directly to the decoder would fail, because one of the pads declares other caps
  /// than the stream has. There are two causes. The container and the parser may name different
  /// codecs: for example, transport streams from discs label AC-3 as E-AC-3. Or the demuxer outputs
  /// codecs that its pad template does not list (`Quirk.wavparseTemplate`).
  let hasUndeclaredCaps: Bool
  /// True if the file itself is the stream. The decoder then reads the file directly, at any
  /// position.
  var isFile: Bool { steps.isEmpty }
  /// False for video without an installed decoder. Audio is checked by `AudioDecoder`.
  var isDecodable: Bool {
    kind != .video || caps.mediaType == "video/x-raw" || !Registry.factories(.decoder, sinks: caps).isEmpty
  }
}

extension [StreamPath] {
  /// Returns the streams of each kind in file order. `parsebin` outputs streams without a parser
  /// first, and sorts the other streams by ID (`sort_end_pads`). In Ogg and transport streams the
  /// IDs end in stream numbers, so sorting by ID gives an arbitrary order.
  /// - Parameter numbers: stream numbers of Ogg and transport streams, in file order; streams
  ///   without a number come last.
  func inOrder(of numbers: [Int]) -> [StreamPath] {
    func place(_ path: StreamPath) -> Int {
      path.numberOfKind ?? path.numberInFile.flatMap { numbers.firstIndex(of: $0) } ?? numbers.count
    }
    return enumerated().sorted { (place($0.element), $0.offset) < (place($1.element), $1.offset) }.map(\.element)
  }
}

extension StreamPath {
  /// Stream number in the container: the serial number in Ogg, the PID in transport streams; nil
  /// otherwise.
  /// The pad names of `oggdemux` and `tsdemux` end in this number, in hexadecimal (`src_…`,
  /// `audio_0_…`).
  fileprivate var numberInFile: Int? {
    guard let step = steps.first(where: { ["oggdemux", "tsdemux"].contains($0.factory) }) else { return nil }
    return StreamPath.numberInFile(ofPad: step.pad)
  }

  /// Number at the end of a pad name of `oggdemux` or `tsdemux`; nil if there is none.
  static func numberInFile(ofPad name: String) -> Int? {
    name.split(separator: "_").last.flatMap { Int($0, radix: 16) }
  }

  /// Position among the tracks of the same kind, from pad names such as `audio_1`; nil for demuxers
  /// that number pads in another way.
  fileprivate var numberOfKind: Int? { demuxerPad?.last.flatMap { Int($0) } }

  /// Components of the pad name, for demuxers that name pads by kind and track order.
  fileprivate var demuxerPad: [Substring]? {
    steps.first { ["qtdemux", "matroskademux", "avidemux"].contains($0.factory) }?.pad.split(separator: "_")
  }

  /// Path without the parser of H.264 or HEVC, if the container stores the packets with length
  /// prefixes. The parser would put parameter sets into the first packet
  /// (`Quirk.h264parseParameterSets`).
  var unparsed: StreamPath {
    var path = self
    guard let last = steps.last, ["h264parse", "h265parse"].contains(last.factory),
      let demuxer = steps.dropLast().last, ["qtdemux", "matroskademux"].contains(demuxer.factory),
      caps.string("stream-format") != "byte-stream"
    else { return self }
    path.steps.removeLast()
    return path
  }

  /// Path without `jpeg2000parse`, so that JPEG 2000 packets keep their MOV boxes, which state the
  /// colours (`Quirk.jpeg2000parseBox`). Interlaced video keeps the parser.
  var boxed: StreamPath {
    var path = self
    if isBoxed, caps.int("fields") ?? 1 == 1 { path.steps.removeLast() }
    return path
  }

  /// Returns the path with a further parser, for reading this stream alone.
  func parsed(by factory: String) -> StreamPath {
    var path = self
    path.steps.append(Step(element: (steps.map(\.element).max() ?? 0) + 1, factory: factory, pad: "src"))
    return path
  }

  /// True if the packets are JPEG 2000 from MOV boxes.
  var isBoxed: Bool { steps.last?.factory == "jpeg2000parse" && steps.dropLast().last?.factory == "qtdemux" }

  /// True if the demuxer sets each packet's duration from the container.
  var declaresDurations: Bool { StreamPath.declaringDemuxers.contains(where: passes) }

  /// Demuxers that read frame durations from the container and invent none.
  package static let declaringDemuxers = ["qtdemux", "matroskademux", "avdemux_gif"]

  /// True if the path contains an element of `factory`.
  func passes(_ factory: String) -> Bool { steps.contains { $0.factory == factory } }

  /// Returns this path with facts from the container that GStreamer's demuxers do not report.
  /// Among these facts are the orientation (`Quirk.qtdemuxMatrix`), the priming of audio other than
  /// Opus (`Quirk.matroskademuxCodecDelay`, `Quirk.mpegaudioparseFFmpegPadding`,
  /// `Quirk.qtdemuxGapless`), and the default stream.
  func completed(from facts: ContainerFacts) -> StreamPath {
    var stream = self
    if kind == .video, let orientation = facts.imageOrientation {
      stream.orientation = orientation
      stream.tags = tags.oriented(orientation)
    }
    // Limit the duration to the stored audio. GStreamer reads Wave64 with libsndfile, which decodes
    // the padding of the last Wave64 chunk as audio. wavparse with `ignore-length` reads to the end
    // of the file, where other bytes may follow the audio. sfdec pads the last buffer of a
    // truncated file.
    if isFile || facts.wave?.isCutShort == true { stream.trim.duration = facts.wave?.held }
    if isFile || steps.map(\.factory) == ["wavparse"] {
      (stream.stored, stream.wave64) = (facts.wave?.stored, facts.wave?.wave64)
    }
    if let format = facts.wave?.wave64, format.channels > 2 {
      // libsndfile reports no channel mask, so use the file's mask if it has a bit for each
      // channel.
      let mask = facts.wave?.loudspeakers
      stream.loudspeakers = mask?.nonzeroBitCount == format.channels ? mask : 0
    }
    if steps.map(\.factory) == ["aiffparse"] { stream.place(channelsOf: facts.tracks.first) }
    // Since 1.27.50 (f6ed2e24fe) wavparse invents a channel mask for 3 and 7 channels if the file
    // has none, so remove the mask.
    if let wave = facts.wave, wave.loudspeakers == nil, caps.int("channels").map({ [3, 7].contains($0) }) ?? false {
      stream.caps = caps.removing(["channel-mask"])
    }
    // Matroska has no channel mask for PCM. For 3 and 7 channels, matroskademux invents a mask that
    // differs from the default (gst_audio_channel_get_fallback_mask), so later elements would mix
    // or move channels.
    if passes("matroskademux"), caps.mediaType == "audio/x-raw", [3, 7].contains(caps.int("channels")) {
      stream.caps = caps.removing(["channel-mask"])
    }
    stream.formChange = facts.formChange
    // oggdemux ends the audio at its declared end only if the file has a single stream.
    if let end = numberInFile.flatMap({ facts.report?.vorbisEnds[$0] }) { stream.trim.end = end }
    if let language = facts.language, tags?.has("language-code") != true {
      stream.tags = stream.tags.merging(TagList(languageOfThreeLetters: language))
    }
    if let gapless = facts.gapless, steps.last?.factory == "mpegaudioparse",
      steps.dropLast().allSatisfy({ ["id3demux", "apedemux"].contains($0.factory) })
    {
      stream.trim = gapless
    }
    let kinds: [Substring: StreamKind] = ["video": .video, "audio": .audio, "subtitle": .subtitles]
    guard let pad = demuxerPad, let kind = pad.first.flatMap({ kinds[$0] }), let number = numberOfKind,
      let track = facts.tracks.filter({ $0.kind == kind }).dropFirst(number).first
    else { return stream }
    stream.disposition = track.disposition
    stream.stored = track.stored
    stream.place(channelsOf: track)
    if let format = track.sampleFormat, caps.mediaType == "audio/x-raw", caps.string("format") != format {
      stream.sampleFormat = format
      stream.caps = stream.caps.setting("format", format)
    }
    if passes("matroskademux"), caps.mediaType == "video/x-prores", Quirk.matroskademuxProResTimes.applies {
      stream.unstampedTrack = track.number
    }
    if kind == .audio {
      let isOpus = caps.mediaType == "audio/x-opus"
      (stream.trim.delay, stream.trim.cut) = isOpus ? (.zero, track.codecDelay) : (track.codecDelay, .zero)
      stream.trim.delay = stream.trim.delay + track.preRoll
    }
    if kind == .audio, let gapless = facts.gapless, steps.first?.factory == "qtdemux" { stream.trim = gapless }
    if let title = track.title, tags?.has("title") != true,
      let tag = TagList("taglist, title=(string)\(Description.quoted(title))")
    {
      stream.tags = stream.tags.merging(tag)
    }
    if let language = track.language, tags?.has("language-code") != true {
      stream.tags = stream.tags.merging(TagList(languageOfThreeLetters: language))
    }
    if kind == .video {
      stream.orientation = track.orientation
      stream.tags = stream.tags.oriented(track.orientation)
    }
    return stream
  }
}

extension StreamPath {
  /// Returns this path of numbered images with the tags of their first image.
  func labelled(_ first: TagList) -> StreamPath {
    var stream = self
    stream.orientation = first.string("image-orientation") ?? orientation
    stream.tags = (first as TagList?).merging(tags).oriented(stream.orientation)
    return stream
  }

  /// Assigns the PCM channels to the loudspeakers in the container's mask.
  fileprivate mutating func place(channelsOf track: ContainerTrack?) {
    guard let mask = track?.loudspeakers, caps.mediaType == "audio/x-raw", caps.int("channels") == mask.nonzeroBitCount
    else { return }
    loudspeakers = mask
    caps = caps.setting("channel-mask", "(bitmask)0x\(String(mask, radix: 16))")
  }
}

extension TagList {
  /// List with standard GStreamer tags in place of equivalent `extended-comment` tags.
  package var withKnownComments: TagList {
    let comments = strings("extended-comment")
    guard !comments.isEmpty else { return self }
    var known: [String: NamedTag] = [:]
    var others: [String] = []
    for comment in comments {
      // Many tags can have only one value, so a comment does not replace a different value.
      // Exception: an ID3 date tag may state only the year, and a comment the full date. The file's
      // language is not used, because it is not the language of any stream.
      if let named = NamedTag(comment: comment)?.withoutUnknownLanguage, let tag = TagList.tag(named: named.name),
        tag != "language-code", known[tag] == nil, !has(tag) || texts(of: tag) == [named.text] || isPart(of: named, tag)
      {
        known[tag] = named
      } else {
        others.append(comment)
      }
    }
    let list: TagList? = removing(["extended-comment"] + known.filter { isPart(of: $1, $0) }.map(\.key))
    return list.merging(
      TagList(named: known.values.sorted { $0.name < $1.name }.map { (name: $0.name, text: $0.text) })
    )
    .merging(TagList(comments: others)) ?? self
  }

  /// True if the list's date is only the year, or the year and month, of the date in `named`.
  private func isPart(of named: NamedTag, _ tag: String) -> Bool {
    guard tag == "datetime", let partialDate else { return false }
    return named.text.hasPrefix("\(partialDate)-")
  }
}

extension NamedTag {
  /// The tag without ID3's language suffix, if the suffix is "XXX" for an unknown language
  /// (ID3v2.4, 4.10).
  fileprivate var withoutUnknownLanguage: NamedTag {
    name.hasSuffix("[xxx]") ? NamedTag(name: String(name.dropLast(5)), text: text) : self
  }

  /// Plain name for a standard QuickTime key, such as `com.apple.quicktime.title`; the unchanged
  /// name for other keys.
  fileprivate var bare: String {
    let prefix = "com.apple.quicktime."
    guard name.hasPrefix(prefix) else { return name }
    let last = String(name.dropFirst(prefix.count))
    return NamedTag.common[last] ?? name
  }

  /// Plain names by standard key without its prefix (QuickTime File Format, "QuickTime Metadata
  /// Keys").
  private static let common = [
    "title": "title", "artist": "artist", "album": "album", "comment": "comment", "description": "description",
    "copyright": "copyright", "genre": "genre", "keywords": "keywords", "make": "device_manufacturer",
    "model": "device_model", "software": "application_name", "location.ISO6709": NamedTag.location,
  ]
}

extension TagList? {
  /// Returns the list with `tags` added as comments. Technical tags are not added, because they
  /// describe only the file in which they are stored.
  package func adding(_ tags: [NamedTag]) -> TagList? {
    let added = tags.filter { !$0.isTechnical }.map { NamedTag(name: $0.bare, text: $0.text).comment }
    guard !added.isEmpty else { return self }
    let comments = TagList(comments: (self?.strings("extended-comment") ?? []) + added)
    return (self?.removing(["extended-comment"])).merging(comments)
  }

  /// Returns the list with `orientation` in place of the demuxer's orientation; the same list if
  /// `orientation` is nil.
  package func oriented(_ orientation: String?) -> TagList? {
    guard let orientation else { return self }
    let others = self?.removing(["image-orientation"])
    return orientation == "rotate-0" ? others : TagList("taglist, image-orientation=\(orientation)").merging(others)
  }

  /// Returns the tags of both lists. If both lists have a tag, the value in this list is kept.
  package func merging(_ other: TagList?) -> TagList? {
    guard let self, let other else { return self ?? other }
    return self.merging(other)
  }
}

extension StreamKind {
  init(mediaType type: String) {
    self =
      type.hasPrefix("audio/") && !type.hasPrefix("audio/x-gst-fourcc") && type != "audio/x-midi"
      ? .audio : type.hasPrefix("video/") || type.hasPrefix("image/") ? .video : .other
  }
}

extension StreamPath {
  /// - Returns: nil if the pad has no caps yet.
  init?(pad: Pad, number: (Element) -> Int) {
    guard let caps = pad.caps else { return nil }
    self.caps = caps
    var (tags, globalTags) = (pad.tags(global: false), pad.tags(global: true))
    let type = caps.mediaType
    kind = StreamKind(mediaType: type)
    var steps: [Step] = []
    var hasUndeclaredCaps = false
    var next: Pad? = pad
    while let current = next, let origin = current.origin, let factory = origin.element.factoryName {
      guard factory != "typefind" else { break }
      // Leave out parsebin's capsfilters. They only restrict a parser's output, and linking the
      // parser to the next element restricts the output in the same way.
      if factory != "capsfilter" {
        steps.insert(Step(element: number(origin.element), factory: factory, pad: origin.pad.name), at: 0)
        let named = origin.element.firstSinkPad?.caps?.mediaType
        let isMisnamed = origin.element.isOfClass("Parser") && named != type && named != nil
        hasUndeclaredCaps = hasUndeclaredCaps || isMisnamed || !origin.pad.declaresItsCaps
      }
      next = origin.element.firstSinkPad?.peer
      // A parser forwards the demuxer's tags only with its first packet
      // (gst_base_parse_push_pending_events). That packet may not have arrived yet, so read the
      // tags of all pads upstream.
      tags = tags.merging(origin.pad.tags(global: false))
      globalTags = globalTags.merging(origin.pad.tags(global: true))
    }
    (self.tags, self.globalTags) = (tags, globalTags)
    // Quirk.mpeg4videoparsePackedFrames: old encoders put a B-frame into the previous frame's
    // packet, and leave the B-frame's own packet empty. FFmpeg's decoder corrects this if the
    // packets arrive unchanged, so leave out the parser.
    if steps.last?.factory == "mpeg4videoparse", steps.dropLast().last?.factory == "avidemux" { steps.removeLast() }
    self.steps = steps
    self.hasUndeclaredCaps = hasUndeclaredCaps
  }
}
