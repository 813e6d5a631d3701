import CGStreamer
package import MediaTime

/// Properties of raw video's caps.
extension Caps {
  /// Caps of interlaced video after reversal: the order of the fields is swapped.
  package var mirroredFields: Caps {
    switch string("field-order") {
    case "top-field-first": setting("field-order", "bottom-field-first")
    case "bottom-field-first": setting("field-order", "top-field-first")
    default: self
    }
  }

  /// HDR transfer function of the frames (ITU-R BT.2100); nil for other transfer functions.
  package var highDynamicRange: String? {
    let colours = string("colorimetry") ?? ""
    let transfer = colours.split(separator: ":").dropFirst(2).first.flatMap { Int($0) }
    let isPQ = colours == "bt2100-pq" || transfer.map { $0 == Int(GST_VIDEO_TRANSFER_SMPTE2084.rawValue) } ?? false
    let isHLG = colours == "bt2100-hlg" || transfer.map { $0 == Int(GST_VIDEO_TRANSFER_ARIB_STD_B67.rawValue) } ?? false
    return isPQ ? "PQ" : isHLG ? "HLG" : nil
  }

  /// Returns these caps of decoded frames, with the pixel aspect ratio from `packets`, the
  /// container's caps. If the colour matrix is unknown, a default matrix is added.
  package func completed(from packets: Caps) -> Caps {
    var caps = self
    // The container's pixel aspect ratio overrides the codec's, as in every player.
    if let own = packets.fraction("pixel-aspect-ratio"), own.numerator > 0, own.denominator > 0 {
      caps = caps.setting("pixel-aspect-ratio", "(fraction)\(own.numerator)/\(own.denominator)")
    }
    caps = caps.withPossiblePixels
    // GstVideoInfo drops all colorimetry if the matrix is unknown. Use the matrix that players
    // assume.
    if let colours = string("colorimetry")?.split(separator: ":"), colours.count == 4, colours[1] == "0" {
      let matrix = isHighDefinition ? 3 : 4
      caps = caps.setting("colorimetry", "(string)\(colours[0]):\(matrix):\(colours[2]):\(colours[3])")
    }
    return caps
  }

  /// These caps with square pixels if their pixel aspect ratio is not positive
  /// (`Quirk.avidemuxPixelAspect`).
  package var withPossiblePixels: Caps {
    guard let own = fraction("pixel-aspect-ratio"), own.numerator <= 0 || own.denominator <= 0
    else { return self }
    return setting("pixel-aspect-ratio", "(fraction)1/1")
  }

  /// True if GStreamer assumes BT.709 for frames of this height that have no colorimetry
  /// (`set_default_colorimetry` in video-info.c).
  package var isHighDefinition: Bool { (int("height") ?? 0) > 576 }

  /// True if colour range and matrix are known in both caps, and the ranges or the matrices differ.
  /// The same pixel values then mean different colours, so frames need a conversion.
  package func differsInMatrix(from other: Caps) -> Bool {
    guard let own = matrix, let theirs = other.matrix else { return false }
    return own.range != theirs.range || own.matrix != theirs.matrix
  }

  /// Range and matrix; nil if unknown.
  private var matrix: (range: Int, matrix: Int)? {
    guard let codes = colourCodes, codes[0] != 0, codes[1] != 0 else { return nil }
    return (codes[0], codes[1])
  }

  /// Range, matrix, transfer function and primaries, as numbers of `GstVideoColorimetry`, where 0
  /// means unknown. nil if the caps have no colorimetry.
  package var colourCodes: [Int]? {
    var value = GstVideoColorimetry()
    guard let text = string("colorimetry"), gst_video_colorimetry_from_string(&value, text) != 0 else { return nil }
    return [value.range.rawValue, value.matrix.rawValue, value.transfer.rawValue, value.primaries.rawValue]
      .map { Int($0) }
  }
}

extension FrameRate {
  /// Creates the standard frame rate closest to one frame every `step`; nil if no standard rate is
  /// close.
  package init?(guessing step: ClockTime) {
    var (numerator, denominator): (gint, gint) = (0, 1)
    guard step > .zero, gst_video_guess_framerate(step.raw, &numerator, &denominator) != 0 else { return nil }
    self.init(Int(numerator), Int(denominator))
  }
}
