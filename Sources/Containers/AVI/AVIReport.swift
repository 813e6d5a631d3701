import MediaTime

/// AVI ("AVI RIFF File Reference", Microsoft).
extension ContainerReport {
  static func avi(_ file: RandomAccessFile) -> ContainerReport? {
    // Audio of a variable rate is counted in many ways.
    var declared = ContainerReport(slack: ClockTime(seconds: 2))
    var place = 0
    // Beyond the first GiB there is one after the other (OpenDML).
    while file.text(at: place) == "RIFF", let size = file.number(at: place + 4, 4, isLittleEndian: true) {
      if place > 0, file.text(at: place + 8) == "AVI " {
        declared.noteFile(at: place)
        break
      }
      // A recording that was not finished has none.
      guard size > 0, size < 0xFFFF_FFFF else { break }
      if size > file.size - place - 8 { declared.isCut = true }
      place += 8 + size + size % 2
    }
    guard file.text(at: 12) == "LIST", file.text(at: 20) == "hdrl",
      let size = file.number(at: 16, 4, isLittleEndian: true), (4..<1 << 24).contains(size)
    else { return declared }
    let lists = file.chunks(in: 24..<20 + size).filter { $0.name == "LIST" }
    let total = lists.first { file.text(at: $0.body.lowerBound) == "odml" }.flatMap {
      file.number(at: $0.body.lowerBound + 12, 4, isLittleEndian: true)
    }
    for list in file.aviStreams {
      guard let header = file.chunks(in: list).first, header.name == "strh",
        let kind = file.text(at: header.body.lowerBound), ["vids", "auds"].contains(kind)
      else { continue }
      func field(_ offset: Int) -> Int? { file.number(at: header.body.lowerBound + offset, 4, isLittleEndian: true) }
      guard let scale = field(20), let rate = field(24), let start = field(28), var length = field(32), rate > 0,
        scale > 0
      else { continue }
      if kind == "vids" { length = max(length, total ?? 0) }
      if length == 0 { continue }
      let end = Double(start + length) * Double(scale) / Double(rate)
      declared.streams.append(
        Stream(
          kind: kind == "vids" ? .video : .audio, frames: kind == "vids" ? length : nil, end: ClockTime(seconds: end)))
    }
    return declared
  }
}
