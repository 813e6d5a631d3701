package import Containers
package import GStreamer
import MediaTime
import Quirks

/// The way from the file to one stream's packets: the elements that `parsebin` found, in order.
package struct StreamPath: Sendable {
  struct Step: Sendable {
    /// Names the same element in the paths of all streams.
    let element: Int
    let factory: String
    let pad: String
  }

  let kind: StreamKind
  private(set) var caps: Caps
  /// The stream's own tags, and those of the file that came with it.
  package internal(set) var tags: TagList?
  /// Which way up the container says that its pictures are, `rotate-0` too; nil if it was not asked.
  private(set) var orientation: String?
  var trim = GaplessInfo()
  /// nil where the container has no word for it.
  package internal(set) var disposition: Disposition?
  /// Places of its samples, if the container says so.
  var stored: StoredAudio?
  /// Number of a stream in Matroska's blocks if `matroskademux` gives its packets no timestamps
  /// (`Quirk.matroskademuxProResTimes`); nil for others.
  private(set) var unstampedTrack: Int?
  /// Which loudspeakers its channels are for, if the container says it and GStreamer does not: a bit for each
  /// `GstAudioChannelPosition`; 0: for none.
  private(set) var loudspeakers: UInt64?
  /// The format of its samples, if the container says it and GStreamer does not (`Quirk.qtdemuxByteOrder`).
  private(set) var sampleFormat: String?
  /// How its packets differ; nil if they don't. Timestamps count in the rate of each.
  var formChange: FLACChange?
  /// Format of the samples in a file of Wave64.
  var wave64: PCMFormat?
  let globalTags: TagList?
  private(set) var steps: [Step]

  /// The container names another codec than the parser finds, as transport streams of discs name AC-3 E-AC-3.
  let isMisnamed: Bool
  /// The file is the stream: its decoder also reads it, where it likes.
  var isFile: Bool { steps.isEmpty }
  /// False for video without an installed decoder. Audio is checked by `AudioDecoder`.
  var isDecodable: Bool {
    kind != .video || caps.mediaType == "video/x-raw" || !Registry.factories(.decoder, sinks: caps).isEmpty
  }
}

extension [StreamPath] {
  /// The streams of each kind in the order of the file. `parsebin` gives out those that need no parser first, and sorts
  /// the others by their IDs (`sort_end_pads`), which end in their numbers in Ogg and transport streams: any order.
  /// - Parameter numbers: of Ogg and transport streams, the streams' numbers in the order of the file; streams without
  ///   come after them.
  func inOrder(of numbers: [Int]) -> [StreamPath] {
    func place(_ path: StreamPath) -> Int {
      path.numberOfKind ?? path.numberInFile.flatMap { numbers.firstIndex(of: $0) } ?? numbers.count
    }
    return enumerated().sorted { (place($0.element), $0.offset) < (place($1.element), $1.offset) }.map(\.element)
  }
}

extension StreamPath {
  /// The number that the container knows it by: serial number in Ogg, PID in transport streams, which `oggdemux` and
  /// `tsdemux` name their pads by (`src_…`, `audio_0_…`, in hexadecimal); nil in others.
  fileprivate var numberInFile: Int? {
    guard let step = steps.first(where: { ["oggdemux", "tsdemux"].contains($0.factory) }) else { return nil }
    return step.pad.split(separator: "_").last.flatMap { Int($0, radix: 16) }
  }

  /// Its place among the tracks of its kind, by which other demuxers number their pads (`audio_1`); nil where they do
  /// not.
  fileprivate var numberOfKind: Int? { demuxerPad?.last.flatMap { Int($0) } }

  /// The parts of the name of a demuxer's pad that is named by its kind, and numbered in the order of the tracks.
  fileprivate var demuxerPad: [Substring]? {
    steps.first { ["qtdemux", "matroskademux", "avidemux"].contains($0.factory) }?.pad.split(separator: "_")
  }

