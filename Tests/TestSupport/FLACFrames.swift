/// Returns the frames of a FLAC file, without the metadata before them (RFC 9639, 8).
package func flacFrames(_ file: [UInt8]) -> ArraySlice<UInt8> {
  var place = 4
  while place + 4 <= file.count {
    let isLast = file[place] & 0x80 != 0
    place += 4 + file[place + 1..<place + 4].reduce(0) { $0 << 8 | Int($1) }
    if isLast { break }
  }
  return file[min(place, file.count)...]
}
