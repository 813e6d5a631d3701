import MediaTime

/// The tracks of Matroska and WebM files.
enum MatroskaTrack {
  /// In order.
  static func all(in file: RandomAccessFile) -> [ContainerTrack] {
    // Of a long film the clusters that follow are thousands, each another place of the disk.
    guard let segment = file.elements(in: 0..<file.size, upTo: MatroskaID.segment).last,
      segment.id == MatroskaID.segment,
      let tracks = file.elements(in: segment.body, upTo: MatroskaID.tracks).last, tracks.id == MatroskaID.tracks,
      tracks.body.count < 1 << 24,
      let bytes = file.read(tracks.body)
    else { return [] }
    let entries = EBMLElement.all(in: bytes).filter { $0.id == MatroskaID.trackEntry }
    return entries.map { entry in
      let parts = EBMLElement.all(in: entry.bytes)
      func number(_ id: UInt32) -> Int64? { parts.first { $0.id == id }?.number }
      return ContainerTrack(
        kind: kind(ofType: number(MatroskaID.trackType)),
        disposition: Disposition(
          isDefault: number(MatroskaID.flagDefault) != 0, isForced: number(MatroskaID.flagForced) == 1),
        codecDelay: ClockTime(nanoseconds: min(number(MatroskaID.codecDelay) ?? 0, 1_000_000_000)),
        stored: entries.count == 1 ? StoredAudio(parts, in: segment.body, of: file) : nil)
    }
  }

  /// - Parameter type: of a track (RFC 9559, 5.1.4.1.3).
  static func kind(ofType type: Int64?) -> StreamKind {
    switch type {
    case 1: .video
    case 2: .audio
    case 17: .subtitles
    default: .other
    }
  }
}
