/// Fragment of a segment in fragmented MP4: the packets of one track for a range of time, in a
/// `moof` and an `mdat` box.
///
/// Source: ISO/IEC 14496-12, 8.8, and 23000-19 (CMAF), 7.5.
package struct MP4Fragment {
  /// MP4 sample, which is one packet. Times are in units of the track's timescale.
  package struct Sample {
    package var bytes: [UInt8]
    /// Time from this sample to the next one, both in decoding and in presentation.
    package var duration: Int
    package var isKeyframe: Bool

    package init(bytes: [UInt8], duration: Int, isKeyframe: Bool = true) {
      (self.bytes, self.duration, self.isKeyframe) = (bytes, duration, isKeyframe)
    }
  }

  /// Sequence number in the track, from 1.
  package var number: Int
  /// Decoding and presentation time of the first sample.
  package var start: Int
  /// Samples in decoding order, which is also the presentation order.
  package var samples: [Sample]

  package init(number: Int, start: Int, samples: [Sample]) {
    (self.number, self.start, self.samples) = (number, start, samples)
  }

  /// Returns the maximum overhead in bytes of a fragment with this many packets.
  package static func overhead(samples: Int) -> Int { 128 + 12 * samples }

  package var bytes: [UInt8] { bytes(isStart: true) }

  /// Encodes the fragment.
  /// - Parameter isStart: true if the fragment starts a segment; false if it follows another
  ///   fragment of the same segment.
  package func bytes(isStart: Bool) -> [UInt8] {
    // The data offset depends on the size of `moof`, which does not depend on the offset.
    let size = movieFragment(dataOffset: 0).count
    let media = samples.reduce(0) { $0 + $1.bytes.count }
    var all =
      isStart ? Box.bytes("styp", Array("msdh".utf8), .big(UInt32(0)), Array("msdhmsixcmfciso6".utf8)) : []
    all.reserveCapacity(all.count + size + 8 + media)
    all += movieFragment(dataOffset: size + 8)
    all += Box.header("mdat", media)
    for sample in samples { all += sample.bytes }
    return all
  }

  private func movieFragment(dataOffset: Int) -> [UInt8] {
    // Duration, size and flags of each sample.
    let run = samples.flatMap { sample in
      .big(UInt32(clamping: sample.duration)) + .big(UInt32(clamping: sample.bytes.count))
        + .big(sample.isKeyframe ? MP4Fragment.independent : MP4Fragment.dependent)
    }
    return Box.bytes(
      "moof",
      Box.full("mfhd", .big(UInt32(clamping: number))),
      Box.bytes(
        "traf",
        // The flag is default-base-is-moof: the data offset is relative to the start of `moof`.
        Box.full("tfhd", flags: 0x020000, .big(UInt32(1))),
        Box.full("tfdt", version: 1, .big(UInt64(clamping: start))),
        Box.full(
          "trun", flags: 0x000701, .big(UInt32(clamping: samples.count)), .big(Int32(clamping: dataOffset)),
          run)))
  }

  /// Flags of a keyframe (8.8.3.1).
  private static let independent: UInt32 = 0x0200_0000
  /// Flags of a sample that depends on others, so it is not a sync sample.
  private static let dependent: UInt32 = 0x0101_0000
}
