import GStreamer

/// Timescale of the written video tracks, in units per second.
enum VideoTimescale {
  /// Returns a timescale in which frames of all usual rates last a whole number of units. Rounding
  /// moves other times by at most 6 µs.
  /// - Parameter rate: frames per second from the caps; nil if the caps have no frame rate.
  static func units(for rate: (numerator: Int, denominator: Int)?) -> Int {
    // At 24000/1001, 30000/1001 and similar rates, a frame does not last a whole number of units of
    // the usual timescale.
    guard let rate, rate.denominator == 1001, (1000...120_000).contains(rate.numerator) else { return 90_000 }
    return rate.numerator * 10
  }

  /// Sets the timescale of `source`'s track in MP4 or MOV. By default, the muxer derives a
  /// timescale from the frame rate, such as 491 for 59/12 fps. Such a timescale is too coarse for a
  /// variable frame rate. A timescale that the user set is kept.
  static func set(_ units: Int, after source: Element) {
    let pad = source.entered { $0.isOfClass("Muxer") && $0.integer("trak-timescale") == 0 }
    pad?.setUnlessChanged("trak-timescale", "\(units)")
  }
}
