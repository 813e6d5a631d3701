import MediaTime

extension MP4Header {
  /// Extends the media of each video track to the end of the track's last frame, so that the media
  /// and the edit end together (`Quirk.qtmuxVideoDuration`; `stts`, ISO/IEC 14496-12, 8.6.1.2).
  func lengthened(_ movie: [UInt8]) -> [UInt8] {
    guard let movieScale = movie.box("mvhd", in: 0..<movie.count).flatMap({ movie.timescale($0) }) else { return movie }
    var left = videos[...]
    var longest = 0
    var parts = Box.all(in: movie[...]).map { (type: $0.type, body: Array(movie[$0.body])) }
    for place in parts.indices where parts[place].type == "trak" {
      let track = parts[place].body
      guard MP4Track.kind(of: 0..<track.count, track) == .video, let duration = left.popFirst()?.duration,
        let longer = MP4Header.lengthened(track, to: duration, movieScale)
      else { continue }
      parts[place].body = longer.track
      longest = max(longest, longer.duration)
    }
    let duration = 16
    for place in parts.indices where parts[place].type == "mvhd" {
      // Skip version 1 of the box, which has wider fields.
      guard parts[place].body.count >= duration + 4, parts[place].body[0] == 0 else { continue }
      parts[place].body.set(max(longest, parts[place].body.integer(duration)), at: duration)
    }
    return longest == 0 ? movie : parts.flatMap { Box.bytes($0.type, $0.body) }
  }

  /// Extends a track.
  /// - Parameters:
  ///   - track: body of a `trak` box.
  ///   - duration: presentation duration of all frames.
  ///   - movieScale: timescale of the movie.
  /// - Returns: body of the extended track, and its duration in the movie's timescale; nil if the
  ///   track is long enough, or if its tables differ from the tables that qtmux writes.
  private static func lengthened(
    _ track: [UInt8], to duration: ClockTime, _ movieScale: Int
  ) -> (track: [UInt8], duration: Int)? {
    guard let media = track.box("mdia", "mdhd", in: 0..<track.count), let scale = track.timescale(media),
      let header = track.box("tkhd", in: 0..<track.count),
      // The boxes must have version 0. qtmux writes version 1, with wider fields, for media of more
      // than 2^32 units.
      track[media.lowerBound] == 0, header.count >= 24, track[header.lowerBound] == 0
    else { return nil }
    let (mediaDuration, trackDuration) = (media.lowerBound + 16, header.lowerBound + 20)
    let wanted = Int(exactly: (duration.seconds * Double(scale)).rounded()) ?? 0
    let missing = wanted - track.integer(mediaDuration)
    // A smaller difference is due to rounding.
    guard missing > scale / 1000, wanted < Int(UInt32.max),
      let shown = Int(exactly: (duration.seconds * Double(movieScale)).rounded()), shown < Int(UInt32.max)
    else { return nil }
    guard let times = track.box("mdia", "minf", "stbl", "stts", in: 0..<track.count),
      let longerTimes = lengthened(Array(track[times]), by: missing)
    else { return nil }
    var longer = track
    longer.set(wanted, at: mediaDuration)
    longer.set(shown, at: trackDuration)
    return (longer.replacing(["mdia", "minf", "stbl", "stts"]) { _ in longerTimes }, shown)
  }

  /// Extends the last MP4 sample by `missing`.
  /// - Parameter times: body of an `stts` box.
  /// - Returns: nil if the box is malformed or empty.
  private static func lengthened(_ times: [UInt8], by missing: Int) -> [UInt8]? {
    guard times.count >= 16, times.count == 8 + 8 * times.integer(4) else { return nil }
    let (count, last) = (times.integer(4), times.count - 8)
    let (samples, length) = (times.integer(last), times.integer(last + 4))
    var longer = times
    guard samples > 1 else {
      longer.set(length + missing, at: last + 4)
      return longer
    }
    longer.set(count + 1, at: 4)
    longer.set(samples - 1, at: last)
    return longer + .big(UInt32(1)) + .big(UInt32(clamping: length + missing))
  }
}

extension [UInt8] {
  /// Returns a copy of these boxes, in which `change` replaces the body of each box at `path`.
  fileprivate func replacing(_ path: ArraySlice<String>, _ change: ([UInt8]) -> [UInt8]) -> [UInt8] {
    guard let type = path.first else { return change(self) }
    return Box.all(in: self[...]).flatMap { part in
      let body = Array(self[part.body])
      return Box.bytes(part.type, part.type == type ? body.replacing(path.dropFirst(), change) : body)
    }
  }
}
