import MediaTime

/// Priming and padding of an MP4 file without edit lists, from the iTunes tag `iTunSMPB` or from
/// the fixed values of Nero's encoder. GStreamer before 1.24 supports neither
/// (`Quirk.qtdemuxGapless`).
struct MP4Gapless: Sendable {
  let info: GaplessInfo
  /// Offset, in the index, of the text by which qtdemux recognises the tag or the encoder.
  let mark: Int

  /// - Returns: nil if the file is fragmented, or has an edit list, more than one track, no audio,
  ///   or no plausible values.
  init?(_ index: MP4Index) {
    let header = index.bytes
    guard !index.isFragmented, index.tracks.count == 1, let track = index.tracks.first,
      let handler = header.box("mdia", "hdlr", in: track), MP4Track.kind(ofHandler: handler, of: header) == .audio,
      MP4Edit.all(in: track, of: header).isEmpty,
      let media = header.box("mdia", "mdhd", in: track), let timescale = header.timescale(media),
      (1..<1 << 31).contains(timescale), let tags = header.box("udta", in: 0..<header.count),
      let times = header.box("mdia", "minf", "stbl", "stts", in: track)
    else { return nil }
    let steps = header.pairs(times)
    guard steps.count < 1 << 16, steps.allSatisfy({ $0.0 < 1 << 31 && $0.1 < 1 << 31 }), let step = steps.first?.1
    else { return nil }
    var total = 0
    for (count, length) in steps {
      let sum = total.addingReportingOverflow(count * length)
      guard !sum.overflow else { return nil }
      total = sum.partialValue
    }
    let found =
      MP4Gapless.iTunes(header[tags])
      ?? MP4Gapless.nero(header[tags], step: step, length: header.durationField(media).map(header.number))
    guard let found, found.count > 0, (0..<total).contains(found.delay), found.count <= total - found.delay
    else { return nil }
    mark = found.mark
    info = GaplessInfo(
      delay: ClockTime(sampleIndex: found.delay, rate: timescale),
      duration: ClockTime(sampleIndex: found.count, rate: timescale))
  }

  private typealias Found = (delay: Int, count: Int, mark: Int)

  /// Reads the iTunes tag, which consists of hexadecimal numbers: 0, priming, padding, length, and
  /// eight others.
  private static func iTunes(_ tags: ArraySlice<UInt8>) -> Found? {
    guard let name = tags.firstRange(of: Array("iTunSMPB".utf8)) else { return nil }
    // A `data` box follows the name. The text in the box comes after a type and a locale.
    let text = String(decoding: tags[name.upperBound...].dropFirst(16).prefix(44), as: UTF8.self)
    let fields = text.split(separator: " ")
    guard fields.count == 4, fields.map(\.count) == [8, 8, 8, 16], let delay = Int(fields[1], radix: 16),
      let count = Int(fields[3], radix: 16)
    else { return nil }
    return (delay, count, name.lowerBound)
  }

  /// Recognises Nero's encoder, which adds 1600 audio samples and a packet before the audio, and
  /// excludes the padding from the track's duration.
  private static func nero(_ tags: ArraySlice<UInt8>, step: Int, length: Int?) -> Found? {
    guard let length, let tool = tags.firstRange(of: [0xA9] + Array("too".utf8)) else { return nil }
    // A `data` box follows the name: a size, a name, a type, a locale, and then the text.
    let size = tags[tool.upperBound...].prefix(4).reduce(0) { $0 << 8 | Int($1) }
    let text = tags[tool.upperBound...].prefix(min(size, 256)).dropFirst(16)
    guard let name = ["Nero", "nero"].lazy.compactMap({ text.firstRange(of: Array($0.utf8)) }).first else { return nil }
    let delay = 1600 + step
    return (delay, length - delay, name.lowerBound)
  }
}
