import MediaTime

extension ContainerReport {
  /// Creates the report of an IVF file: a header that may declare the length, then the frames. A
  /// size and a timestamp precede each frame.
  ///
  /// There is no specification; libvpx (`ivfenc.c`, `ivfdec.c`) is the reference. As the length,
  /// libvpx and libaom write the number of frames, but FFmpeg writes the duration in ticks.
  static func ivf(_ file: RandomAccessFile) -> ContainerReport? {
    func field(_ place: Int, _ count: Int) -> Int? {
      file.number(at: place, count, isLittleEndian: true)
    }
    guard let headerSize = field(6, 2), headerSize >= 32, let rate = field(16, 4),
      let scale = field(20, 4), let declared = field(24, 4)
    else { return nil }
    var report = ContainerReport()
    let frames = IVFFrames(file, from: headerSize)
    report.isCut = frames.isCut
    report.streams = [Stream(kind: .video, frames: nil, end: nil)]
    // A length of 0 or 0xFFFFFFFF is unset: the writer could not seek back to set it.
    guard declared > frames.count, declared < 0xFFFF_FFFF, frames.count > 0 else { return report }
    if declared < frames.duration {
      // A declared length below the actual duration cannot be a duration, so it is a number of
      // frames.
      report.streams[0].frames = declared
      report.isCut = true
    } else if declared - frames.longest > frames.duration || frames.isCut {
      report.isCut = true
      // If a frame starts on every tick, the declared length is the number of frames in either
      // meaning.
      if frames.isRegular { report.streams[0].frames = declared }
      if rate > 0, scale > 0 {
        let ticks = Double(frames.first) + Double(declared)
        report.end = ClockTime(seconds: ticks * Double(scale) / Double(rate))
      }
    }
    return report
  }
}

extension ContainerReport {
  /// Returns ``ContainerFacts/fault`` if ivfparse would read a negative frame rate; nil for other
  /// files.
  static func ivfFault(_ file: RandomAccessFile) -> String? {
    guard let rate = file.number(at: 16, 4, isLittleEndian: true),
      let scale = file.number(at: 20, 4, isLittleEndian: true), max(rate, scale) > Int32.max
    else { return nil }
    return "it declares \(rate)/\(scale) frames per second"
  }
}

/// Frames of an IVF file, read from the frame headers. All times are in ticks.
private struct IVFFrames {
  private(set) var count = 0
  /// Timestamp of the first frame.
  private(set) var first = 0
  /// Difference between the first and the largest timestamp.
  private(set) var duration = 0
  /// Longest time between consecutive frames.
  private(set) var longest = 0
  /// True if a frame starts on every tick.
  private(set) var isRegular = true
  /// True if the file ends within a frame.
  private(set) var isCut = false

  init(_ file: RandomAccessFile, from start: Int) {
    var place = start
    var last: Int?
    while place < file.size {
      guard let header = file.read(place..<place + 12),
        header.littleEndian(0) <= file.size - place - 12
      else {
        isCut = true
        break
      }
      let time = header.littleEndian(4) | header.littleEndian(8) << 32
      if let last {
        let step = time.subtractingReportingOverflow(last)
        guard !step.overflow else { break }
        longest = max(longest, step.partialValue)
        isRegular = isRegular && step.partialValue == 1
      } else {
        first = time
      }
      let length = time.subtractingReportingOverflow(first)
      duration = max(duration, length.overflow ? 0 : length.partialValue)
      last = time
      count += 1
      place += 12 + header.littleEndian(0)
    }
  }
}
