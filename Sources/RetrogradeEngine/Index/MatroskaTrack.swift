import MediaTime

/// The elements on the way to Matroska's tracks, and in them (RFC 9559, 5.1.4).
package enum MatroskaID {
  package static let segment: UInt32 = 0x1853_8067
  package static let tracks: UInt32 = 0x1654_AE6B
  package static let trackEntry: UInt32 = 0xAE
  package static let trackType: UInt32 = 0x83
  package static let flagDefault: UInt32 = 0x88
  package static let flagForced: UInt32 = 0x55AA
  package static let codecDelay: UInt32 = 0x56AA
}

/// What Matroska says of a track and GStreamer 1.22's matroskademux passes over.
package struct MatroskaTrack {
  package let kind: StreamKind
  /// How much of the sound is a codec's priming, by which all of its times are later than what is heard (`CodecDelay`,
  /// RFC 9559, 5.1.4.1.25).
  let codecDelay: ClockTime
  package let disposition: Disposition

  /// The tracks of a file, in order; none where it is not Matroska.
  package static func all(_ path: String) -> [MatroskaTrack] {
    guard let file = MovieFile(path),
      let segment = file.elements(in: 0..<file.size).first(where: { $0.id == MatroskaID.segment }),
      let tracks = file.elements(in: segment.body).first(where: { $0.id == MatroskaID.tracks }),
      tracks.body.count < 1 << 24,
      let bytes = file.read(tracks.body)
    else { return [] }
    return EBMLElement.all(in: bytes).filter { $0.id == MatroskaID.trackEntry }.map { entry in
      let parts = EBMLElement.all(in: entry.bytes)
      func number(_ id: UInt32) -> Int64? { parts.first { $0.id == id }?.number }
      return MatroskaTrack(
        kind: kind(ofType: number(MatroskaID.trackType)),
        codecDelay: ClockTime(nanoseconds: min(number(MatroskaID.codecDelay) ?? 0, 1_000_000_000)),
        disposition: Disposition(
          isDefault: number(MatroskaID.flagDefault) != 0, isForced: number(MatroskaID.flagForced) == 1))
    }
  }

  /// - Parameter type: of a track (RFC 9559, 5.1.4.1.3).
  package static func kind(ofType type: Int64?) -> StreamKind {
    switch type {
    case 1: .video
    case 2: .audio
    case 17: .subtitles
    default: .other
    }
  }
}
