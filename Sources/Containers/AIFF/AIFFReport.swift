import MediaTime

extension ContainerReport {
  /// Creates the report of an AIFF or AIFF-C file ("Audio Interchange File Format AIFF-C", Apple,
  /// 1991): `COMM` declares the number of sample frames, and `SSND` contains the audio.
  static func aiff(_ file: RandomAccessFile) -> ContainerReport? {
    guard let form = file.number(at: 4, 4) else { return nil }
    var report = ContainerReport()
    var place = 12
    // The FORM size may be unset: some writers cannot seek back to set it.
    let end = form > 4 && form < 0xFFFF_FFFF ? form + 8 : Int.max
    while place < end, let name = file.text(at: place), let size = file.number(at: place + 4, 4) {
      if size == 0, name.utf8.allSatisfy({ $0 == 0 }) {
        place = file.endOfEmptyChunks(at: place)
        continue
      }
      // A size of 0 or 0xFFFFFFFF is unset, because the writer could not seek back to set it. The
      // header then declares no reliable length, so there is no report.
      if name == "SSND", size == 0 || size == 0xFFFF_FFFF { return nil }
      if name == "COMM" { report.end = aiffEnd(file, at: place + 8) }
      // Bytes after the FORM chunk, such as an ID3 tag, are not AIFF chunks, so their size is not
      // checked.
      if size > file.size - place - 8, place < form + 8 { report.isCut = true }
      place += 8 + size + size % 2
    }
    // The FORM size may count a padding byte that is missing at the end, so one missing byte is not
    // a truncation.
    if form < 0xFFFF_FFFF, form - 1 > file.size - 8 { report.isCut = true }
    report.streams = [Stream(kind: .audio, frames: nil, end: report.end)]
    report.countsSamples = report.end != nil
    if end < file.size - 12, file.text(at: end + form % 2) == "FORM" { report.noteFile(at: end + form % 2) }
    return report
  }

  /// Facts from AIFF chunks that GStreamer does not report.
  struct AIFFChunks {
    /// Offset of the ID3 tag in the `ID3 ` chunk; nil if there is none.
    var tag: Int?
    /// Tags from the text chunks, named like the corresponding Vorbis comments.
    var texts: [NamedTag] = []
    /// Reason to refuse the file, as in ``ContainerFacts/fault``; nil if there is none.
    var fault: String?
    /// Displayed name of a compression that aiffparse does not know; nil for other files.
    var uncommonFormat: String?
    /// AIFF chunks to report to the user, because no output can store their contents.
    var details: [ContainerDetail] = []
    /// Channel mask, one bit per `GstAudioChannelPosition`; nil if the file declares no positions,
    /// or if GStreamer has no such layout.
    var loudspeakers: UInt64?
  }

  static func aiffChunks(_ file: RandomAccessFile) -> AIFFChunks {
    var found = AIFFChunks()
    var (place, channels, layout): (Int, Int, [UInt8]?) = (12, 0, nil)
    while let name = file.text(at: place), let size = file.number(at: place + 4, 4) {
      if name == "ID3 " { found.tag = found.tag ?? place + 8 }
      if name == "COMM" {
        channels = file.number(at: place + 8, 2) ?? 0
        if file.number(at: place + 16, 2) != nil, file.extended(at: place + 16).map({ $0 > Double(Int32.max) }) ?? true
        {
          found.fault = "its sample rate is not a valid number"
        }
        if file.text(at: 8) == "AIFC", let type = file.text(at: place + 26), !parsed.contains(type) {
          found.uncommonFormat = "AIFF-C with compression \(type)"
        }
      }
      if name == "CHAN", size < 1 << 16 { layout = file.read(place + 8..<place + 8 + size) }
      if let tag = aiffTexts[name], size < 1 << 16, let bytes = file.read(place + 8..<place + 8 + size),
        let text = bytes.annotation
      {
        found.texts.append(NamedTag(name: tag, text: text))
      }
      if let detail = aiffMeanings[name].map({ ContainerDetail(file: $0) }), size > 0, !found.details.contains(detail) {
        found.details.append(detail)
      }
      let isEmpty = size == 0 && name.utf8.allSatisfy { $0 == 0 }
      place = isEmpty ? file.endOfEmptyChunks(at: place) : place + 8 + size + size % 2
    }
    if let layout {
      found.loudspeakers = ChannelLayout.mask(layout[...])
      found.details += [ContainerDetail((found.loudspeakers, channels), "CHAN")].compactMap { $0 }
    }
    return found
  }

  private static let aiffTexts = ["NAME": "TITLE", "AUTH": "ARTIST", "(c) ": "COPYRIGHT", "ANNO": "COMMENT"]
  private static let aiffMeanings = [
    "MARK": "the markers (MARK)", "INST": "the instrument's settings and loops (INST)", "MIDI": "MIDI data (MIDI)",
    "COMT": "the comments (COMT)", "APPL": "an application's data (APPL)", "AESD": "AES channel status (AESD)",
  ]

  /// Returns the end of the audio; nil if not declared, or for compressed audio, because `COMM` may
  /// then count packets.
  private static func aiffEnd(_ file: RandomAccessFile, at place: Int) -> ClockTime? {
    guard let frames = file.number(at: place + 2, 4), frames > 0,
      let rate = file.extended(at: place + 8), rate >= 1
    else { return nil }
    if file.text(at: 8) == "AIFC" {
      guard let type = file.text(at: place + 18), uncompressed.contains(type) else { return nil }
    }
    return ClockTime(seconds: Double(frames) / rate)
  }

  /// Compressions that aiffparse knows (`gst_aiff_parse_parse_comm`).
  private static let parsed: Set = ["NONE", "sowt", "fl32", "FL32", "fl64"]

  private static let uncompressed: Set = [
    "NONE", "twos", "sowt", "raw ", "in24", "in32", "42ni", "23ni", "fl32", "FL32", "fl64", "FL64",
    "alaw", "ALAW", "ulaw", "ULAW",
  ]
}

extension RandomAccessFile {
  /// Reads the 80-bit floating point number at `place` (IEEE 754); nil if the number is negative or
  /// not finite, or extends beyond the file.
  fileprivate func extended(at place: Int) -> Double? {
    guard let exponent = number(at: place, 2), exponent < 0x7FFF,
      let bytes = read(place + 2..<place + 10)
    else { return nil }
    let digits = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Double(sign: .plus, exponent: exponent - 16383 - 63, significand: Double(digits))
  }
}

extension [UInt8] {
  /// Text up to the first NUL, decoded as UTF-8, or as Latin-1 if it is not valid UTF-8; nil for a
  /// blank text.
  var annotation: String? {
    let bytes = prefix { $0 != 0 }
    let text =
      String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    return text.contains { !$0.isWhitespace } ? text : nil
  }
}
