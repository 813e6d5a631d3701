package import MediaTime

/// Facts that qtmux knows but does not write, which are put into a finished MP4 or MOV file: the
/// rotation of the video (`tkhd`'s matrix, `Quirk.qtmuxOrientation`), the default track of each kind
/// (its flags, `Quirk.qtmuxTrackFlags`), and the audio's priming (`elst`, `Quirk.qtmuxAudioPriming`).
///
/// All have their place in the file already; only their values change.
/// The durations of movie and tracks (`mvhd`, `tkhd`) stay those of the media. With those of the edits, qtdemux leaves
/// out the last packet, as it does in FFmpeg's files (`Quirk.qtdemuxPrimingEnd`).
/// Source: ISO/IEC 14496-12, 8.3.2 and 8.6.6.
package struct MP4Header {
  /// A video track; nil leaves a thing as it is.
  package struct Video {
    /// GST_TAG_IMAGE_ORIENTATION.
    var orientation: String?
    /// Duration from its first frame's start to its last one's end, in place of the sum of intervals
    /// between decoding times (`Quirk.qtmuxVideoDuration`).
    var duration: ClockTime?
    var isEnabled: Bool?

    package init(orientation: String? = nil, duration: ClockTime? = nil, isEnabled: Bool? = nil) {
      self.orientation = orientation
      self.duration = duration
      self.isEnabled = isEnabled
    }
  }

  /// An audio track: the sample frames of priming, those to be heard, and their rate.
  package struct Audio {
    var priming: Int
    var heard: Int
    var rate: Int
    var isEnabled: Bool?

    package init(priming: Int, heard: Int, rate: Int, isEnabled: Bool?) {
      self.priming = priming
      self.heard = heard
      self.rate = rate
      self.isEnabled = isEnabled
    }

    /// How long it is heard, in units of which there are `timescale` in a second, rounded; 68 years at the most.
    fileprivate func length(in timescale: Int) -> Int {
      let rate = max(rate, 1)
      return min(heard / rate, Int(Int32.max)) * timescale + (heard % rate * timescale + rate / 2) / rate
    }
  }

  /// Names of the tracks of each kind, in order. Written if the header stands last in the file.
  package var titles: [StreamKind: [String?]] = [:]

  /// Tracks by kind, in their order.
  package var videos: [Video] = []
  package var audio: [Audio] = []
  /// Whether each track of text is enabled.
  package var subtitles: [Bool?] = []

  /// When the file is said to be made, in seconds since 1970; nil: when it was.
  package var date: Int?

  /// Written beside the existing chapters (`chpl`), where the header is the last thing in the file.
  package var chapters: [ChapterMark] = []

  /// Tags that the muxer does not write, where the header is the last thing in the file.
  package var tags: [MP4Tag] = []

  /// How many chapters a file has room for, and how many bytes of each title: one byte counts them.
  package static let mostChapters = 255
  package static let longestTitle = 255

  package init(chapters: [ChapterMark] = []) { self.chapters = chapters }

  /// - Returns: true if chapters, titles and tags are in it. There is room for them if the header stands last in the
  ///   file.
  /// - Throws: ``FileError``.
  @discardableResult package func apply(to path: String) throws -> Bool {
    guard let file = RandomAccessFile(path, forWriting: true) else { throw FileError.last }
    guard let movie = file.boxes.first(where: { $0.type == "moov" }) else {
      throw FileError.missing("its header (moov)")
    }
    // The header is small even for hours of media: sample tables take 16 bytes or so a frame.
    guard var bytes = file.read(movie.body) else { throw FileError.last }
    change(&bytes)
    // If it comes last, no media are behind it, only qtmux's description of them in XMP.
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

  /// The body of a `moov` box with the titles of tracks in their user data (`name`).
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
          // Rounded up: the last frame is to begin before the edit ends.
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
        // The edit starts after the priming, and ends with the last sample.
        movie.set(played.length(in: timescale), at: edit)
        movie.set(movie.integer(edit + 4) + played.priming * mediaTimescale / played.rate, at: edit + 4)
      case .subtitles: enable(&movie, header, subtitles.popFirst() ?? nil)
      default: break
      }
    }
  }

  /// Sets the date in all headers to `date`; they count seconds from the beginning of 1904 (ISO/IEC 14496-12,
  /// 8.2.2).
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

  /// Flags of the tracks of a kind, such that one of them is played: other containers may have none that is
  /// the default, but a track that is not enabled in MP4 is not played at all.
  private static func playable(_ enabled: [Bool?]) -> [Bool?] {
    enabled.allSatisfy { $0 == false } ? [true] + enabled.dropFirst() : enabled
  }

  /// The lowest of the flags (ISO/IEC 14496-12, 8.3.2: `track_enabled`).
  private func enable(_ movie: inout [UInt8], _ header: Range<Int>, _ isEnabled: Bool?) {
    guard let isEnabled, header.count >= 4 else { return }
    let flags = header.lowerBound + 3
    movie[flags] = isEnabled ? movie[flags] | 1 : movie[flags] & ~1
  }

  /// Puts the numbers of Opus's header (`dOps`) into big-endian order if they are not
  /// (`Quirk.qtmuxOpusByteOrder`; Encapsulation of Opus in ISO Base Media File Format, 4.3.2), and sets the rate to
  /// 48 kHz (4.3.1).
  /// - Returns: the samples of priming, at 48 kHz; nil if the track is no Opus.
  private func orderOpus(_ movie: inout [UInt8], _ track: Range<Int>) -> Int? {
    guard let table = movie.box("mdia", "minf", "stbl", "stsd", in: track), table.count > 8,
      let entry = movie.box("Opus", in: table.lowerBound + 8..<table.upperBound), entry.count > 28,
      // Sound descriptions of QuickTime's versions 1 and 2 have more fields before their boxes.
      let fields = [0: 28, 1: 44, 2: 64][movie.number(entry.lowerBound + 8..<entry.lowerBound + 10)],
      entry.count > fields,
      let opus = movie.box("dOps", in: entry.lowerBound + fields..<entry.upperBound), opus.count >= 11
    else { return nil }
    // No rate is that high.
    if movie.integer(opus.lowerBound + 4) >= 1 << 24 {
      for field in [2..<4, 4..<8, 8..<10] {
        movie[opus.lowerBound + field.lowerBound..<opus.lowerBound + field.upperBound].reverse()
      }
    }
    if fields == 28 { movie.set(48_000 << 16, at: entry.lowerBound + 24) }
    return movie.number(opus.lowerBound + 2..<opus.lowerBound + 4)
  }

  /// Gives Opus's first packet the duration of all others, and has the edit begin after the priming
  /// (`Quirk.qtmuxOpusPriming`). qtmux counts in the rate of the encoder's input; here all is counted at 48 kHz, by
  /// which FFmpeg reads the edit.
  private func hide(_ preSkip: Int, of movie: inout [UInt8], _ track: Range<Int>, _ duration: Int) {
    guard let times = movie.box("mdia", "minf", "stbl", "stts", in: track), times.count >= 24,
      let media = movie.box("mdia", "mdhd", in: track), movie[media.lowerBound] == 0, media.count >= 20,
      let timescale = movie.timescale(media), timescale > 0, 48_000 % timescale == 0, let edit = edit(movie, track)
    else { return }
    let (factor, first) = (48_000 / timescale, times.lowerBound + 8)
    let (packet, next) = (movie.integer(first + 4) * factor + preSkip, movie.integer(first + 12) * factor)
    let length = movie.integer(media.lowerBound + 16) * factor + preSkip
    // The second of two packets may be cut. Opus packets are multiples of 2.5 ms (RFC 6716, 2.1.4).
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

  /// Place of the entry of a track's edit list that plays the track: its duration, then its start in the
  /// media. The entry before it, if any, is an empty edit: the track starts late.
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
    // The turned frame is moved back to where its corner was.
    let x = (axes[0] < 0 ? width : 0) + (axes[2] < 0 ? height : 0)
    let y = (axes[1] < 0 ? width : 0) + (axes[3] < 0 ? height : 0)
    let values = [axes[0] << 16, axes[1] << 16, 0, axes[2] << 16, axes[3] << 16, 0, x, y, 1 << 30]
    for (index, value) in values.enumerated() { movie.set(value, at: matrix + 4 * index) }
  }
}
