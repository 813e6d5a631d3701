import CGStreamer

extension Buffer {
  /// True if raw video frames with `caps` can be mixed: each component of a pixel has one byte, or
  /// two bytes in little-endian order.
  package static func canMix(_ caps: Caps) -> Bool {
    var info = GstVideoInfo()
    return gst_video_info_from_caps(&info, caps.raw) != 0 && info.valueBytes != nil
  }

  /// Mixes this frame with `other`; both frames have `caps`. Each component is a weighted mean,
  /// rounded to the nearest integer. GStreamer's mixer (`compositor`) is not used, because it needs
  /// a pipeline and a clock, and so the caller would have to wait for each frame.
  ///
  /// - Parameter share: weight of `other`, 0 to 1, in steps of 1/256.
  /// - Throws: ``GStreamerError`` if memory cannot be allocated or mapped, or frames with these
  ///   caps cannot be mixed (``canMix(_:)``).
  package func mixed(with other: Buffer, share: Double, _ caps: Caps) throws -> Buffer {
    var info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, caps.raw) != 0, let valueBytes = info.valueBytes else {
      throw Buffer.unmappable
    }
    let copy = try inSystemMemory(caps)
    var (a, b) = (GstVideoFrame(), GstVideoFrame())
    guard gst_video_frame_map(&a, &info, copy.raw, GstMapFlags(GST_MAP_READ.rawValue | GST_MAP_WRITE.rawValue)) != 0
    else { throw Buffer.unmappable }
    defer { gst_video_frame_unmap(&a) }
    guard gst_video_frame_map(&b, &info, other.raw, GST_MAP_READ) != 0 else { throw Buffer.unmappable }
    defer { gst_video_frame_unmap(&b) }
    let weight = UInt32((min(max(share, 0), 1) * 256).rounded())
    for (plane, (first, second)) in zip(info.planes, zip(a.planes, b.planes)) {
      guard let first, let second else { throw Buffer.unmappable }
      let bytes = min(plane.rowBytes, first.stride, second.stride)
      for row in 0..<plane.rows {
        let target = UnsafeMutableRawPointer(mutating: first.data + row * first.stride)
        if valueBytes == 1 {
          Buffer.mix(target, second.data + row * second.stride, bytes, weight, UInt8.self)
        } else {
          Buffer.mix(target, second.data + row * second.stride, bytes / 2, weight, UInt16.self)
        }
      }
    }
    return copy
  }

  private static func mix<Value: FixedWidthInteger>(
    _ target: UnsafeMutableRawPointer, _ other: UnsafeRawPointer, _ count: Int, _ weight: UInt32, _: Value.Type
  ) {
    let (to, from) = (
      target.assumingMemoryBound(to: Value.self), other.assumingMemoryBound(to: Value.self)
    )
    for index in 0..<count {
      to[index] = Value(
        truncatingIfNeeded: (UInt32(to[index]) &* (256 &- weight) &+ UInt32(from[index]) &* weight &+ 128) &>> 8)
    }
  }
}

extension GstVideoInfo {
  /// Bytes per component of a pixel; nil if components share bytes, or have two bytes in big-endian
  /// order, and for palettes and complex formats.
  fileprivate var valueBytes: Int? {
    guard let format = finfo?.pointee else { return nil }
    let count = Int(format.n_components)
    func values(_ tuple: some Any) -> [Int] {
      withUnsafeBytes(of: tuple) { $0.bindMemory(to: guint.self).prefix(count).map { Int($0) } }
    }
    let depths = values(format.depth)
    let places = zip(values(format.plane), values(format.poffset)).map { $0 * 16 + $1 }
    let strides = values(format.pixel_stride)
    guard count > 0, Set(places).count == count, strides.allSatisfy({ $0 > 0 }),
      format.flags.rawValue & (GST_VIDEO_FORMAT_FLAG_COMPLEX.rawValue | GST_VIDEO_FORMAT_FLAG_PALETTE.rawValue) == 0
    else { return nil }
    if depths.allSatisfy({ $0 == 8 }) { return 1 }
    let isLittleEndian = format.flags.rawValue & GST_VIDEO_FORMAT_FLAG_LE.rawValue != 0
    return isLittleEndian && depths.allSatisfy { (9...16).contains($0) } && strides.allSatisfy { $0 % 2 == 0 } ? 2 : nil
  }
}
