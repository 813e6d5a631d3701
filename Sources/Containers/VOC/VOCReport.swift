extension ContainerReport {
  /// Returns the report of a Creative Voice file: a header, which declares its own size, and then
  /// blocks, each of which declares its type and, in three bytes, its size. A block of type 0, if
  /// present, ends the file.
  static func voc(_ file: RandomAccessFile) -> ContainerReport? {
    func begins(at place: Int) -> Bool {
      file.read(place..<place + 20).map { $0.elementsEqual("Creative Voice File\u{1A}".utf8) } ?? false
    }
    guard begins(at: 0),
      var place = file.number(at: 20, 2, isLittleEndian: true)
    else { return nil }
    while let type = file.number(at: place, 1), type != 0 {
      if type > vocLastType { return audio(end: nil, (false, place)) }
      guard let size = file.number(at: place + 1, 3, isLittleEndian: true), place + 4 + size <= file.size else {
        return audio(end: nil, (true, nil))
      }
      place += 4 + size
    }
    if begins(at: place + 1) {
      var report = audio(end: nil)
      report.noteFile(at: place + 1)
      return report
    }
    // Decoders take a zero in the middle of the file for the block that ends the file, and stop.
    return audio(end: nil, (false, isVOCPadding(file, from: place + 1) ? nil : place))
  }

  /// Highest block type that the format defines.
  private static let vocLastType = 9

  /// True if the file ends at `place`, or with the padding of old transfer protocols: less than
  /// 1,024 equal bytes.
  private static func isVOCPadding(_ file: RandomAccessFile, from place: Int) -> Bool {
    guard place < file.size else { return true }
    guard file.size - place < 1024, let rest = file.read(place..<file.size) else { return false }
    return rest.allSatisfy { $0 == rest[0] }
  }
}
