extension ContainerReport {
  /// Creative Voice: a header that says its own size, and blocks of which each says its size in three bytes. A block of
  /// type 0 ends the file, where there is one.
  static func voc(_ file: RandomAccessFile) -> ContainerReport? {
    guard file.read(0..<20).map({ $0.elementsEqual("Creative Voice File\u{1A}".utf8) }) ?? false,
      var place = file.number(at: 20, 2, isLittleEndian: true)
    else { return nil }
    while let type = file.number(at: place, 1), type != 0 {
      guard let size = file.number(at: place + 1, 3, isLittleEndian: true), place + 4 + size <= file.size else {
        return audio(end: nil, (true, nil))
      }
      place += 4 + size
    }
    return audio(end: nil)
  }
}
