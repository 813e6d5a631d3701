import CGStreamer
package import MediaTime

/// Properties of raw video's caps.
extension Caps {
  /// The caps of interlaced video that is reversed: of two fields, the one that came first comes last.
  package var mirroredFields: Caps {
    switch string("field-order") {
    case "top-field-first": setting("field-order", "bottom-field-first")
    case "bottom-field-first": setting("field-order", "top-field-first")
    default: self
    }
  }

  /// The transfer function of high dynamic range (ITU-R BT.2100) that the frames have; nil if theirs is another.
  package var highDynamicRange: String? {
    let colours = string("colorimetry") ?? ""
    let transfer = colours.split(separator: ":").dropFirst(2).first.flatMap { Int($0) }
    let isPQ = colours == "bt2100-pq" || transfer.map { $0 == Int(GST_VIDEO_TRANSFER_SMPTE2084.rawValue) } ?? false
    let isHLG = colours == "bt2100-hlg" || transfer.map { $0 == Int(GST_VIDEO_TRANSFER_ARIB_STD_B67.rawValue) } ?? false
    return isPQ ? "PQ" : isHLG ? "HLG" : nil
  }

  /// These caps of decoded frames, with fields that the container knows better, from the caps of its packets.
  package func completed(from packets: Caps) -> Caps {
    var caps = self
    // The container's pixel aspect ratio overrides the codec's, in every player.
    if let own = packets.fraction("pixel-aspect-ratio"), own.numerator > 0, own.denominator > 0 {
      caps = caps.setting("pixel-aspect-ratio", "(fraction)\(own.numerator)/\(own.denominator)")
    }
    caps = caps.withPossiblePixels
    // GstVideoInfo forgets all that is known of the colours of a frame whose matrix is not. Name the one that everybody
    // assumes.
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

  /// True if GStreamer takes colours that are not said for BT.709, by the height (`set_default_colorimetry` in
  /// video-info.c).
  package var isHighDefinition: Bool { (int("height") ?? 0) > 576 }

  /// Whether the range or the matrix of the colours is another one than that of `other`, and both are known: values stand for
  /// other colours, and can be converted.
  package func differsInMatrix(from other: Caps) -> Bool {
    guard let own = matrix, let theirs = other.matrix else { return false }
    return own.range != theirs.range || own.matrix != theirs.matrix
  }

  /// nil where it is not known.
  private var matrix: (range: GstVideoColorRange, matrix: GstVideoColorMatrix)? {
    var value = GstVideoColorimetry()
    guard let text = string("colorimetry"), gst_video_colorimetry_from_string(&value, text) != 0,
      value.range != GST_VIDEO_COLOR_RANGE_UNKNOWN, value.matrix != GST_VIDEO_COLOR_MATRIX_UNKNOWN
    else { return nil }
    return (value.range, value.matrix)
  }
}

extension FrameRate {
  /// The one that is usual, if frames so far from each other have about that one.
  package init?(guessing step: ClockTime) {
    var (numerator, denominator): (gint, gint) = (0, 1)
    guard step > .zero, gst_video_guess_framerate(step.raw, &numerator, &denominator) != 0 else { return nil }
    self.init(Int(numerator), Int(denominator))
  }
}
