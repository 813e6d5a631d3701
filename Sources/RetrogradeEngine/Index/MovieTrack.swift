/// What MP4 and MOV say of a track and GStreamer 1.22's qtdemux passes over.
package struct MovieTrack {
  package let kind: StreamKind
  /// GST_TAG_IMAGE_ORIENTATION; nil where the track's matrix is none of the eight, or says nothing.
  package let orientation: String?
  package let disposition: Disposition

  /// The tracks of a file, in order, without those that only hold the names of chapters; none where it is no such file.
  package static func all(_ path: String) -> [MovieTrack] {
    guard let file = MovieFile(path), let movie = file.boxes.first(where: { $0.type == "moov" }),
      movie.body.count < 1 << 28, let bytes = file.read(movie.body)
    else { return [] }
    let tracks = Box.all(in: bytes[...]).filter { $0.type == "trak" }.map(\.body)
    let lists = tracks.compactMap { bytes.box("tref", "chap", in: $0) }
    let chapters = Set(
      lists.flatMap { list in
        stride(from: list.lowerBound, through: list.upperBound - 4, by: 4).map { bytes.integer($0) }
      })
    return tracks.compactMap { track in
      guard let header = bytes.box("tkhd", in: track), let identifier = identifier(in: header, of: bytes),
        !chapters.contains(identifier)
      else { return nil }
      return MovieTrack(
        kind: bytes.box("mdia", "hdlr", in: track).map { kind(ofHandler: $0, of: bytes) } ?? .other,
        orientation: MovieMatrix.orientation(in: header, of: bytes),
        disposition: Disposition(isDefault: isEnabled(header, of: bytes)))
    }
  }

  /// - Parameter handler: the body of an `hdlr` box (ISO/IEC 14496-12, 8.4.3).
  package static func kind(ofHandler handler: Range<Int>, of bytes: [UInt8]) -> StreamKind {
    guard handler.count >= 12 else { return .other }
    return switch bytes.text(handler.lowerBound + 8) {
    case "vide": .video
    case "soun": .audio
    case "text", "sbtl", "subt", "subp": .subtitles
    default: .other
    }
  }

  /// - Parameter header: the body of a `tkhd` box, as in what follows.
  static func identifier(in header: Range<Int>, of bytes: [UInt8]) -> Int? {
    guard header.count >= 24 else { return nil }
    return bytes.integer(header.lowerBound + (bytes[header.lowerBound] == 1 ? 20 : 12))
  }

  private static func isEnabled(_ header: Range<Int>, of bytes: [UInt8]) -> Bool {
    bytes[header.lowerBound + 3] & 1 == 1
  }
}
