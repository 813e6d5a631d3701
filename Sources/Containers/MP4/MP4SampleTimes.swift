/// Decoding and presentation times of a track's MP4 samples, from the tables of an MP4 or MOV file
/// (ISO/IEC 14496-12, 8.6). The edit list is not applied. Only the tables are read, not the media.
package struct MP4SampleTimes {
  package struct Sample {
    /// Decoding time, in units of the timescale.
    package var decoded: Int
    /// Presentation time, in units of the timescale.
    package var shown: Int
    /// Time until the next sample is decoded, in units of the timescale.
    package var duration: Int
    package var isKeyframe: Bool
    /// Size in bytes.
    package var bytes: Int
  }

  package let timescale: Int
  /// MP4 samples in decoding order.
  package let samples: [Sample]

  /// Reads the times of the video track `number`, which is counted from 0.
  /// - Returns: nil if there is no such track, if its samples share one size, or if the tables lack
  ///   times because the file is fragmented or damaged.
  package init?(_ path: String, video number: Int) {
    guard let file = RandomAccessFile(path), let index = MP4Index(file), !index.isFragmented else { return nil }
    let bytes = index.bytes
    let tracks = index.tracks.filter { track in
      MP4Track.kind(of: track, bytes) == .video
    }
    guard tracks.indices.contains(number), let media = bytes.box("mdia", "mdhd", in: tracks[number]),
      let timescale = bytes.timescale(media), timescale > 0,
      let table = bytes.box("mdia", "minf", "stbl", in: tracks[number]), let sizes = SampleTable(bytes, table),
      sizes.commonSize == 0, (1...SampleRuns.most).contains(sizes.count),
      let durations = SampleRuns("stts", bytes, table, sizes.count)?.values
    else { return nil }
    self.timescale = timescale
    var offsets: [Int]?
    if bytes.box("ctts", in: table) != nil {
      offsets = SampleRuns("ctts", bytes, table, sizes.count)?.values.map { Int(Int32(truncatingIfNeeded: $0)) }
      if offsets == nil { return nil }
    }
    let keyframes = MP4SampleTimes.numbers("stss", bytes, table).map { Set($0) }
    var samples: [Sample] = []
    samples.reserveCapacity(sizes.count)
    // `time` cannot overflow: it is at most 2^25 samples of 2^32 units each.
    var time = 0
    for (number, duration) in durations.enumerated() {
      samples.append(
        Sample(
          decoded: time, shown: time + (offsets?[number] ?? 0), duration: duration,
          isKeyframe: keyframes?.contains(number + 1) ?? true, bytes: sizes.size(of: number)))
      time += duration
    }
    self.samples = samples
  }

  /// Reads a table of single numbers, such as `stss`; nil if there is no such table.
  private static func numbers(_ type: String, _ bytes: [UInt8], _ table: Range<Int>) -> [Int]? {
    guard let body = bytes.box(type, in: table), body.count >= 8 else { return nil }
    return stride(from: body.lowerBound + 8, through: body.upperBound - 4, by: 4).map { bytes.integer($0) }
  }
}
