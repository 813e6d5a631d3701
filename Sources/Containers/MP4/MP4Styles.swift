/// Styles of timed text: bold, colours, highlights, positions and others.
///
/// `qtdemux` outputs only the text of each sample (`gst_qtdemux_process_buffer_text`).
enum MP4Styles {
  /// Returns a detail for each track with styled text. The samples of fragmented files are not
  /// read.
  static func details(_ index: MP4Index, _ file: RandomAccessFile) -> [ContainerDetail] {
    let bytes = index.bytes
    let chapters = MP4Track.chapters(of: index)
    var left = mostBytes
    return index.tracks.compactMap { track in
      guard MP4Track.kind(of: track, bytes) == .subtitles, let identifier = MP4Track.identifier(of: track, bytes),
        !chapters.contains(identifier), let table = bytes.box("mdia", "minf", "stbl", in: track),
        let entry = MP4Details.entries(table, bytes).first, ["tx3g", "text"].contains(entry.type)
      else { return nil }
      let usual = usualStyle(of: entry, bytes)
      var boxes = SampleTable(bytes, table).map { modifiers(of: $0, usual, file, &left) } ?? []
      if let usual, usual[face] & faces != 0 { boxes.insert(entry.type) }
      return boxes.isEmpty
        ? nil : ContainerDetail("the styles of subtitles (\(boxes.sorted().joined(separator: ", ")))", of: .subtitles)
    }
  }

  /// Size in bytes of the font, face, size and colour in a style record (3GPP TS 26.245, 5.17.1.1).
  /// The four bytes before them are the range of characters.
  private static let style = 8
  /// Offset of the face in a style record.
  private static let face = 2
  /// Bits of the face: bold, italic and underlined.
  private static let faces: UInt8 = 7

  /// Style of unmarked text, according to the sample description; nil for QuickTime text, whose
  /// description has other fields.
  private static func usualStyle(of entry: Box, _ bytes: [UInt8]) -> [UInt8]? {
    let start = entry.body.lowerBound + 30
    guard entry.type == "tx3g", start + style <= entry.body.upperBound else { return nil }
    return Array(bytes[start..<start + style])
  }

  /// Returns the types of the boxes with styles after the texts of a track.
  /// - Parameter left: number of bytes that may still be read.
  private static func modifiers(
    of samples: SampleTable, _ usual: [UInt8]?, _ file: RandomAccessFile, _ left: inout Int
  ) -> Set<String> {
    var found: Set<String> = []
    samples.forEachChunk { place, numbers in
      var offset = place
      for number in numbers.clamped(to: 0..<most) {
        let size = samples.size(of: number)
        guard (0..<1 << 60).contains(offset), left > 0 else { return false }
        if (3...largest).contains(size), let sample = file.read(offset..<offset + size) {
          left -= size
          found.formUnion(modifiers(in: sample, usual))
        }
        offset += size
      }
      return numbers.upperBound < most
    }
    return found
  }

  /// Maximum number of bytes to read from all tracks. A damaged table may list the same bytes many
  /// times.
  private static let mostBytes = 1 << 24
  /// Maximum number of samples to read from a track; only a damaged table has more.
  private static let most = 100_000
  /// Size of the largest sample to read, in bytes: the longest text, and as many bytes of styles.
  private static let largest = 1 << 17

  /// Returns the types of the boxes in `sample` that change the style of its text.
  private static func modifiers(in sample: [UInt8], _ usual: [UInt8]?) -> [String] {
    let end = min(2 + sample.number(0..<2), sample.count)
    return Box.all(in: sample[end...]).filter { box in
      box.type == "styl" ? changesStyle(sample[box.body], usual) : types.contains(box.type)
    }.map(\.type)
  }

  /// Boxes that change how a text is shown, besides `styl` (5.17.1).
  private static let types: Set = ["hlit", "hclr", "krok", "dlay", "href", "tbox", "blnk", "twrp"]

  /// True if the body of a `styl` box has a style other than the usual one. Some programs write
  /// the usual style into each sample.
  private static func changesStyle(_ body: ArraySlice<UInt8>, _ usual: [UInt8]?) -> Bool {
    let records = body.dropFirst(2)
    let starts = stride(from: records.startIndex + 4, through: records.endIndex - style, by: style + 4)
    return starts.contains { usual.map(records[$0..<$0 + style].elementsEqual) != true }
  }
}
