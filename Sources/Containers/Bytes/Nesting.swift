/// Detects MP4 boxes and EBML elements that are nested too deeply. Demuxers read both recursively,
/// so tens of thousands of levels overflow the stack of the demuxer's thread.
enum Nesting {
  /// Maximum number of levels; more than any file needs.
  private static let deepest = 1000

  /// ``ContainerFacts/fault`` of a file that exceeds the limit.
  static let fault = "its header is nested more than 1,000 levels deep"

  /// True if MP4 boxes or EBML elements have more than ``deepest`` levels. Takes linear time.
  /// - Parameters:
  ///   - count: number of bytes to check.
  ///   - header: returns the header size and total size of the box or EBML element at a position;
  ///     nil if none starts there.
  static func isTooDeep(_ count: Int, _ header: (Int) -> (header: Int, whole: Int)?) -> Bool {
    /// Ends of the boxes or EBML elements that contain `place`, outermost first.
    var ends: [Int] = []
    var place = 0
    while true {
      let limit = ends.last ?? count
      guard place < limit, let found = header(place), found.whole <= limit - place else {
        // The innermost box or EBML element contains nothing more.
        guard let end = ends.popLast() else { return false }
        place = end
        continue
      }
      if found.whole == found.header {
        place += found.whole
      } else {
        ends.append(place + found.whole)
        place += found.header
        if ends.count > deepest { return true }
      }
    }
  }

  /// True if boxes in `bytes` are nested too deeply (ISO/IEC 14496-12, 4.2).
  static func isTooDeep(boxes bytes: [UInt8]) -> Bool {
    isTooDeep(bytes.count) { place in
      guard place + 8 <= bytes.count, case let size = bytes.integer(place), size >= 8 else { return nil }
      return (8, size)
    }
  }

  /// True if EBML elements in `bytes` are nested too deeply (RFC 8794).
  static func isTooDeep(elements bytes: [UInt8]) -> Bool {
    isTooDeep(bytes.count) { place in
      EBMLElement.header(in: bytes[place..<min(place + 12, bytes.count)]).map { ($0.size, $0.size + $0.length) }
    }
  }
}

extension MP4Index {
  /// True if the boxes of the index are nested too deeply.
  var isTooDeep: Bool { Nesting.isTooDeep(boxes: bytes) }
}

extension RandomAccessFile {
  /// Size limit in bytes. Larger chapters are not checked, because only damaged files have them.
  private static let largestChapters = 1 << 26

  /// True if the chapters of a Matroska file are nested too deeply. Only chapters are checked,
  /// because matroskademux reads nothing else recursively.
  func hasTooDeepChapters(in segment: Range<Int>) -> Bool {
    let first = elements(in: segment, upTo: MatroskaID.cluster).filter { $0.id == MatroskaID.chapters }.map(\.body)
    return (first + [listedElement(MatroskaID.chapters, in: segment)].compactMap { $0 }).contains { body in
      body.count < Self.largestChapters && read(body).map { Nesting.isTooDeep(elements: $0) } ?? false
    }
  }
}