  /// The way to packets of H.264 and HEVC as the container holds them, if it holds them with lengths before their
  /// units: the parser puts parameter sets into the first one (`Quirk.h264parseParameterSets`).
  var unparsed: StreamPath {
    var path = self
    guard let last = steps.last, ["h264parse", "h265parse"].contains(last.factory),
      let demuxer = steps.dropLast().last, ["qtdemux", "matroskademux"].contains(demuxer.factory),
      caps.string("stream-format") != "byte-stream"
    else { return self }
    path.steps.removeLast()
    return path
  }

  /// The way to packets of JPEG 2000 in the boxes that MOV has around them (`Quirk.jpeg2000parseBox`).
  var boxed: StreamPath {
    var path = self
    if isBoxed, caps.int("fields") ?? 1 == 1 { path.steps.removeLast() }
    return path
  }

  /// The way through another parser, of a stream that is read alone.
  func parsed(by factory: String) -> StreamPath {
    var path = self
    path.steps.append(Step(element: (steps.map(\.element).max() ?? 0) + 1, factory: factory, pad: "src"))
    return path
  }

  /// Whether its packets are JPEG 2000 out of such boxes.
  var isBoxed: Bool { steps.last?.factory == "jpeg2000parse" && steps.dropLast().last?.factory == "qtdemux" }

  /// True if its demuxer gives each packet the duration that the container states.
  var declaresDurations: Bool { StreamPath.declaringDemuxers.contains(where: passes) }

  /// Demuxers that read durations of frames and make up none.
  package static let declaringDemuxers = ["qtdemux", "matroskademux", "avdemux_gif"]

  /// Whether an element of that name is on the way.
  func passes(_ factory: String) -> Bool { steps.contains { $0.factory == factory } }

