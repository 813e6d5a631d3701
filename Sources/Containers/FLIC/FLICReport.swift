import MediaTime

extension ContainerReport {
  /// True for an FLI or FLC header with a valid frame count, frame size and bit depth.
  static func isFLIC(_ file: RandomAccessFile) -> Bool {
    guard let start = file.read(0..<128), start[5] == 0xAF, [0x11, 0x12].contains(start[4]) else { return false }
    func field(_ place: Int) -> Int { Int(start[place]) | Int(start[place + 1]) << 8 }
    return field(6) > 0 && field(8) > 0 && field(10) > 0 && [0, 1, 8, 15, 16, 24].contains(field(12))
  }

  /// Creates the report of an FLI or FLC file (Autodesk Animator): a header of 128 bytes with the
  /// file size and number of frames, then the frames. An additional frame at the end restores the
  /// first frame for a loop.
  static func flic(_ file: RandomAccessFile) -> ContainerReport? {
    func field(_ place: Int, _ count: Int) -> Int? {
      file.number(at: place, count, isLittleEndian: true)
    }
    guard let size = field(0, 4), let frames = field(6, 2), frames > 0 else { return nil }
    var report = ContainerReport(isCut: size > file.size)
    var (place, count) = (128, 0)
    while count < frames, let size = field(place, 4), let type = field(place + 4, 2), size >= 6 {
      guard place + size <= file.size else {
        report.isCut = true
        break
      }
      if type == 0xF1FA {
        count += 1
        if field(place + 6, 2) == 0 { report.unchangedFrames += 1 }
      }
      place += size
    }
    // If the header declares no file size, a truncation between two frames is visible only in the
    // number of frames.
    if count < frames, place + 6 > file.size { report.isCut = true }
    let changed = frames - report.unchangedFrames
    report.streams = [Stream(kind: .video, frames: changed, end: nil)]
    return report
  }
}
