import GStreamer

/// Units of time in a second of the video tracks that are written.
enum VideoTimescale {
  /// A scale in which frames of all usual rates have whole lengths, and times of other scales are at
  /// most 6 µs off.
  /// - Parameter rate: frames per second, as caps name it; nil if they do not.
  static func units(for rate: (numerator: Int, denominator: Int)?) -> Int {
    // At 24000/1001, 30000/1001 and the like the usual scale has no whole frames.
    guard let rate, rate.denominator == 1001, (1000...120_000).contains(rate.numerator) else { return 90_000 }
    return rate.numerator * 10
  }

  /// Makes the track of MP4 or MOV that `source` leads to count in `units`. The muxer takes a scale from
  /// the frame rate, which times of variable rates do not fit: 491 of 59/12. A user's own scale stays.
  static func set(_ units: Int, after source: Element) {
    let pad = source.entered { $0.isOfClass("Muxer") && $0.integer("trak-timescale") == 0 }
    pad?.setUnlessChanged("trak-timescale", "\(units)")
  }
}
