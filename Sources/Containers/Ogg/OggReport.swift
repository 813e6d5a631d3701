/// Ogg (RFC 3533).
extension ContainerReport {
  /// The last page of each stream is marked (RFC 3533, 6).
  static func ogg(_ file: RandomAccessFile) -> ContainerReport? {
    var declared = ContainerReport()
    var open: Set<Int> = []
    var isLast = false
    var hasEnded = false
    var place = 0
    while place < file.size, let head = file.read(place..<min(place + 27, file.size)), head.count >= 4,
      head.text(0) == "OggS"
    {
      guard head.count == 27, let segments = file.read(place + 27..<place + 27 + Int(head[26])) else {
        declared.isCut = true
        return declared
      }
      let serial = head.integer(14)
      // A file begins anew where streams begin after all before have ended.
      if head[5] & 2 != 0, hasEnded, open.isEmpty {
        declared.links += 1
        hasEnded = false
      }
      isLast = head[5] & 4 != 0
      if isLast { hasEnded = true }
      if isLast { open.remove(serial) } else { open.insert(serial) }
      place += 27 + segments.count + segments.reduce(0) { $0 + Int($1) }
    }
    if place < file.size, !open.isEmpty, follows(place, in: file) { declared.brokenAt = place }
    // Some writers mark only the last page of all.
    declared.isCut = place > file.size || !isLast && !open.isEmpty && place == file.size
    return declared
  }

  /// Whether another page begins behind `place`, within what a page can be long (6).
  private static func follows(_ place: Int, in file: RandomAccessFile) -> Bool {
    (place..<min(place + 1 << 17, file.size)).contains { file.text(at: $0) == "OggS" }
  }
}
