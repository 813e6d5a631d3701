import Glibc
import RetrogradeEngine
import MediaTime

/// Puts into a finished MP4 or MOV file what GStreamer 1.22's qtmux knows but does not write: which way up the picture is
/// (`tkhd`'s matrix), and that the sound's first samples are the encoder's priming, not to be heard (`elst`). Both have
/// their place in the file already; only their values change. Source: ISO/IEC 14496-12, 8.3.2 and 8.6.6.
package struct MovieHeader {
  /// GST_TAG_IMAGE_ORIENTATION of the video; nil to leave it as it is.
  var orientation: String?
  /// How long the video is shown, from its first frame's start to its last one's end. qtmux adds up the intervals between
  /// decoding times instead, which can end before the last frame begins, and then players leave that frame out.
  var pictureDuration: ClockTime?
  /// Of each audio track, in order: the sample frames of priming, those to be heard, and their rate.
  var sounds: [(priming: Int, heard: Int, rate: Int)]

  package init(
    orientation: String?, pictureDuration: ClockTime? = nil, sounds: [(priming: Int, heard: Int, rate: Int)] = []
  ) {
    self.orientation = orientation
    self.pictureDuration = pictureDuration
    self.sounds = sounds
  }

  /// - Throws: ``RetrogradeError`` of code `inputOutput`.
  package func apply(to path: String) throws {
    let file = open(path, O_RDWR | O_CLOEXEC)
    guard file >= 0 else { throw failure(path) }
    defer { close(file) }
    var info = stat()
    guard fstat(file, &info) == 0 else { throw failure(path) }
    guard let movie = try boxes(file, 0..<Int(info.st_size), path).first(where: { $0.type == "moov" }) else { return }
    // The header is small even for hours of media: sample tables take 16 bytes or so a frame.
    var bytes = [UInt8](repeating: 0, count: movie.body.count)
    guard pread(file, &bytes, bytes.count, off_t(movie.body.lowerBound)) == bytes.count else { throw failure(path) }
    change(&bytes)
    guard pwrite(file, bytes, bytes.count, off_t(movie.body.lowerBound)) == bytes.count else { throw failure(path) }
  }

  private func failure(_ path: String) -> RetrogradeError {
    RetrogradeError(.inputOutput, "\(path): can't be finished: \(String(cString: strerror(errno)))")
  }

  /// The top-level boxes.
  private func boxes(_ file: Int32, _ range: Range<Int>, _ path: String) throws -> [(type: String, body: Range<Int>)] {
    var found: [(type: String, body: Range<Int>)] = []
    var offset = range.lowerBound
    while offset + 8 <= range.upperBound {
      var header = [UInt8](repeating: 0, count: 16)
      guard pread(file, &header, 16, off_t(offset)) >= 8 else { throw failure(path) }
      guard let box = Box(header[...], at: 0, limit: range.upperBound - offset) else { break }
      found.append((box.type, offset + box.body.lowerBound..<offset + box.body.upperBound))
      offset += box.body.upperBound
    }
    return found
  }

  /// Changes the movie's header in place.
  /// - Parameter movie: the body of the `moov` box.
  func change(_ movie: inout [UInt8]) {
    let parts = Box.all(in: movie[...])
    guard let timescale = parts.first(where: { $0.type == "mvhd" }).flatMap({ movie.timescale($0.body) }) else {
      return
    }
    var sounds = sounds[...]
    for track in parts where track.type == "trak" {
      let inner = Box.all(in: movie[track.body])
      guard let media = inner.first(where: { $0.type == "mdia" }) else { continue }
      let described = Box.all(in: movie[media.body])
      guard let handler = described.first(where: { $0.type == "hdlr" }), handler.body.count >= 12 else { continue }
      switch movie.text(handler.body.lowerBound + 8) {
      case "vide":
        if let header = inner.first(where: { $0.type == "tkhd" }) { turn(&movie, header.body) }
        if let edit = edit(movie, inner), let pictureDuration {
          // Rounded up: the last frame is to begin before the edit ends.
          movie.set(Int((pictureDuration.seconds * Double(timescale)).rounded(.up)), at: edit)
        }
      case "soun":
        guard let sound = sounds.popFirst(), sound.priming > 0, sound.rate > 0, let edit = edit(movie, inner),
          let mediaHeader = described.first(where: { $0.type == "mdhd" }),
          let mediaTimescale = movie.timescale(mediaHeader.body)
        else { continue }
        // The edit starts after the priming, and ends with the last sample.
        movie.set((sound.heard * timescale + sound.rate / 2) / sound.rate, at: edit)
        movie.set(movie.integer(edit + 4) + sound.priming * mediaTimescale / sound.rate, at: edit + 4)
      default: break
      }
    }
  }

  /// Where the entry of a track's edit list lies that plays the track: its duration, then its start in the media. The
  /// entry before it, if any, is an empty edit: the track starts late.
  private func edit(_ movie: [UInt8], _ track: [Box]) -> Int? {
    guard let edits = track.first(where: { $0.type == "edts" }),
      let list = Box.all(in: movie[edits.body]).first(where: { $0.type == "elst" })?.body,
      list.count >= 20, movie[list.lowerBound] == 0
    else { return nil }
    return stride(from: list.lowerBound + 8, through: list.upperBound - 12, by: 12)
      .first { movie.integer($0 + 4) != 0xFFFF_FFFF }
  }

  /// The turned axes, as a matrix (a, b, c, d) of 1, 0 and -1.
  private static let matrices: [String: [Int]] = [
    "rotate-90": [0, 1, -1, 0], "rotate-180": [-1, 0, 0, -1], "rotate-270": [0, -1, 1, 0],
    "flip-rotate-0": [-1, 0, 0, 1], "flip-rotate-90": [0, -1, -1, 0], "flip-rotate-180": [1, 0, 0, -1],
    "flip-rotate-270": [0, 1, 1, 0],
  ]

  private func turn(_ movie: inout [UInt8], _ header: Range<Int>) {
    guard let orientation, let axes = MovieHeader.matrices[orientation] else { return }
    // Version 1 has 64-bit times: 12 bytes more before the matrix.
    let matrix = header.lowerBound + (movie[header.lowerBound] == 1 ? 52 : 40)
    guard matrix + 44 <= header.upperBound else { return }
    let width = movie.integer(matrix + 36)
    let height = movie.integer(matrix + 40)
    // The turned picture is moved back to where its corner was.
    let x = (axes[0] < 0 ? width : 0) + (axes[2] < 0 ? height : 0)
    let y = (axes[1] < 0 ? width : 0) + (axes[3] < 0 ? height : 0)
    let values = [axes[0] << 16, axes[1] << 16, 0, axes[2] << 16, axes[3] << 16, 0, x, y, 1 << 30]
    for (index, value) in values.enumerated() { movie.set(value, at: matrix + 4 * index) }
  }
}

/// One box of an ISO base media file.
private struct Box {
  var type: String
  var body: Range<Int>

  /// Reads the box header at `offset`; nil if there is none, or the box does not fit before `limit`.
  init?(_ bytes: ArraySlice<UInt8>, at offset: Int, limit: Int) {
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

  static func all(in bytes: ArraySlice<UInt8>) -> [Box] {
    var found: [Box] = []
    var offset = 0
    while let box = Box(bytes, at: offset, limit: bytes.count - offset) {
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
  fileprivate func integer(_ offset: Int) -> Int {
    self[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  fileprivate mutating func set(_ value: Int, at offset: Int) {
    let bits = UInt32(truncatingIfNeeded: value)
    for byte in 0..<4 { self[offset + byte] = UInt8(truncatingIfNeeded: bits >> (24 - 8 * UInt32(byte))) }
  }

  fileprivate func text(_ offset: Int) -> String { String(decoding: self[offset..<offset + 4], as: UTF8.self) }

  /// The timescale in an `mvhd` or `mdhd` box.
  fileprivate func timescale(_ body: Range<Int>) -> Int? {
    guard body.count >= 24 else { return nil }
    return integer(body.lowerBound + (self[body.lowerBound] == 1 ? 20 : 12))
  }
}
