import Glibc

/// One box of an ISO base media file.
package struct Box {
  package var type: String
  package var body: Range<Int>

  /// How many boxes are read side by side, at the most: a box of nothing takes eight bytes, and six times as much to note.
  fileprivate static let most = 1 << 20

  /// Reads the box header at `offset`; nil if there is none, or the box does not fit before `limit`.
  package init?(_ bytes: ArraySlice<UInt8>, at offset: Int, limit: Int) {
    let start = bytes.startIndex + offset
    guard start + 8 <= bytes.endIndex else { return nil }
    let array = Array(bytes[start..<min(start + 16, bytes.endIndex)])
    var size = array.integer(0)
    var header = 8
    if size == 1, array.count >= 16 {
      guard array.integer(8) < 1 << 30 else { return nil }
      size = array.integer(8) << 32 | array.integer(12)
      header = 16
    }
    if size == 0 { size = limit }
    guard size >= header, size <= limit else { return nil }
    type = array.text(4)
    body = header..<size
  }

  package static func all(in bytes: ArraySlice<UInt8>) -> [Box] {
    var found: [Box] = []
    var offset = 0
    while found.count < Box.most, let box = Box(bytes, at: offset, limit: bytes.count - offset) {
      var placed = box
      let base = bytes.startIndex + offset
      placed.body = base + box.body.lowerBound..<base + box.body.upperBound
      found.append(placed)
      offset += box.body.upperBound
    }
    return found
  }
}

extension [UInt8] {
  package func integer(_ offset: Int) -> Int {
    self[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  /// An unsigned integer of up to eight bytes; what does not fit is the greatest.
  package func number(_ range: Range<Int>) -> Int {
    Int(clamping: self[range].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  package mutating func set(_ value: Int, at offset: Int) {
    let bits = UInt32(truncatingIfNeeded: value)
    for byte in 0..<4 { self[offset + byte] = UInt8(truncatingIfNeeded: bits >> (24 - 8 * UInt32(byte))) }
  }

  /// The body of the box that lies in `range` under each of `path` in turn.
  package func box(_ path: String..., in range: Range<Int>) -> Range<Int>? {
    path.reduce(range) { body, type in
      body.flatMap { body in Box.all(in: self[body]).first { $0.type == type }?.body }
    }
  }

  package func text(_ offset: Int) -> String { String(decoding: self[offset..<offset + 4], as: UTF8.self) }

  /// The timescale in an `mvhd` or `mdhd` box.
  package func timescale(_ body: Range<Int>) -> Int? {
    guard body.count >= 24 else { return nil }
    return integer(body.lowerBound + (self[body.lowerBound] == 1 ? 20 : 12))
  }
}

extension Box {
  /// The header of a box whose body has `size` bytes.
  package static func header(_ type: String, _ size: Int) -> [UInt8] {
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: size + 8).bigEndian, Array.init) + Array(type.utf8)
  }
}

/// A plain file of boxes or elements, to be read or changed where it lies.
package final class MovieFile {
  private let descriptor: Int32
  package let size: Int
  /// `errno` of the last reading that failed although the bytes are in the file.
  package private(set) var readingFailure: Int32?

  /// Opens a plain file; nil where that fails (`errno` says why), and of pipes, which would wait for a writer and take from
  /// what it writes.
  package init?(_ path: String, forWriting: Bool = false) {
    var kind = stat()
    guard stat(path, &kind) == 0, kind.st_mode & S_IFMT == S_IFREG else { return nil }
    let descriptor = open(path, (forWriting ? O_RDWR : O_RDONLY) | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    var info = stat()
    guard fstat(descriptor, &info) == 0 else {
      close(descriptor)
      return nil
    }
    self.descriptor = descriptor
    size = Int(info.st_size)
  }

  deinit { close(descriptor) }

  /// The boxes of the outermost level.
  package var boxes: [Box] {
    var found: [Box] = []
    var offset = 0
    while found.count < Box.most, offset + 8 <= size, let header = read(offset..<min(offset + 16, size)),
      var box = Box(header[...], at: 0, limit: size - offset)
    {
      box.body = offset + box.body.lowerBound..<offset + box.body.upperBound
      found.append(box)
      offset = box.body.upperBound
    }
    return found
  }

  /// nil where that is not all in the file, or can't be read (``readingFailure``).
  package func read(_ range: Range<Int>) -> [UInt8]? {
    guard range.lowerBound >= 0, range.upperBound <= size else { return nil }
    var bytes = [UInt8](repeating: 0, count: range.count)
    let isRead = bytes.withUnsafeMutableBytes { readAll($0, from: descriptor, at: range.lowerBound) }
    guard isRead else {
      readingFailure = errno
      return nil
    }
    return bytes
  }

  /// - Parameter name: what messages call the file.
  /// - Throws: ``RetrogradeError`` of code `inputOutput`, where reading it failed.
  package func checkReading(_ name: String) throws {
    guard let readingFailure else { return }
    throw RetrogradeError(.inputOutput, "\(name): can't be read: \(String(cString: strerror(readingFailure)))")
  }

  /// False where that fails; `errno` says why.
  package func write(_ bytes: [UInt8], at offset: Int) -> Bool {
    bytes.withUnsafeBytes { writeAll($0, to: descriptor, at: offset) }
  }

  /// What it means that a file which was made could not be read or changed, by `errno`.
  /// - Parameter name: what messages call it.
  package static func failure(_ name: String) -> RetrogradeError {
    RetrogradeError(.inputOutput, "\(name): can't be finished: \(String(cString: strerror(errno)))")
  }
}
