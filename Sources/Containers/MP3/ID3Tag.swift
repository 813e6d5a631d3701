/// The tags before the first frame of an MP3 file (ID3v2.4).
enum ID3Tag {
  /// Where the audio begins behind them.
  static func end(in file: RandomAccessFile) -> Int {
    var place = 0
    while let header = file.read(place..<place + 10), header.starts(with: "ID3".utf8) {
      place += 10 + safe(header[6..<10])
    }
    return place
  }

  /// How many chapters there are in the first, which id3demux does not tell (`Quirk.id3demuxChapters`; "ID3v2 Chapter Frame Addendum").
  static func chapterCount(in file: RandomAccessFile) -> Int {
    guard let header = file.read(0..<10), header.starts(with: "ID3".utf8) else { return 0 }
    let hasSafeSizes = header[3] >= 4
    let end = min(10 + safe(header[6..<10]), file.size)
    var place = 10
    var count = 0
    // A frame is a name, a size and flags, ten bytes in all (ID3v2.4, 4); names of four letters since 2.3.
    while header[3] >= 3, place + 10 <= end, let frame = file.read(place..<place + 10), frame[0] != 0 {
      if frame.starts(with: "CHAP".utf8) { count += 1 }
      place += 10 + (hasSafeSizes ? safe(frame[4..<8]) : frame.number(4..<8))
    }
    return count
  }

  /// A number of seven bits a byte (ID3v2.4, 6.2).
  private static func safe(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 7 | Int($1 & 0x7F) } }
}
