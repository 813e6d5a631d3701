import MediaTime

/// Files of audio that is in no container.
extension Declared {
  static func audio(_ file: MovieFile) -> Declared? {
    var place = 0
    while let tag = file.read(place..<place + 10), tag.starts(with: "ID3".utf8) {
      // Four times seven bits (ID3v2.4, 3.1).
      place += 10 + tag[6..<10].reduce(0) { $0 << 7 | Int($1 & 0x7F) }
    }
    if file.text(at: place) == "fLaC" { return flac(file, place + 4) }
    return mp3(file, place) ?? adts(file, place)
  }

  /// STREAMINFO (RFC 9639, 8.2) counts all samples.
  private static func flac(_ file: MovieFile, _ place: Int) -> Declared? {
    guard let bytes = file.read(place + 4..<place + 22) else { return nil }
    let rate = bytes.number(10..<14) >> 12
    let total = bytes.number(13..<18) & 0xF_FFFF_FFFF
    guard rate > 0, total > 0 else { return nil }
    return audio(end: ClockTime(seconds: Double(total) / Double(rate)), slack: ClockTime(nanoseconds: 1_000_000))
  }

  private static func audio(end: ClockTime?, isCut: Bool = false, slack: ClockTime? = nil) -> Declared {
    Declared(
      isCut: isCut, end: end, streams: [Stream(kind: .audio, frames: nil, end: end)], slack: slack, countsSamples: true)
  }

  private static func mp3(_ file: MovieFile, _ start: Int) -> Declared? {
    guard let first = file.read(start..<start + 4), InfoFrame.size(first) != nil else { return nil }
    let isCut = ends(file, from: start) { file.read($0..<$0 + 4).flatMap(InfoFrame.size) }
    guard let info = InfoFrame(file), let frames = info.frames else { return audio(end: nil, isCut: isCut) }
    let whole = ClockTime(sampleIndex: frames * info.samplesPerFrame, rate: info.rate)
    // Whether the frame that says so is counted is not agreed upon, nor what the decoder puts before the first.
    let slack = ClockTime(sampleIndex: 3 * info.samplesPerFrame, rate: info.rate)
    return audio(end: info.trim?.duration ?? whole, isCut: isCut, slack: slack)
  }

  /// AAC in ADTS (ISO/IEC 13818-7, 6.2).
  private static func adts(_ file: MovieFile, _ start: Int) -> Declared? {
    func size(at place: Int) -> Int? {
      guard let bytes = file.read(place..<place + 7), bytes[0] == 0xFF, bytes[1] & 0xF6 == 0xF0 else { return nil }
      let size = Int(bytes[3] & 3) << 11 | Int(bytes[4]) << 3 | Int(bytes[5] >> 5)
      return size >= 7 ? size : nil
    }
    guard size(at: start) != nil else { return nil }
    return audio(end: nil, isCut: ends(file, from: start, size))
  }

  /// Whether the file ends within a frame.
  private static func ends(_ file: MovieFile, from start: Int, _ size: (Int) -> Int?) -> Bool {
    var place = start
    while let size = size(place) {
      place += size
      if place > file.size { return true }
    }
    return false
  }
}
