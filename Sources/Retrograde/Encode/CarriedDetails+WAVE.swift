import Containers
import MediaTime
import RetrogradeEngine

extension CarriedDetails {
  /// RIFF chunks that the output gets from a WAVE source besides the audio, and warnings about RIFF
  /// chunks that are left out. `haveMarkers` is true if the output is WAVE and the source has
  /// markers; chapters made from these markers are then not written again.
  var waveChunks: (chunks: [WAVEChunks.Chunk], warnings: [Warning], haveMarkers: Bool) {
    guard let wave = source.facts?.wave, let rate = wave.rate, container?.isWave ?? false, !hasSoundtrack else {
      let sources = source.parts.isEmpty ? [source] : source.parts
      let holdsMarkers = container?.caps != nil && !hasSoundtrack
      return ([], sources.compactMap { $0.facts?.wave?.unsupported(besidesMarkers: holdsMarkers) }.unique, false)
    }
    let legs = source.legs
    let whole = legs.all.count == 1 && legs.areNatural && source.range == nil
    let (chunks, leftOut) = wave.chunks.played(isWhole: whole) { legs.places(of: $0, rate: rate) }
    let kept = playback.wantsChapters ? chunks : chunks.filter { !$0.isOfMarkers }
    let warnings =
      leftOut.isEmpty
      ? []
      : [
        Warning(
          .detailLeftOut,
          "left out: data of the WAVE file (\(leftOut.unique.joined(separator: ", "))), which describes the "
            + "source and may be wrong for the output",
          count: leftOut.count)
      ]
    return (kept, warnings, !wave.chunks.markers.isEmpty)
  }
}

extension WAVEHeader {
  fileprivate func unsupported(besidesMarkers holdsMarkers: Bool) -> Warning? {
    let names = chunks.names(besidesMarkers: holdsMarkers)
    guard !names.isEmpty else { return nil }
    return Warning(
      .detailLeftOut,
      "left out: data of the WAVE file (\(names.unique.joined(separator: ", "))), which this container can't hold",
      count: names.count)
  }
}

extension WAVEChunks.Chunk {
  fileprivate var isOfMarkers: Bool { name == "cue " || name == "LIST" && body.starts(with: "adtl".utf8) }
}

extension Warning {
  static func noSpace(for chunks: [WAVEChunks.Chunk]) -> Warning {
    let names = chunks.map(\.name).unique.joined(separator: ", ")
    return Warning(
      .detailLeftOut, "left out: data of the WAVE file (\(names)), since the output would be larger than 4 GiB",
      count: chunks.count)
  }
}

extension PlaybackLegs {
  /// Returns where a range of source sample frames is played in the output: one range of output
  /// sample frames for each leg that plays part of it. If `frames` is empty (a position between two
  /// sample frames), the returned ranges are empty too.
  func places(of frames: Range<Int>, rate: Int) -> [Range<Int>] {
    let start = ClockTime(sampleIndex: frames.lowerBound, rate: rate)
    let end = ClockTime(sampleIndex: frames.upperBound, rate: rate)
    return all.compactMap { leg -> Range<Int>? in
      let part = (start: max(start, leg.span.start), end: min(end, leg.span.end))
      guard frames.isEmpty ? part.start == part.end : part.start < part.end else { return nil }
      let place = leg.place(TimeSpan(start: part.start, end: part.end))
      let first = place.start.sampleIndex(rate: rate)
      return first..<max(first, place.end.sampleIndex(rate: rate))
    }.unique
  }
}
