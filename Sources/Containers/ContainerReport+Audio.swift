import MediaTime

/// Files of audio that is in no container.
extension ContainerReport {
  static func audio(_ file: RandomAccessFile) -> ContainerReport? {
    let place = ID3Tag.end(in: file)
    return mp3(file, place) ?? adts(file, place) ?? ac3(file, place) ?? wavPack(file, from: place) ?? tta(
      file, from: place) ?? voc(file)
  }

  /// - Parameter walk: result of going from frame to frame.
  static func audio(
    end: ClockTime?, _ walk: (isCut: Bool, brokenAt: Int?) = (false, nil), slack: ClockTime? = nil
  ) -> ContainerReport {
    var report = ContainerReport(
      isCut: walk.isCut, end: end, streams: [Stream(kind: .audio, frames: nil, end: end)], slack: slack,
      countsSamples: true)
    report.brokenAt = walk.brokenAt
    return report
  }

  /// Goes from frame to frame: returns whether the file ends within one, and the place where there is none
  /// though others follow. Bytes after the last one, tags and padding, are no loss.
  static func walk(
    _ file: RandomAccessFile, from start: Int, _ size: (Int) -> Int?
  ) -> (isCut: Bool, brokenAt: Int?) {
    var place = start
    while let size = size(place) {
      place += size
      if place > file.size { return (true, nil) }
    }
    let near = place..<max(place, min(place + 1 << 16, file.size))
    let follows = near.contains { next in size(next).map { size(next + $0) != nil } ?? false }
    return (false, follows ? place : nil)
  }
}
