/// Tags of Matroska and WebM files (RFC 9559, 5.1.8). matroskademux reads the text tags of the file
/// and of tracks, but stops after a tag whose name is not ASCII, although names are UTF-8
/// (`Quirk.matroskademuxTagNames`).
enum MatroskaTags {
  /// Maximum size of the tags in bytes; a larger value is treated as damage.
  private static let longest = 1 << 24
  /// Maximum nesting of tags; limited because each level copies its content.
  private static let deepest = 8

  /// Reads the tags that matroskademux ignores or misreads.
  /// - Returns: `tags` are tags of the whole file: dates without a month or day (matroskademux adds
  ///   the missing one), the track number as FFmpeg writes it, ``performers``, and texts with names
  ///   that are not ASCII. `details` are tags that no output can keep: tags that are not text; tags
  ///   of editions, chapters and attachments; and tags with names that are not ASCII, if they are
  ///   nested or belong to a track.
  static func unread(in file: RandomAccessFile) -> (tags: [NamedTag], details: [ContainerDetail]) {
    guard let segment = file.firstElement(MatroskaID.segment, in: 0..<file.size),
      let place = file.listedElement(MatroskaID.tags, in: segment), place.count < longest, let bytes = file.read(place)
    else { return ([], []) }
    var found: (tags: [NamedTag], details: [ContainerDetail]) = ([], [])
    for tag in EBMLElement.all(in: bytes) where tag.id == MatroskaID.tag {
      let parts = EBMLElement.all(in: tag.bytes)
      let targets = parts.filter { $0.id == MatroskaID.targets }.flatMap { EBMLElement.all(in: $0.bytes) }
      let isOfOthers = targets.contains { MatroskaID.targetsOfOthers.contains($0.id) && $0.number != 0 }
      found.details += parts.flatMap { details(of: $0, in: [], isOfOthers: isOfOthers) }
      let isOfTrack = targets.contains { $0.id == MatroskaID.tagTrackUID && $0.number != 0 }
      let foreign = isOfOthers ? [] : parts.compactMap(foreign)
      if isOfTrack { found.details += foreign.map { ContainerDetail(file: "the tag \($0.name) of a stream") } }
      if !isOfOthers, !isOfTrack {
        found.tags += foreign
        found.tags += parts.compactMap(partialDate) + parts.compactMap(performer)
        if !targets.contains(where: { $0.id == MatroskaID.targetTypeValue }) {
          found.tags += parts.compactMap(trackNumber)
        }
      }
    }
    return found
  }

  /// Returns the offsets in the file of the `TagName` elements whose text is not ASCII.
  static func offsetsOfNonASCIINames(in file: RandomAccessFile) -> [Int] {
    guard let segment = file.firstElement(MatroskaID.segment, in: 0..<file.size),
      let place = file.listedElement(MatroskaID.tags, in: segment), place.count < longest, let bytes = file.read(place)
    else { return [] }
    func names(in range: Range<Int>, _ depth: Int) -> [Int] {
      var found: [Int] = []
      var next = range.lowerBound
      while next < range.upperBound, let header = EBMLElement.header(in: bytes[next..<range.upperBound]),
        header.length <= range.upperBound - next - header.size
      {
        let body = next + header.size..<next + header.size + header.length
        if [MatroskaID.tag, MatroskaID.simpleTag].contains(header.id), depth < deepest {
          found += names(in: body, depth + 1)
        } else if header.id == MatroskaID.tagName, bytes[body].contains(where: { $0 >= 0x80 }) {
          found.append(place.lowerBound + next)
        }
        next = body.upperBound
      }
      return found
    }
    return names(in: bytes.indices, 0)
  }

  /// Returns the tag in `simple` if the tag is text and its name is not ASCII; otherwise nil.
  private static func foreign(_ simple: EBMLElement) -> NamedTag? {
    text(simple).flatMap { $0.name.utf8.allSatisfy { $0 < 0x80 } ? nil : $0 }
  }

  /// Tag names that matroskademux mistakes for the performer (`tag_conv` of
  /// matroska-read-common.c, 1.22 to 1.28), and the name of each tag in other containers.
  /// `LEAD_PERFOMER` is a misspelling by matroskamux.
  static let performers = [
    "LEAD_PERFOMER": "PERFORMER", "ACCOMPANIMENT": "ACCOMPANIMENT", "CONDUCTOR": "CONDUCTOR",
  ]

