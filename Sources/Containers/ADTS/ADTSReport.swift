extension ContainerReport {
  /// Creates the report of an AAC file in ADTS (ISO/IEC 13818-7, 6.2).
  static func adts(_ file: RandomAccessFile, _ start: Int) -> ContainerReport? {
    func size(at place: Int) -> Int? {
      guard let bytes = file.read(place..<place + 7), bytes[0] == 0xFF, bytes[1] & 0xF6 == 0xF0 else { return nil }
      let size = Int(bytes[3] & 3) << 11 | Int(bytes[4]) << 3 | Int(bytes[5] >> 5)
      return size >= 7 ? size : nil
    }
    guard size(at: start) != nil else { return nil }
    return audio(end: nil, walk(file, from: start, size))
  }
}
