import MediaTime

extension StoredAudio {
  /// Finds the byte ranges of the audio in an MP4 or MOV track whose tables list every sample frame
  /// as an MP4 sample of one tick.
  /// - Parameters:
  ///   - track: body of the `trak` box.
  ///   - fileSize: size of the file in bytes.
  /// - Returns: nil if the tables have another form, if samples are missing from the file, or if an
  ///   edit list plays anything other than one range of the media at normal speed.
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

  /// Sets the GStreamer segment to the range that the edits play.
  /// - Parameter timescale: timescale of the movie.
  /// - Returns: false if the edits do anything except trim the media at its start and end, and
  ///   delay the start of playback.
  private mutating func present(_ edits: [MP4Edit], _ timescale: Int) -> Bool {
    guard let edit = edits.last else { return true }
    guard edits.count <= 2, edits.dropLast().allSatisfy({ $0.start == nil }), let start = edit.start, edit.isAtOwnSpeed,
      edits.allSatisfy({ $0.duration < 1 << 40 })
    else { return false }
    segment.start = ClockTime(sampleIndex: start, rate: rate)
    segment.time = ClockTime(sampleIndex: edits.dropLast().first?.duration ?? 0, rate: timescale)
    // An edit with a duration of 0 lasts to the end of the media.
    if edit.duration > 0 { segment.stop = segment.start + ClockTime(sampleIndex: edit.duration, rate: timescale) }
    return true
  }
}
