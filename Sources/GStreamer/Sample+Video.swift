import CGStreamer
import MediaTime

extension Sample {
  /// The frame as `caps` has it, where its size or pixel format is another one: scaled, with borders where the shape is
  /// another too (`gst_video_convert_sample`). Nil where nothing has to be done.
  ///
  /// - Throws: ``GStreamerError``, where it can't be converted.
  package func fitted(to caps: Caps) throws -> Sample? {
    guard let own = self.caps, own.raw != caps.raw, !own.isEqual(caps), own.frameForm != caps.frameForm else {
      return nil
    }
    var error: UnsafeMutablePointer<GError>?
    guard let sample = gst_sample_new(buffer.raw, own.raw, nil, nil) else { return nil }
    defer { gst_sample_unref(sample) }
    guard let converted = gst_video_convert_sample(sample, caps.raw, GstClockTime(10_000_000_000), &error),
      let result = Sample(adopting: converted)
    else { throw GStreamerError(adopting: error, element: nil, debug: nil) }
    let frame = result.buffer.shallowCopy()
    if let pts = buffer.pts { frame.stamp(pts: pts, duration: buffer.duration ?? .zero) }
    return Sample(buffer: frame, caps: caps, segment: segment)
  }
}

extension Caps {
  /// What two frames must share to be shown by one stream.
  fileprivate var frameForm: [String] {
    [int("width").map(String.init) ?? "", int("height").map(String.init) ?? "", string("format") ?? ""]
  }
}