  private static func performer(_ simple: EBMLElement) -> NamedTag? {
    text(simple).flatMap { tag in performers[tag.name].map { NamedTag(name: $0, text: tag.text) } }
  }

  private static func partialDate(_ simple: EBMLElement) -> NamedTag? {
    named("DATE", simple).flatMap { $0.text.wholeMatch(of: /\d{4}(-\d{2})?/) != nil ? $0 : nil }
  }

  /// Returns the track number as FFmpeg writes it: a `PART_NUMBER` without a target level. By the
  /// standard, such a `PART_NUMBER` is the disc number, because the default level is the album (RFC
  /// 9559, 5.1.8.1.1.1).
  private static func trackNumber(_ simple: EBMLElement) -> NamedTag? {
    named("PART_NUMBER", simple).map { NamedTag(name: "TRACKNUMBER", text: $0.text) }
  }

  /// Returns the tag in `simple`; nil if its name is not `name`.
  private static func named(_ name: String, _ simple: EBMLElement) -> NamedTag? {
    text(simple).flatMap { $0.name.uppercased() == name ? NamedTag(name: name, text: $0.text) : nil }
  }

  /// Returns the tag in `simple`; nil if it is not text.
  private static func text(_ simple: EBMLElement) -> NamedTag? {
    guard simple.id == MatroskaID.simpleTag else { return nil }
    let parts = EBMLElement.all(in: simple.bytes)
    func text(_ id: UInt32) -> String? {
      parts.first { $0.id == id }.map { String(decoding: $0.bytes.prefix { $0 != 0 }, as: UTF8.self) }
    }
    guard let name = text(MatroskaID.tagName), let value = text(MatroskaID.tagString) else { return nil }
    return NamedTag(name: name, text: value)
  }

  /// Returns a ``ContainerDetail`` for each tag that no output can store, in `simple` and in the
  /// tags nested in it.
  /// - Parameters:
  ///   - outer: names of the enclosing tags.
  ///   - isOfOthers: true if the tag belongs to an edition, a chapter or an attachment.
  private static func details(
    of simple: EBMLElement, in outer: [String], isOfOthers: Bool
  ) -> [ContainerDetail] {
    guard simple.id == MatroskaID.simpleTag else { return [] }
    if outer.count == deepest { return [ContainerDetail(file: "the tags in \(outer.joined(separator: "/"))")] }
    let parts = EBMLElement.all(in: simple.bytes)
    guard let name = parts.first(where: { $0.id == MatroskaID.tagName }) else { return [] }
    let path = outer + [String(decoding: name.bytes.prefix { $0 != 0 }, as: UTF8.self)]
    let whole = path.joined(separator: "/")
    let isBinary = parts.contains { $0.id == MatroskaID.tagBinary }
    let isHidden = !outer.isEmpty && foreign(simple) != nil
    let own =
      isOfOthers
      ? [ContainerDetail(file: "the tag \(whole) of a chapter or an attachment")]
      : isBinary
        ? [ContainerDetail(file: "the tag \(whole), which is not text")]
        : isHidden ? [ContainerDetail(file: "the tag \(whole), whose name is not ASCII")] : []
    return own + parts.flatMap { details(of: $0, in: path, isOfOthers: isOfOthers) }
  }

  /// Creates a `Tag` element for the track `uid`, or for the whole file if `uid` is nil.
  static func tag(_ tags: [NamedTag], ofTrack uid: [UInt8]? = nil) -> EBMLElement {
    let targets = uid.map { [EBMLElement(id: MatroskaID.tagTrackUID, bytes: $0)] } ?? []
    let simple = tags.map { tag in
      EBMLElement(
        id: MatroskaID.simpleTag,
        of: [
          EBMLElement(id: MatroskaID.tagName, bytes: Array(tag.name.utf8)),
          EBMLElement(id: MatroskaID.tagString, bytes: Array(tag.text.utf8)),
        ])
    }
    return EBMLElement(id: MatroskaID.tag, of: [EBMLElement(id: MatroskaID.targets, of: targets)] + simple)
  }
}

extension EBMLElement {
  /// Creates a master element with `parts`.
  init(id: UInt32, of parts: [EBMLElement]) { self.init(id: id, bytes: parts.flatMap(\.encoded)) }
}
