package import MediaTime

/// Header fields that qtmux leaves at default values in a finished MP4 or MOV file: the rotation of
/// the video (matrix in `tkhd`, `Quirk.qtmuxOrientation`), the default track of each kind (flags in
/// `tkhd`, `Quirk.qtmuxTrackFlags`), and the priming of the audio (`elst`,
/// `Quirk.qtmuxAudioPriming`).
///
/// All of these fields exist in the file, so only their values change. Chapters, titles and tags
/// are added, which needs a header at the end of the file.
///
/// The movie and its tracks (`mvhd`, `tkhd`) keep the durations of the media. With the durations of
/// the edits, qtdemux would drop the last packet, as it does in files from FFmpeg
/// (`Quirk.qtdemuxPrimingEnd`).
///
/// Source: ISO/IEC 14496-12, 8.3.2 and 8.6.6.
package struct MP4Header {
  /// Values for a video track; fields that are nil stay unchanged in the file.
  package struct Video {
    /// Orientation, as in GST_TAG_IMAGE_ORIENTATION.
    var orientation: String?
    /// Duration from the start of the first frame to the end of the last, instead of the sum of
    /// decoding intervals (`Quirk.qtmuxVideoDuration`).
    var duration: ClockTime?
    var isEnabled: Bool?

    package init(orientation: String? = nil, duration: ClockTime? = nil, isEnabled: Bool? = nil) {
      self.orientation = orientation
      self.duration = duration
      self.isEnabled = isEnabled
    }
  }

  /// Values for an audio track: sample frames of priming, audible sample frames, and the sample
  /// rate. If ``isEnabled`` is nil, that flag stays unchanged.
  package struct Audio {
    var priming: Int
    var presentedSamples: Int
    var rate: Int
    var isEnabled: Bool?

    package init(priming: Int, presentedSamples: Int, rate: Int, isEnabled: Bool?) {
      self.priming = priming
      self.presentedSamples = presentedSamples
      self.rate = rate
      self.isEnabled = isEnabled
    }

    /// Returns the audible duration in units of `timescale`, rounded; at most 68 years.
    fileprivate func length(in timescale: Int) -> Int {
      let rate = max(rate, 1)
      return min(presentedSamples / rate, Int(Int32.max)) * timescale + (presentedSamples % rate * timescale + rate / 2)
        / rate
    }
  }

  /// Names of the tracks by kind, in track order. Written only if the header is at the end of the
  /// file.
  package var titles: [StreamKind: [String?]] = [:]

  /// Video tracks in order.
  package var videos: [Video] = []
  package var audio: [Audio] = []
  /// True for each subtitle track to enable, false for each to disable; nil leaves the flag
  /// unchanged.
  package var subtitles: [Bool?] = []

  /// Creation date to write, in seconds since 1970; nil keeps the date in the file.
  package var date: Int?

  /// Chapters to write (`chpl`). Written only if the header is at the end of the file.
  package var chapters: [ChapterMark] = []

  /// Tags that the muxer does not write. Written only if the header is at the end of the file.
  package var tags: [MP4Tag] = []

  /// Maximum number of chapters, because their number is stored in one byte.
  package static let mostChapters = 255
  /// Maximum number of bytes in a title, because its length is stored in one byte.
  package static let longestTitle = 255

  package init(chapters: [ChapterMark] = []) { self.chapters = chapters }

  /// Writes the changes into a finished file.
  /// - Returns: true if all chapters, titles and tags were written, which needs a header at the end
  ///   of the file.
  /// - Throws: ``FileError``.
  @discardableResult package func apply(to path: String) throws -> Bool {
    guard let file = RandomAccessFile(path, forWriting: true) else { throw FileError.last }
    guard let movie = file.boxes.first(where: { $0.type == "moov" }) else {
      throw FileError.missing("its header (moov)")
    }
    // Read the whole header: its sample tables take only about 16 bytes per frame.
    guard var bytes = file.read(movie.body) else { throw FileError.last }
    change(&bytes)
    // The header counts as last if no media follows it; qtmux may write XMP after the header.
    let behind = movie.body.upperBound..<file.size
    let isLast = !file.boxes.contains { $0.type == "mdat" && behind.contains($0.body.lowerBound) }
    let hasTitles = titles.values.contains { $0.contains { $0 != nil } }
    var isWhole = chapters.isEmpty && !hasTitles && tags.isEmpty
    if isLast, behind.count < 1 << 20, let rest = file.read(behind) {
      bytes = lengthened(bytes)
      if hasTitles { bytes = titled(bytes) }
      if !tags.isEmpty { bytes = tags.added(to: bytes) }
      if !chapters.isEmpty { bytes = MP4Chapters.adding(chapters, to: bytes) }
      guard file.write(Box.header("moov", bytes.count), at: movie.body.lowerBound - 8) else {
        throw FileError.last
      }
      bytes += rest
      isWhole = true
    }
    guard file.write(bytes, at: movie.body.lowerBound) else { throw FileError.last }
    return isWhole
  }

  /// Adds the title of each track to the track's user data (`name`) in the body of a `moov` box.
  func titled(_ movie: [UInt8]) -> [UInt8] {
    var left = titles.mapValues { $0[...] }
    return Box.all(in: movie[...]).flatMap { part -> [UInt8] in
      let body = Array(movie[part.body])
      guard part.type == "trak", let title = left[MP4Track.kind(of: 0..<body.count, body)]?.popFirst() ?? nil else {
        return Box.header(part.type, body.count) + body
      }
      let name = Box.header("name", title.utf8.count) + Array(title.utf8)
      var parts = Box.all(in: body[...]).map { (type: $0.type, body: Array(body[$0.body])) }
      if let user = parts.firstIndex(where: { $0.type == "udta" }) {
        parts[user].body = name + parts[user].body
      } else {
        parts.append(("udta", name))
      }
      let track = parts.flatMap { Box.header($0.type, $0.body.count) + $0.body }
      return Box.header("trak", track.count) + track
    }
  }

  /// Changes the movie's header in place.
  /// - Parameter movie: the body of the `moov` box.
  package func change(_ movie: inout [UInt8]) {
    let parts = Box.all(in: movie[...])
    guard let timescale = parts.first(where: { $0.type == "mvhd" }).flatMap({ movie.timescale($0.body) }) else {
      return
    }
    if let date { MP4Header.setDate(date, in: &movie) }
    var audio = Array(zip(audio, MP4Header.playable(audio.map(\.isEnabled))))[...]
    var videos = Array(zip(videos, MP4Header.playable(videos.map(\.isEnabled))))[...]
    var subtitles = subtitles[...]
    for track in parts where track.type == "trak" {
      guard let header = movie.box("tkhd", in: track.body), let handler = movie.box("mdia", "hdlr", in: track.body)
      else {
        continue
      }
      switch MP4Track.kind(ofHandler: handler, of: movie) {
      case .video:
        guard let (video, isEnabled) = videos.popFirst() else { continue }
        enable(&movie, header, isEnabled)
        turn(&movie, header, video.orientation)
        if let edit = edit(movie, track.body), let duration = video.duration {
          // Round up, so that the last frame begins before the edit ends.
          movie.set(Int(exactly: (duration.seconds * Double(timescale)).rounded(.up)) ?? Int(UInt32.max), at: edit)
        }
      case .audio:
        guard let (played, isEnabled) = audio.popFirst() else { continue }
        enable(&movie, header, isEnabled)
        if let preSkip = orderOpus(&movie, track.body) {
          hide(preSkip, of: &movie, track.body, played.length(in: timescale))
          continue
        }
        guard played.priming > 0, played.rate > 0, let edit = edit(movie, track.body),
          let mediaTimescale = movie.box("mdia", "mdhd", in: track.body).flatMap({ movie.timescale($0) })
        else { continue }
        // The edit starts after the priming, and ends at the last audible sample.
        movie.set(played.length(in: timescale), at: edit)
        movie.set(movie.integer(edit + 4) + played.priming * mediaTimescale / played.rate, at: edit + 4)
      case .subtitles: enable(&movie, header, subtitles.popFirst() ?? nil)
      default: break
      }
    }
  }

  /// Sets the creation date in the headers of movie, tracks and media, in seconds since the
  /// beginning of 1904 (ISO/IEC 14496-12, 8.2.2).
  private static func setDate(_ date: Int, in movie: inout [UInt8]) {
    let parts = Box.all(in: movie[...])
    let tracks = parts.filter { $0.type == "trak" }.map(\.body)
    let headers =
      parts.filter { $0.type == "mvhd" }.map(\.body)
      + tracks.flatMap { [movie.box("tkhd", in: $0), movie.box("mdia", "mdhd", in: $0)].compactMap { $0 } }
    for header in headers where header.count >= 12 && movie[header.lowerBound] == 0 {
      for field in [4, 8] { movie.set(date + 2_082_844_800, at: header.lowerBound + field) }
    }
  }

  /// Enables the first track of a kind if no track of that kind is enabled. Other containers need
  /// no default track, but MP4 players ignore tracks that are not enabled.
  private static func playable(_ enabled: [Bool?]) -> [Bool?] {
    enabled.allSatisfy { $0 == false } ? [true] + enabled.dropFirst() : enabled
  }

  /// Sets the flag `track_enabled`, the lowest bit (ISO/IEC 14496-12, 8.3.2).
  private func enable(_ movie: inout [UInt8], _ header: Range<Int>, _ isEnabled: Bool?) {
    guard let isEnabled, header.count >= 4 else { return }
    let flags = header.lowerBound + 3
    movie[flags] = isEnabled ? movie[flags] | 1 : movie[flags] & ~1
  }

  /// Converts the numbers of the Opus header (`dOps`) to big-endian order if necessary
  /// (`Quirk.qtmuxOpusByteOrder`; Encapsulation of Opus in ISO Base Media File Format, 4.3.2), and
  /// sets the rate to 48 kHz (4.3.1).
  /// - Returns: priming in audio samples at 48 kHz; nil if the track is not Opus.
  private func orderOpus(_ movie: inout [UInt8], _ track: Range<Int>) -> Int? {
    guard let table = movie.box("mdia", "minf", "stbl", "stsd", in: track), table.count > 8,
      let entry = movie.box("Opus", in: table.lowerBound + 8..<table.upperBound), entry.count > 28,
      // Versions 1 and 2 of QuickTime's sound description have more fields before the boxes.
      let fields = [0: 28, 1: 44, 2: 64][movie.number(entry.lowerBound + 8..<entry.lowerBound + 10)],
      entry.count > fields,
      let opus = movie.box("dOps", in: entry.lowerBound + fields..<entry.upperBound), opus.count >= 11
    else { return nil }
    // An impossible rate means the wrong byte order.
    if movie.integer(opus.lowerBound + 4) >= 1 << 24 {
      for field in [2..<4, 4..<8, 8..<10] {
        movie[opus.lowerBound + field.lowerBound..<opus.lowerBound + field.upperBound].reverse()
      }
    }
    if fields == 28 { movie.set(48_000 << 16, at: entry.lowerBound + 24) }
    return movie.number(opus.lowerBound + 2..<opus.lowerBound + 4)
  }

  /// Sets the duration of the first Opus packet to the duration of the other packets, and starts
  /// the edit after the priming (`Quirk.qtmuxOpusPriming`). Also converts all times of the track to
  /// 48 kHz, which FFmpeg assumes for the edit; qtmux uses the sample rate of the encoder's input.
  private func hide(_ preSkip: Int, of movie: inout [UInt8], _ track: Range<Int>, _ duration: Int) {
    guard let times = movie.box("mdia", "minf", "stbl", "stts", in: track), times.count >= 24,
      let media = movie.box("mdia", "mdhd", in: track), media.count >= 20, movie[media.lowerBound] == 0,
      let timescale = movie.timescale(media), timescale > 0, 48_000 % timescale == 0, let edit = edit(movie, track)
    else { return }
    let (factor, first) = (48_000 / timescale, times.lowerBound + 8)
    let (packet, next) = (movie.integer(first + 4) * factor + preSkip, movie.integer(first + 12) * factor)
    let length = movie.integer(media.lowerBound + 16) * factor + preSkip
    // The first packet must get the duration of the second. Exception: if there are only two
    // packets, the declared duration of the second may be too short. The new duration of the first
    // must then be a multiple of 2.5 ms, as for all Opus packets (RFC 6716, 2.1.4).
    let isLast = times.count == 24 && movie.integer(first + 8) == 1
    guard movie.integer(first) == 1, packet == next || isLast && packet % 120 == 0 && packet > next,
      length <= UInt32.max
    else { return }
    for delta in stride(from: first + 4, through: times.upperBound - 4, by: 8) {
      movie.set(movie.integer(delta) * factor, at: delta)
    }
    movie.set(packet, at: first + 4)
    movie.set(48_000, at: media.lowerBound + 12)
    movie.set(length, at: media.lowerBound + 16)
    movie.set(duration, at: edit)
    movie.set(movie.integer(edit + 4) * factor + preSkip, at: edit + 4)
  }

  /// Returns the offset of the edit list entry that plays the track. An entry consists of a
  /// duration and a start in the media. Skips a preceding empty edit, which delays the track.
  private func edit(_ movie: [UInt8], _ track: Range<Int>) -> Int? {
    guard let list = movie.box("edts", "elst", in: track), list.count >= 20, movie[list.lowerBound] == 0
    else { return nil }
    return stride(from: list.lowerBound + 8, through: list.upperBound - 12, by: 12)
      .first { movie.integer($0 + 4) != 0xFFFF_FFFF }
  }

  private func turn(_ movie: inout [UInt8], _ header: Range<Int>, _ orientation: String?) {
    guard let orientation, let axes = MP4Matrix.axes[orientation],
      let matrix = MP4Matrix.place(in: header, of: movie)
    else { return }
    let width = movie.integer(matrix + 36)
    let height = movie.integer(matrix + 40)
    // The translation moves the rotated frame back to positive coordinates.
    let x = (axes[0] < 0 ? width : 0) + (axes[2] < 0 ? height : 0)
    let y = (axes[1] < 0 ? width : 0) + (axes[3] < 0 ? height : 0)
    let values = [axes[0] << 16, axes[1] << 16, 0, axes[2] << 16, axes[3] << 16, 0, x, y, 1 << 30]
    for (index, value) in values.enumerated() { movie.set(value, at: matrix + 4 * index) }
  }
}
