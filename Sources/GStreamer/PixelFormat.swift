import CGStreamer

/// A format of raw video frames.
package struct PixelFormat: Sendable {
  /// As caps name it, such as `I420`.
  package let name: String
  /// Colour model, components, and for each of them its bits and how its columns and lines are halved.
  private let layout: [UInt32]

  /// - Returns: nil if GStreamer knows no format of that name.
  ///
  /// `gst_video_format_from_string` is not asked: it reads the string, but is declared `G_GNUC_CONST` (1.22 to 1.28),
  /// by which a compiler may call it after the string was freed.
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
    layout =
      [info.flags.rawValue & model] + listed(info.depth) + listed(info.w_sub) + listed(info.h_sub)
  }

  /// Formats with the same values in another order: this one first, the others by GStreamer's numbers.
  package var equivalents: [PixelFormat] {
    let others = PixelFormat.numbers.compactMap { PixelFormat($0) }
    return [self] + others.filter { $0.layout == layout && $0.name != name }
  }

  /// The formats that this release of GStreamer knows, by their numbers.
  private static let numbers: [GstVideoFormat] = {
    var count: UInt32 = 0
    let all = UnsafeBufferPointer(start: gst_video_formats_raw(&count), count: Int(count))
    return all.sorted { $0.rawValue < $1.rawValue }
  }()
}
