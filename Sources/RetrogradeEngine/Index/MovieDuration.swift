import GStreamer

/// How long MP4's and MOV's header says that the whole takes, as GStreamer 1.22's qtdemux must hear it.
///
/// It ends a stream of sound where the time of a packet in its media, of which the encoder's priming is a part, passes the
/// duration of the whole, and not where its time in the presentation does (`time_position` and `segment.stop` in
/// `gst_qtdemux_loop_state_movie`). So the last packet is lost of sound that lasts as long as the file, as it does in
/// every .m4a.
struct MovieDuration {
  /// Where it stands in the file (ISO/IEC 14496-12, 8.2.2).
  private let place: Range<Int>
  private let bytes: [UInt8]

  /// - Returns: nil where nothing has to be changed.
  init?(_ path: String) {
    guard let file = MovieFile(path), let movie = file.boxes.first(where: { $0.type == "moov" }),
      movie.body.count < 1 << 28, let header = file.read(movie.body),
      let overall = header.box("mvhd", in: 0..<header.count), let timescale = header.timescale(overall),
      (1..<1 << 31).contains(timescale)
    else { return nil }
    let isWide = header[overall.lowerBound] == 1
    let field = overall.lowerBound + (isWide ? 24 : 16)..<overall.lowerBound + (isWide ? 32 : 20)
    guard field.upperBound <= overall.upperBound else { return nil }
    let duration = header.number(field)
    // It may be unknown, as it is while a file is still being written.
    let most = isWide ? 1 << 48 : 0xFFFF_FFFF
    guard duration > 0, duration < most else { return nil }
    let ends = Box.all(in: header[...]).filter { $0.type == "trak" }.compactMap { track in
      MovieDuration.end(of: track.body, in: header, timescale)
    }
    guard let end = ends.max(), end > duration, end < most else { return nil }
    place = movie.body.lowerBound + field.lowerBound..<movie.body.lowerBound + field.upperBound
    bytes = Array(withUnsafeBytes(of: UInt64(end).bigEndian, Array.init).suffix(field.count))
  }

  /// Where the sound of a track ends in its media, at the movie's timescale; nil where it is no sound.
  private static func end(of track: Range<Int>, in header: [UInt8], _ timescale: Int) -> Int? {
    guard let handler = header.box("mdia", "hdlr", in: track),
      MovieTrack.kind(ofHandler: handler, of: header) == .audio,
      let media = header.box("mdia", "mdhd", in: track), let mediaTimescale = header.timescale(media),
      mediaTimescale > 0, let list = header.box("edts", "elst", in: track), list.count >= 8
    else { return nil }
    let width = header[list.lowerBound] == 1 ? 8 : 4
    var end = 0
    for entry in stride(from: list.lowerBound + 8, through: list.upperBound - 2 * width - 4, by: 2 * width + 4) {
      let start = header.number(entry + width..<entry + 2 * width)
      let duration = header.number(entry..<entry + width)
      guard duration < 1 << 48, end < 1 << 48 else { return nil }
      end += duration
      // An empty edit has -1 there.
      if start < 1 << 31 { end += (start * timescale + mediaTimescale - 1) / mediaTimescale }
    }
    return end
  }

  /// Has the header say so when it is read.
  func apply(to pipeline: Pipeline) {
    pipeline.element("source")?.staticPad("src")?.onBuffer { buffer in
      guard let offset = buffer.offset, offset <= place.lowerBound, place.upperBound <= offset + buffer.size else {
        return nil
      }
      let copy = buffer.deepCopy()
      let written: Void? = try? copy.withMutableBytes {
        $0[(place.lowerBound - offset)..<(place.upperBound - offset)].copyBytes(from: bytes)
      }
      return written.map { copy }
    }
  }
}
