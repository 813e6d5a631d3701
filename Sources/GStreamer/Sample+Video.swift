import CGStreamer
import MediaTime

extension Sample {
  /// True if the top field of an interlaced frame comes first; nil for a progressive frame.
  ///
  /// A field order in the caps overrides the flags of the frames (`gst_video_frame_map`).
  package var isTopFieldFirst: Bool? {
    switch caps?.string("field-order") {
    case "top-field-first": true
    case "bottom-field-first": false
    default: buffer.isTopFieldFirst
    }
  }

  /// Converts the frame to the size, pixel format, colour range and matrix of `caps`, with
  /// `gst_video_convert_sample`. Adds borders if the aspect ratio differs. Returns nil if nothing
  /// has to be converted.
  ///
  /// - Throws: ``GStreamerError`` if the frame cannot be converted.
  package func fitted(to caps: Caps) throws -> Sample? {
    guard let own = self.caps, own.raw != caps.raw, !own.isEqual(caps),
      own.frameForm != caps.frameForm || own.differsInMatrix(from: caps)
    else { return nil }
    var error: UnsafeMutablePointer<GError>?
    // Remove the interlacing from both caps, because `gst_video_convert_sample` cannot convert
    // interlacing.
    let fields = ["interlace-mode", "field-order"]
    let (from, to) = (own.removing(fields), caps.removing(fields))
    guard let sample = gst_sample_new(buffer.raw, from.raw, nil, nil) else { return nil }
    defer { gst_sample_unref(sample) }
    guard let converted = gst_video_convert_sample(sample, to.raw, GstClockTime(10_000_000_000), &error),
      let result = Sample(adopting: converted)
    else { throw GStreamerError(adopting: error, element: nil, debug: nil) }
    let frame = result.buffer.shallowCopy()
    if let pts = buffer.pts { frame.stamp(pts: pts, duration: buffer.duration ?? .zero) }
    return Sample(buffer: frame, caps: caps, segment: segment)
  }

  /// Returns a copy of a raw video frame without its first columns. In 4:2:0, their number is odd
  /// only in monochrome H.264, whose chroma is the same in all columns.
  ///
  /// - Throws: ``GStreamerError`` if memory cannot be allocated or mapped.
  package func withoutFirstColumns(_ columns: Int) throws -> Sample {
    guard let caps, let width = caps.int("width"), columns < width else {
      throw GStreamerError(
        kind: .notMedia, element: nil, message: "A frame can't lose its first \(columns) columns.", debug: nil)
    }
    let cut = caps.setting("width", "(int)\(width - columns)")
    return Sample(
      buffer: try buffer.withoutFirstColumns(columns, from: caps, to: cut), caps: cut, segment: segment)
  }
}

extension Sample {
  /// Adds the plane layout (`GstVideoMeta`) to a raw video frame from a container, if the rows of
  /// the frame have no padding. Demuxers of GStreamer 1.22 omit this meta; without it, GStreamer
  /// assumes that rows are padded to four bytes.
  ///
  /// - Throws: ``GStreamerError`` if the number of bytes fits neither layout.
  package func withPlainLayout() throws -> Sample {
    var info = GstVideoInfo()
    guard let caps, gst_video_info_from_caps(&info, caps.raw) != 0, buffer.size < Int(info.size) else { return self }
    var offsets = [gsize](repeating: 0, count: 4)
    var strides = [gint](repeating: 0, count: 4)
    guard let size = info.unpadded(&offsets, &strides), size == buffer.size else {
      throw GStreamerError(
        kind: .notMedia, element: nil,
        message: "A frame has \(buffer.size) bytes instead of \(info.size).", debug: nil)
    }
    let frame = buffer.shallowCopy()
    gst_buffer_add_video_meta_full(
      frame.raw, GST_VIDEO_FRAME_FLAG_NONE, info.finfo.pointee.format, guint(info.width), guint(info.height),
      info.finfo.pointee.n_planes, &offsets, &strides)
    return Sample(buffer: frame, caps: caps, segment: segment)
  }
}

extension GstVideoInfo {
  /// Computes the offsets and row lengths of the planes, without padding.
  /// - Returns: size of the frame in bytes; nil for formats whose pixels share bytes.
  fileprivate func unpadded(_ offsets: inout [gsize], _ strides: inout [gint]) -> Int? {
    guard let format = finfo?.pointee, format.flags.rawValue & GST_VIDEO_FORMAT_FLAG_COMPLEX.rawValue == 0 else {
      return nil
    }
    var heights = [Int](repeating: 0, count: 4)
    for component in 0..<Int(format.n_components) {
      func value(_ list: (guint, guint, guint, guint)) -> Int {
        Int([list.0, list.1, list.2, list.3][component])
      }
      func scaled(_ length: gint, _ shift: Int) -> Int { (Int(length) + (1 << shift) - 1) >> shift }
      let steps: [gint] = [format.pixel_stride.0, format.pixel_stride.1, format.pixel_stride.2, format.pixel_stride.3]
      let plane = value(format.plane)
      let row = scaled(width, value(format.w_sub)) * Int(steps[component])
      strides[plane] = max(strides[plane], gint(row))
      heights[plane] = max(heights[plane], scaled(height, value(format.h_sub)))
    }
    var size = 0
    for plane in 0..<Int(format.n_planes) {
      offsets[plane] = gsize(size)
      size += Int(strides[plane]) * heights[plane]
    }
    return size
  }
}

extension Caps {
  /// Width, height and format, which must be the same in all frames of a stream.
  fileprivate var frameForm: [String] {
    [int("width").map(String.init) ?? "", int("height").map(String.init) ?? "", string("format") ?? ""]
  }
}
