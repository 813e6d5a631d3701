/// Fixes a finished Matroska or WebM file: the header fields and tags that matroskamux writes
/// wrongly or not at all. No child of the Matroska segment moves: a `Void` element (RFC 8794,
/// 11.3.2) fills the space after a shortened EBML element, and additional tags go to the end of the
/// file.
///
/// The fixes apply to:
/// - Quotes and backslashes that GStreamer adds to tags (`Quirk.matroskamuxTagQuotes`).
/// - Track names that the muxer made up (`Quirk.matroskamuxTrackNames`).
/// - The tag name of comments: `COMMENT`, not `COMMENTS` (`Quirk.matroskamuxComment`).
/// - The field order of interlaced video (`FieldOrder`, RFC 9559, 5.1.4.1.28.3;
///   `Quirk.matroskamuxFieldOrder`).
/// - The default track of each kind (`FlagDefault`, `FlagForced`, RFC 9559, 5.1.4.1.5;
///   `Quirk.matroskamuxDefaultFlag`).
/// - The display size of video with non-square pixels (`DisplayWidth`, RFC 9559, 5.1.4.1.28.12;
///   `Quirk.matroskamuxDisplaySize`). The size is written as a ratio (`DisplayUnit` 3), which is
///   exact.
/// - The luminance of the mastering display (`LuminanceMax`, `LuminanceMin`, RFC 9559,
///   5.1.4.1.28.40 and .41; `Quirk.matroskamuxLuminance`).
/// - The time of the first Opus packet of a track (``MatroskaOpusStart``).
/// - The language of tracks for which the muxer writes none: `und` (`Language`, RFC 9559,
///   5.1.4.1.19; `Quirk.matroskamuxLanguage`).
///
/// Each fix changes only wrong values, so no fix harms files from releases of matroskamux without
/// the bug.
///
/// There is room for additional EBML elements, because the length of a changed element is rewritten
/// in fewer bytes than the eight that matroskamux uses, and because made-up names are removed.
package struct MatroskaHeader {
  /// Header fields of a track.
  package struct Track {
    var disposition: Disposition?
    /// Field order of interlaced video.
    var fieldOrder: FieldOrder?
    /// Pixel aspect ratio.
    var pixelAspectRatio: (width: Int, height: Int)?
    /// Maximum and minimum luminance of the mastering display, in 0.0001 cd/m².
    var luminance: (most: Int, least: Int)?
    /// Tags that the muxer does not write.
    var comments: [NamedTag]

    package init(
      disposition: Disposition?, fieldOrder: FieldOrder? = nil, pixelAspectRatio: (width: Int, height: Int)? = nil,
      luminance: (most: Int, least: Int)? = nil, comments: [NamedTag] = []
    ) {
      self.comments = comments
      self.disposition = disposition
      self.fieldOrder = fieldOrder
      self.pixelAspectRatio = pixelAspectRatio
      self.luminance = luminance
    }
  }

  /// Tracks of each kind, in file order.
  private let tracks: [StreamKind: [Track]]
  /// Returns the original of a text that GStreamer serialised in quotes; nil if the text cannot be
  /// parsed.
  private let unquoted: (String) -> String?
  /// Creation date to write, in seconds since 1970; nil keeps the date in the file.
  private let date: Int?
  /// Tags of the whole file that the muxer does not write.
  private let comments: [NamedTag]

  package init(
    videos: [Track], audio: [Track], subtitles: [Track], date: Int? = nil, comments: [NamedTag] = [],
    unquoted: @escaping (String) -> String?
  ) {
    self.date = date
    self.comments = comments
    tracks = [.video: videos, .audio: audio, .subtitles: subtitles]
    self.unquoted = unquoted
  }

  package enum FieldOrder: UInt8, Codable {
    case topFirst = 1
    case bottomFirst = 6

    package init(isTopFieldFirst: Bool) { self = isTopFieldFirst ? .topFirst : .bottomFirst }
  }

  private static let madeUpNames = Set(["Video", "Audio", "Subtitle"].map { Array($0.utf8) })

  /// Writes the fixes into a finished file.
  /// - Returns: false if the additional tags could not be written, such as in a Matroska segment of
  ///   unknown length.
  /// - Throws: ``FileError``.
  @discardableResult package func apply(to path: String) throws -> Bool {
    guard let file = RandomAccessFile(path, forWriting: true) else { throw FileError.last }
    guard let segment = file.elements(in: 0..<file.size).first(where: { $0.id == MatroskaID.segment }) else {
      return comments.isEmpty
    }
    let parts = file.elements(in: segment.body)
    for part in parts {
      guard part.body.count < 1 << 24, let change = change(of: part.id), let bytes = file.read(part.body) else {
        continue
      }
      let changed = change(bytes)
      if changed.count == bytes.count, changed != bytes, !file.write(changed, at: part.body.lowerBound) {
        throw FileError.last
      }
    }
    try MatroskaOpusStart(file, in: segment.body).apply()
    let added = addedTags(parts.first { $0.id == MatroskaID.tracks }.flatMap { file.read($0.body) } ?? [])
    return try added.isEmpty || MatroskaTagAppender(file, segment.body, parts).append(added)
  }

  /// Creates EBML elements for the tags that the muxer does not write.
  /// - Parameter tracks: body of `Tracks`.
  private func addedTags(_ tracks: [UInt8]) -> [EBMLElement] {
    var added = comments.isEmpty ? [] : [MatroskaTags.tag(comments)]
    var left = self.tracks.mapValues { $0[...] }
    for track in EBMLElement.all(in: tracks) where track.id == MatroskaID.trackEntry {
      let fields = EBMLElement.all(in: track.bytes)
      let kind = MatroskaTrack.kind(ofType: fields.first { $0.id == MatroskaID.trackType }?.number)
      guard let stream = left[kind]?.popFirst(), !stream.comments.isEmpty,
        let identifier = fields.first(where: { $0.id == MatroskaID.trackUID })?.bytes
      else { continue }
      added.append(MatroskaTags.tag(stream.comments, ofTrack: identifier))
    }
    return added
  }

  /// Returns the function that changes the body of an EBML element of the Matroska segment; nil if
  /// the element stays the same.
  private func change(of element: UInt32) -> (([UInt8]) -> [UInt8])? {
    switch element {
    case MatroskaID.tracks: tracks
    case MatroskaID.tags: tags
    case MatroskaID.info: date.map { date in { dated($0, date) } }
    default: nil
    }
  }

  /// Sets `DateUTC`, in nanoseconds since the beginning of 2001 (RFC 8794, 7.6).
  private func dated(_ bytes: [UInt8], _ date: Int) -> [UInt8] {
    let time = (Int64(date) - 978_307_200).multipliedReportingOverflow(by: 1_000_000_000).partialValue
    return EBMLElement.all(in: bytes).flatMap { element in
      var element = element
      if element.id == MatroskaID.dateUTC, element.bytes.count == 8 {
        element.bytes = withUnsafeBytes(of: time.bigEndian, Array.init)
      }
      return element.encoded
    }
  }

  private func tags(_ bytes: [UInt8]) -> [UInt8] {
    rewritten(bytes) { tag in
      guard tag.id == MatroskaID.tag else { return nil }
      let changed = rewritten(tag.bytes) { simple in
        guard simple.id == MatroskaID.simpleTag else { return nil }
        return EBMLElement.all(in: simple.bytes).map { part in
          if part.id == MatroskaID.tagName, MatroskaHeader.text(part.bytes) == Array("COMMENTS".utf8) {
            return EBMLElement(id: part.id, bytes: Array("COMMENT".utf8))
          }
          guard part.id == MatroskaID.tagString, let text = text(serialized: part.bytes) else { return part }
          return EBMLElement(id: part.id, bytes: text)
        }
      }
      return EBMLElement.all(in: changed)
    }
  }

  /// Returns the original of a text that GStreamer serialised in quotes; nil if the text is not in
  /// quotes, or cannot be parsed.
  private func text(serialized bytes: [UInt8]) -> [UInt8]? {
    let bytes = MatroskaHeader.text(bytes)
    guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else { return nil }
    return unquoted(String(decoding: bytes, as: UTF8.self)).map { Array($0.utf8) }
  }

  /// Returns the bytes before the first NUL.
  private static func text(_ bytes: [UInt8]) -> [UInt8] { Array(bytes.prefix { $0 != 0 }) }

  private func tracks(_ bytes: [UInt8]) -> [UInt8] {
    var left = tracks.mapValues { $0[...] }
    return rewritten(bytes) { track in
      guard track.id == MatroskaID.trackEntry else { return nil }
      var parts = EBMLElement.all(in: track.bytes).map { EBMLElement(id: $0.id, bytes: $0.bytes) }
      let kind = MatroskaTrack.kind(ofType: parts.first { $0.id == MatroskaID.trackType }?.number)
      let stream = left[kind]?.popFirst()
      parts.removeAll { $0.id == MatroskaID.name && MatroskaHeader.madeUpNames.contains(MatroskaHeader.text($0.bytes)) }
      if let stream, let place = parts.firstIndex(where: { $0.id == MatroskaID.video }) {
        parts[place].bytes = video(EBMLElement.all(in: parts[place].bytes), stream).flatMap(\.encoded)
      }
      if let disposition = stream?.disposition {
        parts.removeAll { [MatroskaID.flagDefault, MatroskaID.flagForced].contains($0.id) }
        // Without either flag, a track is a default track that is not forced.
        if !disposition.isDefault { parts.append(EBMLElement(id: MatroskaID.flagDefault, number: 0)) }
        if disposition.isForced { parts.append(EBMLElement(id: MatroskaID.flagForced, number: 1)) }
      }
      if !parts.contains(where: { $0.id == MatroskaID.language }) {
        parts.append(EBMLElement(id: MatroskaID.language, bytes: Array("und".utf8)))
      }
      return parts
    }
  }

  private func video(_ parts: [EBMLElement], _ stream: Track) -> [EBMLElement] {
    var parts = parts
    func set(_ id: UInt32, _ value: Int) {
      parts.removeAll { $0.id == id }
      parts.append(EBMLElement(id: id, number: value))
    }
    if let order = stream.fieldOrder {
      set(MatroskaID.interlaced, 1)
      set(MatroskaID.fieldOrder, Int(order.rawValue))
    }
    func number(_ id: UInt32) -> Int? { parts.first { $0.id == id }.map { Int($0.number) } }
    if let width = number(MatroskaID.pixelWidth), let height = number(MatroskaID.pixelHeight),
      let shownWidth = number(MatroskaID.displayWidth),
      let shownHeight = number(MatroskaID.displayHeight), let pixel = stream.pixelAspectRatio,
      (1..<1 << 15).contains(pixel.width), (1..<1 << 15).contains(pixel.height), max(width, height) < 1 << 16
    {
      let (across, down) = (width * pixel.width, height * pixel.height)
      // True if the muxer computed and rounded this size (webmmux 1.28.8 rounds to the nearest
      // pixel, other muxers round down). Any other display size is intentional, so it stays.
      let isRounded =
        shownHeight == height && (0...1).contains(shownWidth - across / pixel.height)
        || shownWidth == width && (0...1).contains(shownHeight - down / pixel.width)
      if isRounded, shownWidth * down != shownHeight * across {
        let common = across.commonDivisor(down)
        set(MatroskaID.displayWidth, across / common)
        set(MatroskaID.displayHeight, down / common)
        set(MatroskaID.displayUnit, 3)
      }
    }
    if let luminance = stream.luminance {
      parts = parts.map { corrected($0, luminance) }
    }
    return parts
  }

  /// Fixes the luminance in an EBML element. The muxer divided the luminance by 50,000, as for
  /// chromaticities, instead of by 10,000.
  private func corrected(_ element: EBMLElement, _ luminance: (most: Int, least: Int)) -> EBMLElement {
    var element = element
    switch element.id {
    case MatroskaID.colour, MatroskaID.masteringMetadata:
      let parts = EBMLElement.all(in: element.bytes).map { corrected($0, luminance) }
      element.bytes = parts.flatMap(\.encoded)
    case MatroskaID.luminanceMax, MatroskaID.luminanceMin:
      let own = Double(element.id == MatroskaID.luminanceMax ? luminance.most : luminance.least)
      guard element.bytes.count == 8, element.float == own / 50_000 else { break }
      element.bytes = withUnsafeBytes(of: (own / 10_000).bitPattern.bigEndian, Array.init)
    default: break
    }
    return element
  }

  /// Rewrites the EBML elements in `bytes`. For each element, `change` returns the new children, or
  /// nil to leave the element unchanged. If the new children do not fit, the last children, which
  /// are additions, are omitted.
  private func rewritten(_ bytes: [UInt8], _ change: (EBMLElement) -> [EBMLElement]?) -> [UInt8] {
    EBMLElement.all(in: bytes).flatMap { element -> [UInt8] in
      let before = element.encoded
      guard let parts = change(element) else { return before }
      let fitting = (0...parts.count).lazy.compactMap { left in
        EBMLElement(id: element.id, bytes: parts.dropLast(left).flatMap(\.encoded)).encoded(in: before.count)
      }
      return fitting.first ?? before
    }
  }
}
