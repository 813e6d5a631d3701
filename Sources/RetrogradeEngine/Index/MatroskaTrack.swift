import MediaTime

/// The elements on the way to Matroska's tracks (RFC 9559, 5.1).
package enum MatroskaID {
  package static let segment: UInt32 = 0x1853_8067
  package static let tracks: UInt32 = 0x1654_AE6B
  package static let trackEntry: UInt32 = 0xAE
}

/// What Matroska says of its tracks and GStreamer 1.22's matroskademux passes over.
enum MatroskaTracks {
  private enum ID {
    static let type: UInt32 = 0x83
    static let codecDelay: UInt32 = 0x56AA
  }

  /// How much of each audio track, in order, is a codec's priming, by which all of its times are later than what is heard
  /// (`CodecDelay`, RFC 9559, 5.1.4.1.25).
  static func codecDelays(_ path: String) -> [ClockTime] {
    guard let file = MovieFile(path),
      let segment = file.elements(in: 0..<file.size).first(where: { $0.id == MatroskaID.segment }),
      let tracks = file.elements(in: segment.body).first(where: { $0.id == MatroskaID.tracks }),
      tracks.body.count < 1 << 24,
      let bytes = file.read(tracks.body)
    else { return [] }
    return EBMLElement.all(in: bytes).filter { $0.id == MatroskaID.trackEntry }.compactMap { entry in
      let parts = EBMLElement.all(in: entry.bytes)
      func number(_ id: UInt32) -> Int64? {
        parts.first { $0.id == id }.map { $0.bytes.suffix(7).reduce(Int64(0)) { $0 << 8 | Int64($1) } }
      }
      guard number(ID.type) == 2 else { return nil }  // audio
      return ClockTime(nanoseconds: min(number(ID.codecDelay) ?? 0, 1_000_000_000))
    }
  }
}
