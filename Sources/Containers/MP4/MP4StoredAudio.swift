import MediaTime

extension StoredAudio {
  /// The samples of a track of MP4 and MOV, where every sample frame is a sample of the table, and lasts one tick.
  /// - Parameters:
  ///   - track: the body of its `trak` box.
  ///   - fileSize: in bytes.
  /// - Returns: nil where the table does not say it so, where the file does not hold them all, and where they are not presented in
  ///   one piece at their own speed.
  init?(_ track: Range<Int>, in index: MP4Index, fileSize: Int) {
    let bytes = index.bytes
    guard !index.isFragmented, let movie = index.header?.timescale, bytes.isSelfContained(track),
      let rate = bytes.box("mdia", "mdhd", in: track).flatMap({ bytes.timescale($0) }), rate < 1 << 31,
      let table = bytes.box("mdia", "minf", "stbl", in: track), let samples = SampleTable(bytes, table),
      let lengths = bytes.box("stts", in: table).map({ bytes.pairs($0) }), lengths.allSatisfy({ $0.1 == 1 })
    else { return nil }
    self.init(frameBytes: samples.commonSize, rate: rate)
    let size = frameBytes
    var noted = 0
    samples.forEachChunk { place, numbers in
      guard place <= fileSize, numbers.count <= (fileSize - place) / size else { return false }
      append(place..<place + numbers.count * size)
      noted += numbers.count
      return true
    }
    guard noted == samples.count, noted > 0, present(MP4Edit.all(in: track, of: bytes), movie) else { return nil }
  }

  /// - Parameter timescale: the movie's.
  /// - Returns: false where those edits are more than a beginning, an end, and a wait before it.
  private mutating func present(_ edits: [MP4Edit], _ timescale: Int) -> Bool {
    guard let edit = edits.last else { return true }
    guard edits.count <= 2, edits.dropLast().allSatisfy({ $0.start == nil }), let start = edit.start, edit.isAtOwnSpeed,
      edits.allSatisfy({ $0.duration < 1 << 40 })
    else { return false }
    segment.start = ClockTime(sampleIndex: start, rate: rate)
    segment.time = ClockTime(sampleIndex: edits.dropLast().first?.duration ?? 0, rate: timescale)
    // One of no length goes on to the end.
    if edit.duration > 0 { segment.stop = segment.start + ClockTime(sampleIndex: edit.duration, rate: timescale) }
    return true
  }
}
