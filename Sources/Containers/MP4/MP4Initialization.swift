/// Initialization segment of a track in fragmented MP4: `ftyp` and a `moov` without samples.
package struct MP4Initialization {
  package enum Kind {
    /// Video with a size in pixels.
    case video(width: Int, height: Int)
    case audio
  }

  package var kind: Kind
  /// Body of the `stsd` box.
  package var description: [UInt8]
  /// Timescale of the track in units per second.
  package var timescale: Int
  /// Duration of the priming before the first audible sample, in units of ``timescale``.
  package var priming: Int
  /// Duration after the priming, in units of ``timescale``.
  package var duration: Int
  /// Language of three lowercase letters (ISO 639-2); nil if unknown.
  package var language: String?

  package init(
    kind: Kind, description: [UInt8], timescale: Int, priming: Int = 0, duration: Int, language: String? = nil
  ) {
    (self.kind, self.description, self.timescale) = (kind, description, timescale)
    (self.priming, self.duration, self.language) = (priming, duration, language)
  }

  package var bytes: [UInt8] {
    let type = Box.bytes("ftyp", Array("iso6".utf8), .big(UInt32(0)), Array("iso6cmfcmp41".utf8))
    // Movie and track share a timescale, so that the edit is exact.
    let scale = UInt32(clamping: timescale)
    let movie = Box.full(
      "mvhd", .zeros(8), .big(scale), .big(UInt32(0)), .big(UInt32(0x10000)), .big(UInt16(0x100)), .zeros(10),
      MP4Initialization.identity, .zeros(24), .big(UInt32(2)))
    let extends = Box.bytes(
      "mvex",
      Box.full("mehd", version: 1, .big(UInt64(clamping: duration))),
      Box.full("trex", .big(UInt32(1)), .big(UInt32(1)), .zeros(12)))
    return type + Box.bytes("moov", movie, track, extends)
  }

  private var track: [UInt8] {
    var (width, height, volume) = (0, 0, UInt16(0x100))
    if case .video(let w, let h) = kind { (width, height, volume) = (w, h, 0) }
    // The flags mean that the track is enabled and part of the movie.
    let header = Box.full(
      "tkhd", flags: 3, .zeros(8), .big(UInt32(1)), .zeros(4), .zeros(4), .zeros(8), .zeros(4), .big(volume),
      .zeros(2), MP4Initialization.identity, .big(UInt32(clamping: width) << 16), .big(UInt32(clamping: height) << 16))
    let tables = Box.bytes(
      "stbl", Box.bytes("stsd", description), Box.full("stts", .zeros(4)), Box.full("stsc", .zeros(4)),
      Box.full("stsz", .zeros(8)), Box.full("stco", .zeros(4)))
    let location = Box.bytes("dinf", Box.full("dref", .big(UInt32(1)), Box.full("url ", flags: 1)))
    let media = Box.bytes(
      "mdia",
      Box.full("mdhd", .zeros(8), .big(UInt32(clamping: timescale)), .zeros(4), .big(packedLanguage), .zeros(2)),
      Box.full("hdlr", .zeros(4), Array(isVideo ? "vide".utf8 : "soun".utf8), .zeros(12), [0]),
      Box.bytes(
        "minf", isVideo ? Box.full("vmhd", flags: 1, .zeros(8)) : Box.full("smhd", .zeros(4)), location, tables))
    return Box.bytes("trak", header, edits, media)
  }

  /// Encoded edit list that plays the audio after the priming; empty if there is no priming.
  private var edits: [UInt8] {
    guard priming > 0 else { return [] }
    return Box.bytes(
      "edts",
      Box.full(
        "elst", version: 1, .big(UInt32(1)), .big(UInt64(clamping: duration)), .big(Int64(clamping: priming)),
        .big(UInt32(0x10000))))
  }

  private var isVideo: Bool { if case .video = kind { true } else { false } }

  /// Language as three letters of five bits each (8.4.2.3); `und` if unknown or invalid.
  private var packedLanguage: UInt16 {
    let known = language.map { Array($0.utf8) } ?? []
    let isKnown = known.count == 3 && known.allSatisfy { (0x61...0x7A).contains($0) }
    return (isKnown ? known : Array("und".utf8)).reduce(0) { $0 << 5 | UInt16($1 - 0x60) }
  }

  private static let identity: [UInt8] =
    .big(UInt32(0x10000)) + .zeros(12) + .big(UInt32(0x10000)) + .zeros(12) + .big(UInt32(0x4000_0000))
}