  /// This path with the facts that the container states and GStreamer's demuxers do not: orientation
  /// (`Quirk.qtdemuxMatrix`), priming of audio other than Opus (`Quirk.matroskademuxCodecDelay`,
  /// `Quirk.mpegaudioparseFFmpegPadding`, `Quirk.qtdemuxGapless`), and the default stream.
  func completed(from facts: ContainerFacts) -> StreamPath {
    var stream = self
    // libsndfile, which GStreamer reads Wave64 with, takes the last chunk's padding for audio; bytes after
    // the audio in a file that is read to its end are none either. sfdec fills its last buffer where the file
    // is cut.
    if isFile || facts.wave?.isCutShort == true { stream.trim.duration = facts.wave?.held }
    if isFile || steps.map(\.factory) == ["wavparse"] {
      (stream.stored, stream.wave64) = (facts.wave?.stored, facts.wave?.wave64)
    }
    if let format = facts.wave?.wave64, format.channels > 2 {
      // libsndfile names no loudspeakers.
      let mask = facts.wave?.loudspeakers
      stream.loudspeakers = mask?.nonzeroBitCount == format.channels ? mask : 0
    }
    if steps.map(\.factory) == ["aiffparse"] { stream.place(channelsOf: facts.tracks.first) }
    // Since 1.27.50 (f6ed2e24fe) wavparse makes up loudspeakers for 3 and 7 channels.
    if let wave = facts.wave, wave.loudspeakers == nil, caps.int("channels").map({ [3, 7].contains($0) }) ?? false {
      stream.caps = caps.removing(["channel-mask"])
    }
    // Matroska names no loudspeakers for PCM; those that matroskademux makes up for 3 and 7 channels are not
    // the usual ones (gst_audio_channel_get_fallback_mask): elements that know them would mix or move
    // channels.
    if passes("matroskademux"), caps.mediaType == "audio/x-raw", [3, 7].contains(caps.int("channels")) {
      stream.caps = caps.removing(["channel-mask"])
    }
    stream.formChange = facts.formChange
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
  /// Assigns the channels of PCM to the loudspeakers that the container names.
  fileprivate mutating func place(channelsOf track: ContainerTrack?) {
    guard let mask = track?.loudspeakers, caps.mediaType == "audio/x-raw", caps.int("channels") == mask.nonzeroBitCount
    else { return }
    loudspeakers = mask
    caps = caps.setting("channel-mask", "(bitmask)0x\(String(mask, radix: 16))")
  }
}

extension TagList {
  /// The list with GStreamer's own tags in the place of comments that say the same.
  var withKnownComments: TagList {
    let comments = strings("extended-comment")
    guard !comments.isEmpty else { return self }
    var known: [String: NamedTag] = [:]
    var others: [String] = []
    for comment in comments {
      // Many tags have one value; ID3 may hold a year, and the day in a comment. The language of a file is none of a
      // stream.
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

  /// Whether its date is the year of a month or a day, or the month of a day, that `named` tells.
  private func isPart(of named: NamedTag, _ tag: String) -> Bool {
    guard tag == "datetime", let partialDate else { return false }
    return named.text.hasPrefix("\(partialDate)-")
  }
}

extension NamedTag {
  /// Its name as it was before ID3 gave it a language, "XXX" where none is known (ID3v2.4, 4.10).
  fileprivate var withoutUnknownLanguage: NamedTag {
    name.hasSuffix("[xxx]") ? NamedTag(name: String(name.dropLast(5)), text: text) : self
  }

  /// The name without QuickTime's prefix of common names (`com.apple.quicktime.title`).
  fileprivate var bare: String {
    let prefix = "com.apple.quicktime."
    guard name.hasPrefix(prefix) else { return name }
    let last = String(name.dropFirst(prefix.count))
    return NamedTag.common[last] ?? name
  }

  /// QuickTime File Format, "QuickTime Metadata Keys".
  private static let common = [
    "title": "title", "artist": "artist", "album": "album", "comment": "comment", "description": "description",
    "copyright": "copyright", "genre": "genre", "keywords": "keywords", "make": "device_manufacturer",
    "model": "device_model", "software": "application_name", "location.ISO6709": NamedTag.location,
  ]
}

extension TagList? {
  /// The tags with those of `tags` that describe more than the file that they stand in, as comments.
  func adding(_ tags: [NamedTag]) -> TagList? {
    let added = tags.filter { !$0.isTechnical }.map { NamedTag(name: $0.bare, text: $0.text).comment }
    guard !added.isEmpty else { return self }
    let comments = TagList(comments: (self?.strings("extended-comment") ?? []) + added)
    return (self?.removing(["extended-comment"])).merging(comments)
  }

  /// The tags with an orientation in place of a demuxer's; as they are if it is nil.
  func oriented(_ orientation: String?) -> TagList? {
    guard let orientation else { return self }
    let others = self?.removing(["image-orientation"])
    return orientation == "rotate-0" ? others : TagList("taglist, image-orientation=\(orientation)").merging(others)
  }

  /// Both lists' tags, as far as there are any; where both have one, this list's.
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
    var isMisnamed = false
    var next: Pad? = pad
    while let current = next, let origin = current.origin, let factory = origin.element.factoryName {
      guard factory != "typefind" else { break }
      // parsebin's capsfilters only name a parser's output; linking does that too.
      if factory != "capsfilter" {
        steps.insert(Step(element: number(origin.element), factory: factory, pad: origin.pad.name), at: 0)
        let named = origin.element.firstSinkPad?.caps?.mediaType
        isMisnamed = isMisnamed || origin.element.isOfClass("Parser") && named != type && named != nil
      }
      next = origin.element.firstSinkPad?.peer
      // A parser gives the demuxer's tags on with its first packet (gst_base_parse_push_pending_events), which may not
      // have come.
      tags = tags.merging(origin.pad.tags(global: false))
      globalTags = globalTags.merging(origin.pad.tags(global: true))
    }
    (self.tags, self.globalTags) = (tags, globalTags)
    // Quirk.mpeg4videoparsePackedFrames: old encoders put a B-frame into the packet of the frame before it, and an
    // empty packet where it belongs. FFmpeg's decoder fixes that if it gets the packets as they are.
    if steps.last?.factory == "mpeg4videoparse", steps.dropLast().last?.factory == "avidemux" { steps.removeLast() }
    self.steps = steps
    self.isMisnamed = isMisnamed
  }
}
