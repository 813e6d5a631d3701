import MediaTime

/// Reports of audio files without a container.
extension ContainerReport {
  static func audio(_ file: RandomAccessFile) -> ContainerReport? {
    let place = ID3Tag.end(in: file)
    return mp3(file, place) ?? adts(file, place) ?? ac3(file, place) ?? wavPack(file, from: place) ?? tta(
      file, from: place) ?? voc(file)
  }

  /// Creates the report of an audio stream.
  /// - Parameter walk: result of ``walk(_:from:_:)``.
  static func audio(
    end: ClockTime?, _ walk: (isCut: Bool, brokenAt: Int?) = (false, nil), slack: ClockTime? = nil
  ) -> ContainerReport {
    var report = ContainerReport(
      isCut: walk.isCut, end: end, streams: [Stream(kind: .audio, frames: nil, end: end)], slack: slack,
      countsSamples: true)
    report.brokenAt = walk.brokenAt
    return report
  }

  /// Walks from frame to frame through a file. Bytes after the last frame, such as tags and
  /// padding, are not damage.
  /// - Parameter size: returns the size of the frame at an offset; nil if no frame starts there.
  /// - Returns: `isCut` is true if the file ends within a frame. `brokenAt` is the offset of damage
  ///   between two frames; nil without damage.
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
