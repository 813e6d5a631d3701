import CGStreamer

/// Raw video format.
package struct PixelFormat: Sendable {
  /// Name in caps, such as `I420`.
  package let name: String
  /// Bits of each component.
  private let depths: [UInt32]
  /// Chroma subsampling, as exponents of 2: 1 and 0 for 4:2:2; nil if there is no chroma.
  private let halvings: (columns: UInt32, lines: UInt32)?
  /// Colour model, then three numbers for each component: bits, column subsampling and line
  /// subsampling.
  private let layout: [UInt32]

  /// - Returns: nil if GStreamer has no format of that name.
  ///
  /// Does not use `gst_video_format_from_string`, because this function is declared `G_GNUC_CONST`
  /// (1.22 to 1.28) although it reads the string, so a compiler may delay the call until the string
  /// has been freed.
  package init?(_ name: String) {
    guard let format = PixelFormat.numbers.lazy.compactMap({ PixelFormat($0) }).first(where: { $0.name == name })
    else { return nil }
    self = format
  }

  private init?(_ format: GstVideoFormat) {
    guard format.rawValue > GST_VIDEO_FORMAT_ENCODED.rawValue, let name = gst_video_format_to_string(format),
      let info = gst_video_format_get_info(format)?.pointee
    else { return nil }
    self.name = String(cString: name)
    let model = [
      GST_VIDEO_FORMAT_FLAG_YUV, GST_VIDEO_FORMAT_FLAG_RGB, GST_VIDEO_FORMAT_FLAG_GRAY, GST_VIDEO_FORMAT_FLAG_ALPHA,
      GST_VIDEO_FORMAT_FLAG_PALETTE,
    ].reduce(0) { $0 | $1.rawValue }
    func listed(_ values: (UInt32, UInt32, UInt32, UInt32)) -> [UInt32] {
      Array([values.0, values.1, values.2, values.3].prefix(Int(info.n_components)))
    }
    depths = listed(info.depth)
    let isYUV = info.flags.rawValue & GST_VIDEO_FORMAT_FLAG_YUV.rawValue != 0
    halvings = isYUV && info.n_components > 2 ? (info.w_sub.1, info.h_sub.1) : nil
    layout =
      [info.flags.rawValue & model] + depths + listed(info.w_sub) + listed(info.h_sub)
  }

  /// Bits of the deepest component.
  package var depth: Int { Int(depths.max() ?? 0) }

  /// Chroma subsampling such as `4:2:0`; nil for formats without chroma, and for rare subsamplings.
  package var chroma: String? {
    switch halvings {
    case (0, 0)?: "4:4:4"
    case (1, 0)?: "4:2:2"
    case (1, 1)?: "4:2:0"
    case (2, 0)?: "4:1:1"
    default: nil
    }
  }

  /// True if chroma has fewer columns or lines than luma.
  package var hasHalvedChroma: Bool { halvings.map { $0 != (0, 0) } ?? false }

  /// True if this format has fewer columns or lines of chroma than `other`; false if either format
  /// has no chroma.
  package func hasLessChroma(than other: PixelFormat) -> Bool {
    guard let halvings, let theirs = other.halvings else { return false }
    return halvings.columns > theirs.columns || halvings.lines > theirs.lines
  }

  /// Formats with the same chroma subsampling and without alpha, deepest first.
  package var ofSameChroma: [PixelFormat] {
    guard let chroma else { return [] }
    return PixelFormat.numbers.compactMap { PixelFormat($0) }.filter { $0.chroma == chroma && $0.depths.count == 3 }
      .sorted { $0.depth > $1.depth }
  }

  /// This format, then the formats with the same components in another order, in the order of
  /// GStreamer's format numbers.
  package var equivalents: [PixelFormat] {
    let others = PixelFormat.numbers.compactMap { PixelFormat($0) }
    return [self] + others.filter { $0.layout == layout && $0.name != name }
  }

  /// Formats of this GStreamer release, in the order of their numbers.
  private static let numbers: [GstVideoFormat] = {
    var count: UInt32 = 0
    let all = UnsafeBufferPointer(start: gst_video_formats_raw(&count), count: Int(count))
    return all.sorted { $0.rawValue < $1.rawValue }
  }()
}
