import MediaTime

/// Files of audio that is in no container.
extension ContainerReport {
  static func audio(_ file: RandomAccessFile) -> ContainerReport? {
    let place = ID3Tag.end(in: file)
    if file.text(at: place) == "fLaC" { return flac(file, place + 4) }
    return mp3(file, place) ?? adts(file, place)
  }

  static func audio(end: ClockTime?, isCut: Bool = false, slack: ClockTime? = nil) -> ContainerReport {
    ContainerReport(
      isCut: isCut, end: end, streams: [Stream(kind: .audio, frames: nil, end: end)], slack: slack, countsSamples: true)
  }

  /// Whether the file ends within a frame.
  static func ends(_ file: RandomAccessFile, from start: Int, _ size: (Int) -> Int?) -> Bool {
    var place = start
    while let size = size(place) {
      place += size
      if place > file.size { return true }
    }
    return false
  }
}
