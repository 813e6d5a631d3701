import GStreamer

/// Timescale of the written video tracks, in units per second.
enum VideoTimescale {
  /// Returns a timescale in which a frame lasts an integer number of units at all usual frame
  /// rates. At other rates, rounding moves timestamps by at most 6 µs.
  /// - Parameter rate: frames per second from the caps; nil if the caps have no frame rate.
  static func units(for rate: (numerator: Int, denominator: Int)?) -> Int {
    // At 24000/1001, 60000/1001 and similar rates, the duration of a frame is not an integer in the
    // usual timescale of 90000.
    guard let rate, rate.denominator == 1001, (1000...120_000).contains(rate.numerator) else { return 90_000 }
    return rate.numerator * 10
  }

  /// Sets the timescale of `source`'s track in MP4 or MOV. By default, the muxer derives a
  /// timescale from the frame rate, such as 491 for 59/12 fps. Such a timescale is too coarse for a
  /// variable frame rate. A timescale that the user set stays unchanged.
  static func set(_ units: Int, after source: Element) {
    let pad = source.entered { $0.isOfClass("Muxer") && $0.integer("trak-timescale") == 0 }
    pad?.setUnlessChanged("trak-timescale", "\(units)")
  }
}
