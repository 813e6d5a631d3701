extension ContainerReport {
  /// Returns the report of a Creative Voice file: a header, which declares its own size, and then
  /// blocks, each of which declares its size in three bytes. A block of type 0, if present, ends
  /// the file.
  static func voc(_ file: RandomAccessFile) -> ContainerReport? {
    func begins(at place: Int) -> Bool {
      file.read(place..<place + 20).map { $0.elementsEqual("Creative Voice File\u{1A}".utf8) } ?? false
    }
    guard begins(at: 0),
      var place = file.number(at: 20, 2, isLittleEndian: true)
    else { return nil }
    while let type = file.number(at: place, 1), type != 0 {
      guard let size = file.number(at: place + 1, 3, isLittleEndian: true), place + 4 + size <= file.size else {
        return audio(end: nil, (true, nil))
      }
      place += 4 + size
    }
    var report = audio(end: nil)
    if begins(at: place + 1) { report.noteFile(at: place + 1) }
    return report
  }
}
